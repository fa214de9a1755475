import StrictJSON
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import Testing

@Suite struct `Cancelling` {
  @Test func `an open sheet takes it away, and nothing is asked`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    #expect(try await till.reports(1).map(\.name) == ["presented"])
    #expect(await till.service.cancel() == .cancelled)
    #expect(try await till.reports(3).map(\.name) == ["presented", "cancelled", "finished cancelled"])
    #expect(till.sheet.dismissed == 1)
    #expect(await conversation.isIdle)
    #expect(till.server.calls.isEmpty)
  }

  @Test func `before anything was presented finds nothing to end`() async throws {
    let till = await Till()
    #expect(await till.service.cancel() == .tooLate)
    await till.service.prepare(try Sample.sheet())
    #expect(await till.service.cancel() == .tooLate)
    #expect(till.sheet.presented == 0)
    // The basket can still be paid.
    await till.service.present()
    #expect(try await till.reports(1).map(\.name) == ["presented"])
  }

  @Test func `a sheet that is still opening takes it away as soon as it is there`() async throws {
    let till = await Till(isHeld: true)
    _ = try await till.opens()
    #expect(await till.service.cancel() == .cancelled)
    #expect(till.sheet.dismissed == 0)
    till.sheet.decide(true)
    #expect(try await till.reports(2).map(\.name) == ["cancelled", "finished cancelled"])
    #expect(till.sheet.dismissed == 1)
  }

  @Test func `a sheet that the device then refuses ends it too`() async throws {
    let till = await Till(isHeld: true)
    _ = try await till.opens()
    #expect(await till.service.cancel() == .cancelled)
    till.sheet.decide(false)
    #expect(try await till.reports(2).map(\.name) == ["cancelled", "finished cancelled"])
  }

  @Test func `while a merchant session is asked for ends the wait`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let session = Task { await conversation.merchantSession() }
    try await till.waits(for: "merchant-session")
    #expect(await till.service.cancel() == .cancelled)
    #expect(await session.value == nil)
    #expect(try await till.reports(3).map(\.name) == ["presented", "cancelled", "finished cancelled"])
  }

  @Test func `while a lost payment rests between two calls is the server's to say`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    try await till.tells(conversation) { try await till.server.lose("pay") }
    async let cancellation = till.service.cancel()
    try await till.server.answer("cancel", 204)
    #expect(await cancellation == .cancelled)
    #expect(await answer.value == nil)
    #expect(await conversation.isIdle)
  }

  @Test func `twice asks the server once, and both hear the same`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    async let first = till.service.cancel()
    async let second = till.service.cancel()
    try await till.server.answer("cancel", 204)
    #expect(await [first, second] == [.cancelled, .cancelled])
    #expect(await answer.value == nil)
    #expect(await till.service.cancel() == .cancelled)
    #expect(till.server.calls.count { $0.kind == "cancel" } == 1)
  }

  @Test func `without an answer of the server's goes by how the payment ended`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    async let cancellation = till.service.cancel()
    try await till.waits(for: "cancel")
    try await till.tells(conversation) { try await till.server.lose("cancel") }
    try await till.server.answer("pay", 200, Wire.payment())
    #expect(await cancellation == .tooLate)
    #expect(await answer.value == nil)
    #expect(try await till.reports(3).map(\.name) == ["presented", "completed", "finished success"])
  }

  @Test func `while a price is asked for ends the wait`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let change = till.changes(conversation, .couponCode("LUNCH10"))
    try await till.waits(for: "update")
    #expect(await till.service.cancel() == .cancelled)
    #expect(await change.value == nil)
  }

  @Test func `while paying is the server's to say: in time`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    let handler = try #require(await till.service.payment)
    async let cancellation = handler.attemptCancellation()
    try await till.server.answer("cancel", 204)
    #expect(await cancellation == .cancelled)
    #expect(await answer.value == nil)
    #expect(await handler.result == .cancelled)
    // The held payment's answer comes too late to matter.
    try await till.server.refuse("pay", 409, "basket_cancelled")
    #expect(try await till.reports(3).map(\.name).contains("finished cancelled"))
    #expect(till.sheet.dismissed == 1)
  }

  @Test func `while paying is the server's to say: too late`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    let handler = try #require(await till.service.payment)
    #expect(handler.contact.givenName == "Ada")
    async let cancellation = handler.attemptCancellation()
    try await till.server.refuse("cancel", 409, "basket_placed")
    #expect(await cancellation == .tooLate)
    try await till.server.answer("pay", 200, Wire.payment())
    guard case .success = await handler.result else {
      Issue.record("the order is lost")
      return
    }
    #expect(await answer.value == nil)
  }

  @Test func `when the shopper closes the sheet while it pays asks the server as well`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    await conversation.closed()
    try await till.server.answer("cancel", 204)
    #expect(await answer.value == nil)
    #expect(try await till.reports(3).map(\.name) == ["presented", "cancelled", "finished cancelled"])
  }

  @Test func `after the end changes nothing`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.server.answer("pay", 200, Wire.payment())
    _ = await answer.value
    #expect(await till.service.cancel() == .tooLate)
    #expect(await conversation.isIdle)
    #expect(till.server.calls.allSatisfy { $0.kind != "cancel" })
  }

  @Test func `while the outcome is not known is too late`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    await till.time.pass(.seconds(30), in: conversation)
    #expect(await answer.value?.completion == .failure([]))
    #expect(await till.service.cancel() == .tooLate)
    await conversation.closed()
    #expect(try await till.reports(3).map(\.name) == ["presented", "unknown", "finished unknown"])
  }
}

