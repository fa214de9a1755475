import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

/// A capture, void or refund that no event and no inquiry ends.
@Suite struct `An operator ends` {
  /// It answers later and cannot be asked.
  private static let silent = AcquirerCapabilities(
    name: "fake", instruments: [.network], idempotency: .none, inquiry: false, reversal: true,
    settleHorizon: .seconds(120))

  /// What was begun and is open: 12.50 are authorized, and for a refund captured.
  private struct Waiting {
    let shop: Shop
    let payment: PaymentID
    let operation: AttemptReference

    init(
      _ kind: OperationKind, _ answer: AcquirerAnswer = .pending(Pending(acquirerReference: "P1")),
      _ capabilities: AcquirerCapabilities = silent
    ) async throws {
      shop = try await Shop(capabilities: capabilities)
      payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
      if kind == .refund { _ = try await shop.gateway.capture(payment) }
      shop.fake.captures(answer)
      shop.fake.voids(answer)
      shop.fake.refunds(answer)
      let begun =
        switch kind {
        case .void: try await shop.gateway.void(payment)
        case .refund: try await shop.gateway.refund(payment)
        default: try await shop.gateway.capture(payment)
        }
      operation = begun.operation.reference
    }

    func ends(as resolution: Resolution, after wait: Duration = .seconds(86_401)) async throws -> Payment {
      shop.clock.advance(wait)
      return try await shop.gateway.end(operation, of: payment, as: resolution, note: "seen in\nthe dashboard")
    }

    func event(_ outcome: ProviderEvent.Outcome, id: String = "e1") async throws -> InboxVerdict {
      try await shop.gateway.receive(
        ProviderEvent(route: "fake", id: id, reference: operation, amount: .eur(1250), outcome: outcome))
    }

    func state() async throws -> OperationState? {
      try await shop.journal.operations(of: payment).first { $0.reference == operation }?.state
    }

    func alarms() async throws -> [String] { try await shop.journal.alarms().map(\.reason) }
  }

  private static let approval = ProviderEvent.Outcome.approved(Approval(acquirerReference: "P1"))
  private static let refusal = ProviderEvent.Outcome.declined(Decline(reason: .other, code: "no"))

  @Test(arguments: [
    (OperationKind.capture, Resolution.approved, PaymentStatus.captured), (.capture, .failed, .authorized),
    (.void, .approved, .voided), (.void, .failed, .authorized), (.refund, .approved, .refunded),
    (.refund, .failed, .captured),
  ])
  func `an operation whose event never comes, with a note in the audit chain`(
    kind: OperationKind, resolution: Resolution, status: PaymentStatus
  ) async throws {
    let waiting = try await Waiting(kind)
    waiting.shop.clock.advance(.seconds(86_400))
    _ = try await waiting.shop.gateway.recover()
    #expect(try await waiting.alarms() == ["\(kind.rawValue)_unknown"])
    #expect(try await waiting.ends(as: resolution, after: .seconds(60)).status == status)
    #expect(try await waiting.alarms().isEmpty)
    #expect(try await waiting.shop.gateway.recover().isEmpty)
    let said = try await waiting.shop.journal.database.read { store in
      try store.rows("SELECT event FROM audit ORDER BY seq").map { try $0.text("event") }
    }
    #expect(said.contains("resolved \(resolution.rawValue): seen in the dashboard"))
    #expect(try await waiting.shop.journal.verifyAudit().isIntact)
    #expect(try await waiting.shop.journal.openOutcomes().operations == 0)
  }

