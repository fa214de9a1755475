import StrictJSON
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import Testing

@Suite struct `Cancelling` {
  @Test func `an open sheet dismisses it without a call`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    #expect(try await fixture.reports(1).map(\.name) == ["presented"])
    #expect(await fixture.service.cancel() == .cancelled)
    #expect(try await fixture.reports(3).map(\.name) == ["presented", "cancelled", "finished cancelled"])
    #expect(fixture.sheet.dismissed == 1)
    #expect(await conversation.isIdle)
    #expect(fixture.server.calls.isEmpty)
  }

  @Test func `before a sheet is presented is too late`() async throws {
    let fixture = await CheckoutFixture()
    #expect(await fixture.service.cancel() == .tooLate)
    await fixture.service.prepare(try Sample.sheet())
    #expect(await fixture.service.cancel() == .tooLate)
    #expect(fixture.sheet.presented == 0)
    // The basket can still be paid.
    await fixture.service.present()
    #expect(try await fixture.reports(1).map(\.name) == ["presented"])
  }

  @Test func `a sheet that is still opening dismisses it as soon as it is shown`() async throws {
    let fixture = await CheckoutFixture(isHeld: true)
    _ = try await fixture.opens()
    #expect(await fixture.service.cancel() == .cancelled)
    #expect(fixture.sheet.dismissed == 0)
    fixture.sheet.decide(true)
    #expect(try await fixture.reports(2).map(\.name) == ["cancelled", "finished cancelled"])
    #expect(fixture.sheet.dismissed == 1)
  }

  @Test func `a sheet that the device then refuses ends it too`() async throws {
    let fixture = await CheckoutFixture(isHeld: true)
    _ = try await fixture.opens()
    #expect(await fixture.service.cancel() == .cancelled)
    fixture.sheet.decide(false)
    #expect(try await fixture.reports(2).map(\.name) == ["cancelled", "finished cancelled"])
  }

  @Test func `while a merchant session is requested ends the wait`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let session = Task { await conversation.merchantSession() }
    try await fixture.waits(for: "merchant-session")
    #expect(await fixture.service.cancel() == .cancelled)
    #expect(await session.value == nil)
    #expect(try await fixture.reports(3).map(\.name) == ["presented", "cancelled", "finished cancelled"])
  }

  @Test func `while a lost payment pauses between two calls is decided by the server`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    try await fixture.afterEvent(of: conversation) { try await fixture.server.lose("pay") }
    async let cancellation = fixture.service.cancel()
    try await fixture.server.answer("cancel", 204)
    #expect(await cancellation == .cancelled)
    #expect(await answer.value == nil)
    #expect(await conversation.isIdle)
  }

  @Test func `twice asks the server once and returns the same answer`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    async let first = fixture.service.cancel()
    async let second = fixture.service.cancel()
    try await fixture.server.answer("cancel", 204)
    #expect(await [first, second] == [.cancelled, .cancelled])
    #expect(await answer.value == nil)
    #expect(await fixture.service.cancel() == .cancelled)
    #expect(fixture.server.calls.count { $0.kind == "cancel" } == 1)
  }

  @Test func `without an answer of the server depends on how the payment ended`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    async let cancellation = fixture.service.cancel()
    try await fixture.waits(for: "cancel")
    try await fixture.afterEvent(of: conversation) { try await fixture.server.lose("cancel") }
    try await fixture.server.answer("pay", 200, Wire.payment())
    #expect(await cancellation == .tooLate)
    #expect(await answer.value == nil)
    #expect(try await fixture.reports(3).map(\.name) == ["presented", "completed", "finished success"])
  }

  @Test func `while a price is requested ends the wait`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let change = fixture.changes(conversation, .couponCode("LUNCH10"))
    try await fixture.waits(for: "update")
    #expect(await fixture.service.cancel() == .cancelled)
    #expect(await change.value == nil)
  }

  @Test func `while paying is decided by the server: in time`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    let handler = try #require(await fixture.service.payment)
    async let cancellation = handler.attemptCancellation()
    try await fixture.server.answer("cancel", 204)
    #expect(await cancellation == .cancelled)
    #expect(await answer.value == nil)
    #expect(await handler.result == .cancelled)
    // The held payment's answer comes too late to matter.
    try await fixture.server.refuse("pay", 409, "basket_cancelled")
    #expect(try await fixture.reports(3).map(\.name).contains("finished cancelled"))
    #expect(fixture.sheet.dismissed == 1)
  }

  @Test func `while paying is decided by the server: too late`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    let handler = try #require(await fixture.service.payment)
    #expect(handler.contact.givenName == "Ada")
    async let cancellation = handler.attemptCancellation()
    try await fixture.server.refuse("cancel", 409, "basket_placed")
    #expect(await cancellation == .tooLate)
    try await fixture.server.answer("pay", 200, Wire.payment())
    guard case .success = await handler.result else {
      Issue.record("the order is lost")
      return
    }
    #expect(await answer.value == nil)
  }

  @Test func `when the shopper closes the sheet while it pays asks the server as well`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    await conversation.close()
    try await fixture.server.answer("cancel", 204)
    #expect(await answer.value == nil)
    #expect(try await fixture.reports(3).map(\.name) == ["presented", "cancelled", "finished cancelled"])
  }

  @Test func `after the end changes nothing`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.server.answer("pay", 200, Wire.payment())
    _ = await answer.value
    #expect(await fixture.service.cancel() == .tooLate)
    #expect(await conversation.isIdle)
    #expect(fixture.server.calls.allSatisfy { $0.kind != "cancel" })
  }

  @Test func `while the outcome is not known is too late`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    await fixture.time.pass(.seconds(30), in: conversation)
    #expect(await answer.value?.completion == .failure([]))
    #expect(await fixture.service.cancel() == .tooLate)
    await conversation.close()
    #expect(try await fixture.reports(3).map(\.name) == ["presented", "unknown", "finished unknown"])
  }
}