@Suite struct `Time and the network` {
  @Test(arguments: [
    SheetChange.couponCode("A"), .shippingMethod("bike"), .paymentMethod(.credit),
    .shippingContact(RedactedContact(postalCode: "EC1A", countryCode: "GB")),
  ])
  func `a price that does not come is not waited for longer than the sheet waits`(_ change: SheetChange) async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.changes(conversation, change)
    try await till.waits(for: "update")
    let start = till.time.now
    while await conversation.nextMoment != nil, till.time.now.since(start) < .seconds(60) {
      await till.time.pass(.seconds(1), in: conversation)
    }
    #expect(till.time.now.since(start) <= .seconds(30))
    #expect(await answer.value == nil)
    #expect(try await till.reports(3).map(\.name).contains("failed connection_lost"))
    #expect(till.sheet.dismissed == 1)
  }

  @Test func `a merchant session that does not come closes the sheet`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = Task { await conversation.merchantSession() }
    try await till.waits(for: "merchant-session")
    await till.time.pass(.seconds(29), in: conversation)
    #expect(await answer.value == nil)
    #expect(try await till.reports(3).last?.name == "finished failure")
    #expect(till.sheet.dismissed == 1)
  }

  @Test func `a payment has its answer within thirty seconds, whatever the server does`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    await till.time.pass(.seconds(28), in: conversation)
    #expect(await answer.value?.completion == .failure([]))
    await conversation.closed()
    #expect(try await till.reports(3).map(\.name) == ["presented", "unknown", "finished unknown"])
    #expect(till.server.calls.count { $0.kind == "pay" } == 1)
  }

  @Test func `what is unknown is asked for, and told when it is known`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    await till.time.pass(.seconds(28), in: conversation)
    _ = await answer.value
    await conversation.closed()
    await till.time.pass(.seconds(4), in: conversation)
    try await till.server.answer("outcome", 200, Wire.payment())
    #expect(try await till.reports(4).last?.name == "completed")
    #expect(till.server.calls.count { $0.kind == "pay" } == 1)
  }

  @Test func `lost before sending: asked for, not found, sent again`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    try await till.tells(conversation) { try await till.server.lose("pay", .notSent("no network")) }
    await till.time.pass(.milliseconds(500), in: conversation)
    try await till.tells(conversation) { try await till.server.refuse("outcome", 404, "payment_not_found") }
    await till.time.pass(.seconds(1), in: conversation)
    try await till.server.answer("pay", 200, Wire.payment())
    #expect(await answer.value?.completion == .success)
    #expect(till.server.calls.map(\.kind) == ["pay", "outcome", "pay"])
  }

  @Test func `lost during sending: asked for, under way, and asked for again`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    try await till.tells(conversation) { try await till.server.lose("pay") }
    await till.time.pass(.milliseconds(500), in: conversation)
    try await till.tells(conversation) { try await till.server.refuse("outcome", 409, "payment_in_progress") }
    await till.time.pass(.seconds(1), in: conversation)
    try await till.server.answer("outcome", 200, Wire.payment())
    #expect(await answer.value?.completion == .success)
    #expect(till.server.calls.map(\.kind) == ["pay", "outcome", "outcome"])
  }

  @Test func `lost after sending: asked for, and not sent again`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    try await till.tells(conversation) { try await till.server.lose("pay") }
    await till.time.pass(.milliseconds(500), in: conversation)
    try await till.server.answer("outcome", 200, Wire.payment())
    #expect(await answer.value?.completion == .success)
    #expect(till.server.calls.map(\.kind) == ["pay", "outcome"])
  }

  @Test func `a proxy's page instead of an answer is no refusal of the payment`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.waits(for: "pay")
    try await till.tells(conversation) { try await till.server.answer("pay", 502, ["html": "Bad Gateway"]) }
    await till.time.pass(.milliseconds(500), in: conversation)
    try await till.server.answer("outcome", 200, Wire.payment("authorized"))
    #expect(await answer.value?.completion == .success)
  }

  @Test func `the system's clock goes forward and wakes who sleeps`() async {
    let clock = SheetClock.system
    let start = clock.now()
    await clock.sleep(start.adding(.milliseconds(20)))
    #expect(clock.now().since(start) >= .milliseconds(20))
    await clock.sleep(start)
  }
}