  @Test func `nothing before the acquirer's horizon has passed`() async throws {
    let waiting = try await Waiting(.capture)
    await #expect(throws: GatewayError.answerMayCome(waiting.operation)) {
      try await waiting.ends(as: .approved, after: .seconds(119))
    }
    #expect(try await waiting.state() == .pending)
    #expect(try await waiting.ends(as: .approved, after: .seconds(1)).captured == 1250)
  }

  @Test func `nothing while recovery repeats the operation, unless the acquirer has accepted it`() async throws {
    let keyed = AcquirerCapabilities(
      name: "fake", instruments: [.network], idempotency: .reference(window: .seconds(86_400 * 7)), inquiry: false,
      reversal: true, settleHorizon: .seconds(120))
    let lost = try await Waiting(.capture, .unknown(Interruption(.timeout)), keyed)
    await #expect(throws: GatewayError.answerMayCome(lost.operation)) { try await lost.ends(as: .failed) }
    #expect(try await lost.ends(as: .failed, after: .seconds(86_400 * 7)).status == .authorized)
    let accepted = try await Waiting(.capture, .pending(Pending(acquirerReference: "P1")), keyed)
    #expect(try await accepted.ends(as: .failed).status == .authorized)
    #expect(accepted.shop.fake.captures.count == 2)
  }

  @Test func `nothing that the acquirer answers when it is asked once more`() async throws {
    let waiting = try await Waiting(.refund, .unknown(Interruption(.timeout)), FakeAcquirer.plain)
    waiting.shop.fake.finds(.answer(.approved(Approval(acquirerReference: "R1"))))
    await #expect(throws: GatewayError.operationRefused(.alreadyAnswered(.approved))) {
      try await waiting.ends(as: .failed)
    }
    #expect(try await waiting.shop.gateway.payment(waiting.payment)?.refunded == 1250)
  }

  @Test func `an operation about which the acquirer cannot be asked now`() async throws {
    let waiting = try await Waiting(.refund, .unknown(Interruption(.timeout)), FakeAcquirer.plain)
    waiting.shop.fake.finds(.unavailable(Interruption(.serverError)))
    #expect(try await waiting.ends(as: .failed).refunded == 0)
    #expect(waiting.shop.fake.inquiries.count == 1)
  }

  @Test func `no authorization, no other payment's operation, and none that a process works on`() async throws {
    let waiting = try await Waiting(.capture)
    let (shop, payment) = (waiting.shop, waiting.payment)
    let authorization = try #require(try await shop.journal.operations(of: payment).first).reference
    for (operation, owner) in [(authorization, payment), (waiting.operation, PaymentID("another"))] {
      await #expect(throws: GatewayError.operationRefused(.noSuchOperation(operation))) {
        try await shop.gateway.end(operation, of: owner, as: .failed, note: "n")
      }
    }
    shop.clock.advance(.seconds(86_400))
    let held = try #require(try await shop.journal.leaseOpenOperation(of: payment))
    await #expect(throws: GatewayError.operationRefused(.conflict)) {
      try await shop.gateway.end(waiting.operation, of: payment, as: .failed, note: "n")
    }
    try await shop.journal.release(held)
    let elsewhere = shop.gateway(asking: FakeAcquirer(FakeAcquirer.plain.named("other")))
    await #expect(throws: GatewayError.acquirerNotConfigured("fake")) {
      try await elsewhere.end(waiting.operation, of: payment, as: .failed, note: "n")
    }
    #expect(try await waiting.ends(as: .failed).status == .authorized)
  }

  @Test(arguments: [
    (OperationKind.capture, Resolution.failed, PaymentStatus.captured), (.capture, .approved, .authorized),
    (.void, .failed, .voided), (.void, .approved, .authorized), (.refund, .failed, .refunded),
    (.refund, .approved, .captured),
  ])
  func `what an event contradicts later, which is booked as what it is, once, with an alarm`(
    kind: OperationKind, resolution: Resolution, status: PaymentStatus
  ) async throws {
    let waiting = try await Waiting(kind)
    _ = try await waiting.ends(as: resolution)
    let truth = resolution == .failed ? Self.approval : Self.refusal
    #expect(try await waiting.event(truth).name == "applied")
    #expect(try await waiting.event(truth, id: "e2") == .known)
    let payment = try #require(try await waiting.shop.gateway.payment(waiting.payment))
    #expect(payment.status == status)
    #expect(try await waiting.alarms() == ["resolved_otherwise"])
    #expect(try await waiting.shop.journal.verifyAudit().isIntact)
  }

  @Test func `what an event confirms later, and the acquirer's name of it is kept`() async throws {
    let waiting = try await Waiting(.capture, .unknown(Interruption(.timeout)))
    _ = try await waiting.ends(as: .approved)
    #expect(try await waiting.event(Self.approval) == .known)
    #expect(try await waiting.alarms().isEmpty)
    waiting.shop.fake.refunds { reference, _ in FakeAcquirer.approval(reference) }
    _ = try await waiting.shop.gateway.refund(waiting.payment)
    #expect(waiting.shop.fake.refunds.map(\.capture) == ["P1"])
  }

  @Test func `a void that was not done, of an order that was paid again: an alarm, and two payments never live`()
    async throws
  {
    let waiting = try await Waiting(.void)
    _ = try await waiting.ends(as: .approved)
    let again = try waiting.shop.token(card: "mastercard-credit")
    #expect(try await waiting.shop.gateway.authorize(Shop.order(), with: again).status == .authorized)
    #expect(try await waiting.event(Self.refusal) == .contradicted("resolved_otherwise"))
    #expect(try await waiting.shop.gateway.payment(waiting.payment)?.status == .voided)
    #expect(try await waiting.alarms() == ["resolved_otherwise"])
  }

  @Test func `a capture as not done that recovery then does again for its order`() async throws {
    let shop = try await Shop(capabilities: Self.silent)
    shop.fake.captures(.pending(Pending(acquirerReference: "P1")))
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    let capture = try #require(try await shop.journal.operations(of: payment.id).last).reference
    shop.clock.advance(.seconds(300))
    _ = try await shop.gateway.end(capture, of: payment.id, as: .failed, note: "it is not there")
    shop.fake.captures { reference, _ in FakeAcquirer.approval(reference) }
    shop.clock.advance(.seconds(3_600))
    #expect(try await shop.gateway.recover().captures == 1)
    #expect(try await shop.gateway.payment(payment.id)?.captured == 1250)
    // Now the acquirer reports the first one too: there is no money left that it could have taken.
    let late = ProviderEvent(
      route: "fake", id: "e1", reference: capture, amount: .eur(1250), outcome: Self.approval)
    #expect(try await shop.gateway.receive(late) == .contradicted("capture_approved_late"))
    #expect(try await shop.gateway.payment(payment.id)?.captured == 1250)
  }
}

extension AcquirerCapabilities {
  fileprivate func named(_ name: String) -> AcquirerCapabilities {
    AcquirerCapabilities(
      name: name, instruments: instruments, idempotency: idempotency, inquiry: inquiry, reversal: reversal,
      settleHorizon: settleHorizon)
  }
}