@Suite struct `Time and the network` {
  @Test(arguments: [
    SheetChange.couponCode("A"), .shippingMethod("bike"), .paymentMethod(.credit),
    .shippingContact(RedactedContact(postalCode: "EC1A", countryCode: "GB")),
  ])
  func `a missing price is waited for no longer than the sheet waits`(_ change: SheetChange) async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.changes(conversation, change)
    try await fixture.waits(for: "update")
    let start = fixture.time.now
    while await conversation.nextMoment != nil, fixture.time.now.since(start) < .seconds(60) {
      await fixture.time.pass(.seconds(1), in: conversation)
    }
    #expect(fixture.time.now.since(start) <= .seconds(30))
    #expect(await answer.value == nil)
    #expect(try await fixture.reports(3).map(\.name).contains("failed connection_lost"))
    #expect(fixture.sheet.dismissed == 1)
  }

  @Test func `a missing merchant session closes the sheet`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = Task { await conversation.merchantSession() }
    try await fixture.waits(for: "merchant-session")
    await fixture.time.pass(.seconds(29), in: conversation)
    #expect(await answer.value == nil)
    #expect(try await fixture.reports(3).last?.name == "finished failure")
    #expect(fixture.sheet.dismissed == 1)
  }

  @Test func `a payment is answered within thirty seconds in every case`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    await fixture.time.pass(.seconds(28), in: conversation)
    #expect(await answer.value?.completion == .failure([]))
    await conversation.close()
    #expect(try await fixture.reports(3).map(\.name) == ["presented", "unknown", "finished unknown"])
    #expect(fixture.server.calls.count { $0.kind == "pay" } == 1)
  }

  @Test func `an unknown outcome is asked for and reported when it is known`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    await fixture.time.pass(.seconds(28), in: conversation)
    _ = await answer.value
    await conversation.close()
    await fixture.time.pass(.seconds(4), in: conversation)
    try await fixture.server.answer("outcome", 200, Wire.payment())
    #expect(try await fixture.reports(4).last?.name == "completed")
    #expect(fixture.server.calls.count { $0.kind == "pay" } == 1)
  }

  @Test func `lost before sending: asked for, not found, sent again`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    try await fixture.afterEvent(of: conversation) { try await fixture.server.lose("pay", .notSent("no network")) }
    await fixture.time.pass(.milliseconds(500), in: conversation)
    try await fixture.afterEvent(of: conversation) {
      try await fixture.server.refuse("outcome", 404, "payment_not_found")
    }
    await fixture.time.pass(.seconds(1), in: conversation)
    try await fixture.server.answer("pay", 200, Wire.payment())
    #expect(await answer.value?.completion == .success)
    #expect(fixture.server.calls.map(\.kind) == ["pay", "outcome", "pay"])
  }

  @Test func `lost during sending: asked for, in progress, and asked for again`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    try await fixture.afterEvent(of: conversation) { try await fixture.server.lose("pay") }
    await fixture.time.pass(.milliseconds(500), in: conversation)
    try await fixture.afterEvent(of: conversation) {
      try await fixture.server.refuse("outcome", 409, "payment_in_progress")
    }
    await fixture.time.pass(.seconds(1), in: conversation)
    try await fixture.server.answer("outcome", 200, Wire.payment())
    #expect(await answer.value?.completion == .success)
    #expect(fixture.server.calls.map(\.kind) == ["pay", "outcome", "outcome"])
  }

  @Test func `lost after sending: asked for, and not sent again`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    try await fixture.afterEvent(of: conversation) { try await fixture.server.lose("pay") }
    await fixture.time.pass(.milliseconds(500), in: conversation)
    try await fixture.server.answer("outcome", 200, Wire.payment())
    #expect(await answer.value?.completion == .success)
    #expect(fixture.server.calls.map(\.kind) == ["pay", "outcome"])
  }

  @Test func `a proxy's page in place of an answer is not a refusal of the payment`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    try await fixture.afterEvent(of: conversation) {
      try await fixture.server.answer("pay", 502, ["html": "Bad Gateway"])
    }
    await fixture.time.pass(.milliseconds(500), in: conversation)
    try await fixture.server.answer("outcome", 200, Wire.payment("authorized"))
    #expect(await answer.value?.completion == .success)
  }

  @Test func `the system clock advances and wakes sleeping tasks`() async {
    let clock = SheetClock.system
    let start = clock.now()
    await clock.sleep(start.adding(.milliseconds(20)))
    #expect(clock.now().since(start) >= .milliseconds(20))
    await clock.sleep(start)
  }
}
