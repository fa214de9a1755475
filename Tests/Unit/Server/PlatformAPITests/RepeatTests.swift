import Acquiring
import DirectWire
import Gateway
import Ledger
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A repeat under an idempotency key` {
  private static let sale: JSONObject = ["authorizationMode": "SALE"]
  private static let unknown = AcquirerAnswer.unknown(Interruption(.timeout))
  private static let declined = AcquirerAnswer.declined(Decline(reason: .insufficientFunds, code: "51"))

  /// What a call is answered with, whether it is refused or not.
  private struct Reply: Equatable {
    var status: Int
    var body: [UInt8]

    init(_ call: () async throws -> PlatformAnswer) async throws {
      do {
        let answer = try await call()
        (status, body) = (answer.status, answer.body)
      } catch let refusal as PlatformRefusal {
        let parts = ["\(refusal.faults)", "\(refusal.paymentResult as Any)", "\(refusal.refundResult as Any)"]
        (status, body) = (refusal.status, Array(parts.joined().utf8))
      }
    }
  }

  /// Another part captured and refunded, and the rest released.
  private func moveOn(_ id: String, at platform: Platform) async throws {
    let part = Array(#"{"amountOfMoney": {"amount": 5, "currencyCode": "EUR"}}"#.utf8)
    _ = try? await platform.payments.capture(id, Array(#"{"amount": 20}"#.utf8), platform.call())
    _ = try await platform.payments.refund(id, part, platform.call())
    _ = try? await platform.payments.cancel(id, [], platform.call())
    platform.clock.advance(.seconds(60))
  }

  @Test(arguments: [[:], sale])
  func `gets the answer of the first call, also after captures, refunds and cancels`(input: JSONObject) async throws {
    let platform = try await Platform()
    func make() async throws -> Reply {
      try await Reply { try await platform.payments.create(Platform.body(input: input), platform.call("k")) }
    }
    let first = try await make()
    platform.clock.advance(.seconds(5))
    let id = try JSONReader.read(first.body)["payment"]?["id"]?.text ?? ""
    try await moveOn(id, at: platform)
    #expect(try await make() == first)
    #expect(try await platform.payments.show(id, of: Platform.merchant).json["paymentOutput"] != nil)
    #expect(platform.acquirer.authorizations.count == 1)
  }

  @Test(arguments: ["capture", "refund", "cancel"])
  func `gets the first outcome of its operation, with the payment as it was then`(verb: String) async throws {
    let platform = try await Platform()
    let id = try await platform.made()
    _ = try await platform.payments.capture(id, Array(#"{"amount": 500}"#.utf8), platform.call())
    func call() async throws -> Reply {
      let part = Array(#"{"amountOfMoney": {"amount": 100, "currencyCode": "EUR"}}"#.utf8)
      let (payments, key) = (platform.payments, platform.call("k"))
      return try await Reply {
        switch verb {
        case "capture": try await payments.capture(id, Array(#"{"amount": 100}"#.utf8), key)
        case "refund": try await payments.refund(id, part, key)
        default: try await payments.cancel(id, part, key)
        }
      }
    }
    let first = try await call()
    platform.clock.advance(.seconds(5))
    try await moveOn(id, at: platform)
    #expect(try await call() == first)
  }

  /// The provider takes back what it did, or does what it refused: an event, and no answer to the call.
  @Test func `gets the first outcome also where the provider has changed it since`() async throws {
    let platform = try await Platform()
    let id = try await platform.made()
    func capture() async throws -> Reply {
      try await Reply { try await platform.payments.capture(id, Array(#"{"amount": 500}"#.utf8), platform.call("c")) }
    }
    func refund() async throws -> Reply {
      let part = Array(#"{"amountOfMoney": {"amount": 100, "currencyCode": "EUR"}}"#.utf8)
      return try await Reply { try await platform.payments.refund(id, part, platform.call("r")) }
    }
    let captured = try await capture()
    platform.acquirer.refunds(Self.declined)
    let refused = try await refund()
    #expect(captured.status == 201 && refused.status == 402)
    platform.clock.advance(.seconds(5))
    let refusal = Decline(reason: .other, code: "93")
    for (number, event) in [
      (2, ProviderEvent.Outcome.approved(Approval(acquirerReference: "R-1"))), (2, .returned(refusal)),
      (1, .returned(refusal)),
    ].enumerated() {
      let name = try #require(DirectPaymentID(id))
      let operation = try await platform.journal.operations(of: PaymentID(name.payment))[event.0]
      let verdict = try await platform.journal.receive(
        ProviderEvent(
          route: "fake", id: "e\(number)", reference: operation.reference, amount: operation.amount, outcome: event.1))
      guard case .applied = verdict else {
        Issue.record("\(number): \(verdict)")
        continue
      }
      #expect(try await capture() == captured)
      #expect(try await refund() == refused)
    }
  }

  @Test(arguments: [true, false])
  func `of a call whose outcome was unknown gets it as it was resolved, and then always`(isDone: Bool) async throws {
    let platform = try await Platform()
    platform.acquirer.authorizes(Self.unknown)
    func make() async throws -> Reply {
      try await Reply { try await platform.payments.create(Platform.body(), platform.call("k")) }
    }
    let open = try await make()
    #expect(open.status == 201)
    platform.acquirer.finds(.answer(isDone ? .approved(Approval(acquirerReference: "A-1")) : Self.declined))
    platform.clock.advance(.seconds(5))
    let resolved = try await make()
    #expect(resolved != open && resolved.status == (isDone ? 201 : 402))
    let id = try JSONReader.read(open.body)["payment"]?["id"]?.text ?? ""
    if isDone { _ = try await platform.payments.capture(id, [], platform.call()) }
    platform.clock.advance(.seconds(60))
    #expect(try await make() == resolved)
  }

  @Test func `of a sale waits for its capture, gets how it stands, and in the end what it came to`() async throws {
    let platform = try await Platform()
    let body = Platform.body(input: Self.sale)
    func make() async throws -> Reply {
      try await Reply { try await platform.payments.create(body, platform.call("k")) }
    }
    let early = Counter()
    platform.acquirer.captures { _, _ in
      do { _ = try await platform.payments.create(body, platform.call("k")) } catch GatewayError.callInProgress {
        early.next()
      } catch {}
      return .pending(Pending(acquirerReference: "C-1"))
    }
    let open = try await make()
    #expect(early.value == 1)
    #expect(try JSONReader.read(open.body)["payment"]?["status"] == "CAPTURE_REQUESTED")
    #expect(try await make() == open)
    platform.acquirer.finds(.answer(.approved(Approval(acquirerReference: "C-1"))))
    platform.clock.advance(.seconds(5))
    let captured = try await make()
    #expect(try JSONReader.read(captured.body)["payment"]?["status"] == "CAPTURED")
    let id = try JSONReader.read(open.body)["payment"]?["id"]?.text ?? ""
    _ = try await platform.payments.refund(id, [], platform.call())
    #expect(try await make() == captured)
    #expect(platform.acquirer.captures.count == 1)
  }

  @Test(arguments: [true, false])
  func `of a sale whose authorization was open gets in the end what its capture came to, and then always`(
    isCaptured: Bool
  ) async throws {
    let platform = try await Platform()
    platform.acquirer.authorizes(Self.unknown)
    func make() async throws -> Reply {
      try await Reply { try await platform.payments.create(Platform.body(input: Self.sale), platform.call("k")) }
    }
    func status(_ reply: Reply) throws -> JSONValue? { try JSONReader.read(reply.body)["payment"]?["status"] }
    let open = try await make()
    platform.acquirer.finds(.answer(.approved(Approval(acquirerReference: "A-1"))))
    if !isCaptured { platform.acquirer.captures(.notSent("no route to host")) }
    platform.clock.advance(.seconds(5))
    let held = try await make()
    #expect(try status(held) == "PENDING_CAPTURE" && held != open)
    try await platform.recover()
    let first = try await make()
    #expect(try status(first) == (isCaptured ? "CAPTURED" : "PENDING_CAPTURE"))
    platform.acquirer.captures { reference, _ in FakeAcquirer.approval(reference) }
    platform.clock.advance(.seconds(600))
    try await platform.recover()
    let id = try JSONReader.read(open.body)["payment"]?["id"]?.text ?? ""
    #expect(try await platform.payments.show(id, of: Platform.merchant).json["status"] == "CAPTURED")
    _ = try await platform.payments.refund(id, [], platform.call())
    #expect(try await make() == first)
  }

  /// A store that was thinned out, or damaged.
  @Test func `gets how its operation stands where the audit chain lacks how it stood`() async throws {
    let platform = try await Platform()
    let id = try await platform.made()
    func capture() async throws -> Reply {
      try await Reply { try await platform.payments.capture(id, Array(#"{"amount": 500}"#.utf8), platform.call("c")) }
    }
    let first = try await capture()
    platform.clock.advance(.seconds(5))
    try await platform.journal.database.write { try $0.run("UPDATE audit SET status_after = 'later'") }
    #expect(try await capture() == first)
    try await platform.journal.database.write { try $0.run("DELETE FROM audit") }
    #expect(try await capture() == first)
  }

  /// The provider's event overtakes its answer, and the merchant captures before the call is answered.
  @Test func `gets what the first call got where an event had brought the answer before`() async throws {
    let platform = try await Platform()
    platform.acquirer.authorizes { reference, amount in
      let event = ProviderEvent(
        route: "fake", id: "e1", reference: reference, amount: amount,
        outcome: .approved(Approval(acquirerReference: "A-1")))
      guard case .applied(let payment)? = try? await platform.journal.receive(event) else { return Self.unknown }
      platform.clock.advance(.seconds(1))
      _ = try? await platform.payments.capture(payment.id.rawValue, [], platform.call())
      return FakeAcquirer.approval(reference)
    }
    func make() async throws -> Reply {
      try await Reply { try await platform.payments.create(Platform.body(), platform.call("k")) }
    }
    let first = try await make()
    #expect(try JSONReader.read(first.body)["payment"]?["status"] == "PENDING_CAPTURE")
    #expect(platform.acquirer.captures.count == 1)
    #expect(try await make() == first)
  }

  @Test func `of a sale whose capture was refused gets that, whatever recovery captures later`() async throws {
    let platform = try await Platform()
    platform.acquirer.captures(.notSent("no route to host"))
    func make() async throws -> Reply {
      try await Reply {
        try await platform.payments.create(Platform.body(input: Self.sale), platform.call("k"))
      }
    }
    let first = try await make()
    #expect(try JSONReader.read(first.body)["payment"]?["status"] == "PENDING_CAPTURE")
    let id = try JSONReader.read(first.body)["payment"]?["id"]?.text ?? ""
    platform.acquirer.captures { reference, _ in FakeAcquirer.approval(reference) }
    platform.clock.advance(.seconds(600))
    try await platform.recover()
    #expect(try await platform.payments.show(id, of: Platform.merchant).json["status"] == "CAPTURED")
    #expect(try await make() == first)
  }

  /// On PostgreSQL each statement that is waited for is a trip.
  @Test(.enabled(if: StoreEngineUnderTest.chosen == .postgres))
  func `spares the first call every read: it is answered from what it has`() async throws {
    let platform = try await Platform()
    _ = try await platform.made()
    func trips() throws -> Int { try #require(platform.journal.database.pool).trips }
    let before = try trips()
    _ = try await platform.made()
    #expect(try trips() - before == 8)
  }
}
