import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Recovery` {
  private func unknown(_ shop: Shop, capture: CaptureMode = .manual) async throws -> Payment {
    shop.fake.authorizes(.unknown(Interruption(.timeout)))
    let order = Shop.order(capture: capture)
    return try await shop.gateway.authorize(order, with: shop.token(for: order))
  }

  private func reference(_ shop: Shop) throws -> AttemptReference {
    try #require(shop.fake.authorizations.first).reference
  }

  @Test func `adopts what the acquirer held, and takes what was to be taken at once`() async throws {
    let shop = try await Shop()
    let payment = try await unknown(shop, capture: .immediate)
    shop.fake.finds(.answer(FakeAcquirer.approval(try reference(shop))))
    shop.clock.advance(.seconds(1))
    let report = try await shop.gateway.recover()
    #expect((report.resolved, report.captures) == (1, 1))
    #expect(try await shop.gateway.payment(payment.id)?.status == .captured)
    #expect(try await shop.journal.payment(payment.id)?.reportedOutcome == .pending)
    #expect(shop.fake.authorizations.count == 1)
    #expect(try await shop.gateway.recover().isEmpty)
  }

  @Test func `finds an attempt whose process died, and only after its lease`() async throws {
    let shop = try await Shop(crashes: dying(at: .authorizeClaimed))
    await #expect(throws: Died.self) { try await shop.gateway.authorize(Shop.order(), with: shop.token()) }
    #expect(try await shop.gateway.recover().isEmpty)
    shop.clock.advance(.seconds(60))
    // Within the settle horizon the request may still arrive.
    _ = try? await shop.gateway.recover()
    #expect(try await shop.gateway.payment(for: OrderID("order-1"))?.status == .authorizing)
    #expect(shop.fake.reversals.isEmpty)
  }

  @Test func `fails what never arrived, after the settle horizon and one reversal`() async throws {
    let shop = try await Shop()
    let payment = try await unknown(shop)
    shop.clock.advance(.seconds(5))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .unknown)
    #expect(shop.fake.reversals.isEmpty)
    shop.clock.advance(.seconds(60))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .failed)
    #expect(shop.fake.reversals.map(\.reference) == [try reference(shop)])
    // The order is free for another card.
    shop.fake.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    #expect(try await shop.gateway.authorize(Shop.order(), with: shop.token()).status == .authorized)
  }

  @Test func `never fails anything by its age alone, and raises an alarm after a day`() async throws {
    let shop = try await Shop()
    let payment = try await unknown(shop)
    shop.fake.finds(.unavailable(Interruption(.timeout)))
    for _ in 0..<30 {
      shop.clock.advance(.seconds(86_400))
      _ = try await shop.gateway.recover()
    }
    #expect(try await shop.gateway.payment(payment.id)?.status == .unknown)
    #expect(try await shop.journal.alarms().map(\.reason) == ["authorize_unknown"])
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test func `asks about what is pending by its name where nothing else finds it, and not about what has none`()
    async throws
  {
    var capabilities = AcquirerCapabilities(
      name: "fake", instruments: [.network], idempotency: .none, inquiry: false, reversal: false,
      settleHorizon: .seconds(10))
    capabilities.inquiryByName = true
    let shop = try await Shop(capabilities: capabilities)
    let nameless = try await unknown(shop)
    shop.fake.finds(.answer(.approved(Approval(acquirerReference: "P1"))))
    shop.clock.advance(.seconds(60))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(nameless.id)?.status == .unknown)
    #expect(shop.fake.inquiries.isEmpty)
    shop.fake.authorizes(.pending(Pending(acquirerReference: "P1")))
    let order = Shop.order("order-2")
    let named = try await shop.gateway.authorize(order, with: shop.token(for: order))
    shop.clock.advance(.seconds(1))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(named.id)?.status == .authorized)
    #expect(shop.fake.inquiries.map(\.acquirerReference) == ["P1"])
    shop.fake.captures(.pending(Pending(acquirerReference: "P2")))
    _ = try await shop.gateway.capture(named.id)
    shop.fake.finds(.answer(.approved(Approval(acquirerReference: "P2"))))
    shop.clock.advance(.seconds(1))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(named.id)?.status == .captured)
  }

  @Test func `leaves what can neither be asked about nor undone to its event`() async throws {
    let shop = try await Shop(
      capabilities: AcquirerCapabilities(
        name: "fake", instruments: [.network], idempotency: .none, inquiry: false, reversal: false,
        settleHorizon: .seconds(10)))
    let payment = try await unknown(shop)
    shop.clock.advance(.seconds(3_600))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .unknown)
    #expect(shop.fake.inquiries.isEmpty && shop.fake.reversals.isEmpty && shop.fake.authorizations.count == 1)
    let event = ProviderEvent(
      route: "fake", id: "e1", reference: try reference(shop), amount: .eur(1250),
      outcome: .approved(Approval(acquirerReference: "A1")))
    #expect(try await shop.gateway.receive(event).name == "applied")
    #expect(try await shop.gateway.payment(payment.id)?.status == .authorized)
  }

  @Test func `after failure was reported, only reverses`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(policy: policy)
    let payment = try await unknown(shop)
    #expect(payment.reportedOutcome == .failure)
    shop.fake.finds(.answer(FakeAcquirer.approval(try reference(shop))))
    shop.fake.reverses(.reversed)
    await #expect(throws: GatewayError.self) { try await shop.gateway.authorize(Shop.order(), with: shop.token()) }
    shop.clock.advance(.seconds(1))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
    #expect(shop.fake.inquiries.isEmpty)
    #expect(try await shop.journal.operations(of: payment.id).map(\.state) == [.reversed, .approved])
  }

  @Test func `reverses an approval that a webhook brings after failure was reported`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(policy: policy)
    let payment = try await unknown(shop)
    let verdict = try await shop.journal.receive(
      ProviderEvent(
        route: "fake", id: "e1", reference: try reference(shop), amount: .eur(1250),
        outcome: .approved(Approval(acquirerReference: "A"))))
    guard case .applied(let after) = verdict else { throw Died() }
    #expect(after.authorized == 0)
    shop.fake.reverses(.reversed)
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
  }

  @Test func `voids after failure was reported what is found by the name alone that its event brings`() async throws {
    var capabilities = AcquirerCapabilities(
      name: "fake", instruments: [.network], idempotency: .none, inquiry: false, reversal: false,
      settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7))
    capabilities.inquiryByName = true
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(capabilities: capabilities, policy: policy)
    let payment = try await unknown(shop).id
    try await recover(shop, times: 2, every: .seconds(60))
    #expect(shop.fake.inquiries.isEmpty && shop.fake.voids.isEmpty)
    let authorization = try reference(shop)
    _ = try await shop.journal.receive(
      ProviderEvent(
        route: "fake", id: "e1", reference: authorization, amount: .eur(1250),
        outcome: .approved(Approval(acquirerReference: "A-\(authorization)"))))
    shop.fake.finds(.answer(FakeAcquirer.approval(authorization)))
    try await recover(shop, times: 2, every: .seconds(60))
    #expect(shop.fake.inquiries.map(\.acquirerReference) == ["A-\(authorization)"])
    #expect(shop.fake.voids.map(\.authorization) == ["A-\(authorization)"])
    #expect(try await shop.gateway.payment(payment)?.status == .voided)
  }

  @Test func `undoes what an event brings after its end, although an inquiry does not find it yet`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(capabilities: Self.withoutReversal, policy: policy)
    let payment = try await unknown(shop).id
    let authorization = try reference(shop)
    shop.fake.finds { _ in .notFound }
    try await recover(shop, times: 3, every: .seconds(3_600))
    #expect(try await shop.gateway.payment(payment)?.status == .failed)
    let approval = Approval(acquirerReference: "A-\(authorization)")
    _ = try await shop.journal.receive(
      ProviderEvent(
        route: "fake", id: "e1", reference: authorization, amount: .eur(1250), outcome: .approved(approval)))
    _ = try await shop.gateway.recover()
    shop.fake.finds { $0 == authorization ? .answer(.approved(approval)) : .notFound }
    shop.fake.voids { reference, _ in FakeAcquirer.approval(reference) }
    try await recover(shop, times: 3, every: .seconds(60))
    #expect(shop.fake.voids.count == 1)
  }

  /// A history of the model: Tests/Model/payment.pml with a late approval while a reversal is being asked for.
  @Test func `undoes what an event brings while the acquirer's answer that there is nothing is recorded`() async throws
  {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let held = Mutex<(@Sendable () async throws -> Void)?>(nil)
    let crashes = CrashPoints { point in
      guard point == .recoveryReversed else { return }
      try await held.withLock { $0 }?()
    }
    let shop = try await Shop(policy: policy, crashes: crashes)
    let payment = try await unknown(shop).id
    let event = ProviderEvent(
      route: "fake", id: "e1", reference: try reference(shop), amount: .eur(1250),
      outcome: .approved(Approval(acquirerReference: "A")))
    held.withLock { $0 = { _ = try await shop.journal.receive(event) } }
    shop.clock.advance(.seconds(3_600))
    _ = try await shop.gateway.recover()
    let asked = shop.fake.reversals.count
    held.withLock { $0 = nil }
    try await recover(shop, times: 3, every: .seconds(3_600))
    let states = try await shop.journal.operations(of: payment).map { "\($0.kind) \($0.state)" }
    #expect(shop.fake.reversals.count > asked, "\(states)")
  }

  private func recover(_ shop: Shop, times: Int, every pause: Duration) async throws {
    for _ in 0..<times {
      shop.clock.advance(pause)
      _ = try await shop.gateway.recover()
    }
  }

  @Test func `goes on asking until the reversal is answered`() async throws {
    let shop = try await Shop()
    let payment = try await unknown(shop)
    shop.fake.reverses(.unavailable(Interruption(.timeout)))
    for _ in 0..<5 {
      shop.clock.advance(.seconds(120))
      _ = try await shop.gateway.recover()
    }
    #expect(try await shop.gateway.payment(payment.id)?.status == .unknown)
    shop.fake.reverses(.reversed)
    shop.clock.advance(.seconds(120))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
    #expect(shop.fake.reversals.count > 3)
    // Once the reversal has begun, recovery does not inquire whether it was approved.
    #expect(shop.fake.inquiries.count <= 2)
  }

  @Test func `sends a capture again only where its reference is kept`() async throws {
    for (idempotency, sent) in [
      (AcquirerCapabilities.Idempotency.none, 1),
      (.reference(window: .seconds(3_600)), 2),
    ] {
      let shop = try await Shop(
        capabilities: AcquirerCapabilities(
          name: "fake", instruments: [.network], idempotency: idempotency, inquiry: true,
          reversal: true, settleHorizon: .seconds(10)))
      let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
      shop.fake.captures(.unknown(Interruption(.timeout)))
      _ = try await shop.gateway.capture(payment.id)
      shop.fake.captures { reference, _ in FakeAcquirer.approval(reference) }
      shop.clock.advance(.seconds(60))
      _ = try await shop.gateway.recover()
      #expect(shop.fake.captures.count == sent)
      #expect(Set(shop.fake.captures.map(\.reference)).count == 1)
      let status: PaymentStatus = sent == 1 ? .authorized : .captured
      #expect(try await shop.gateway.payment(payment.id)?.status == status)
    }
  }

  @Test func `a repeat that is refused because of our account leaves the operation open`() async throws {
    let shop = try await Shop(
      capabilities: AcquirerCapabilities(
        name: "fake", instruments: [.network], idempotency: .reference(window: .seconds(3_600)), inquiry: false,
        reversal: true, settleHorizon: .seconds(10)))
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    shop.fake.captures(.unknown(Interruption(.timeout)))
    _ = try await shop.gateway.capture(payment.id)
    shop.fake.captures(.declined(Decline(reason: .configuration, code: "unauthorized")))
    shop.clock.advance(.seconds(60))
    _ = try await shop.gateway.recover()
    let capture = try await shop.journal.operations(of: payment.id).first { $0.kind == .capture }
    #expect(capture?.state == .unknown, "the first request may have been done")
    shop.fake.captures { reference, _ in FakeAcquirer.approval(reference) }
    shop.clock.advance(.seconds(120))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .captured)
  }

  @Test func `outside the window asks and does not send again`() async throws {
    let shop = try await Shop(
      capabilities: AcquirerCapabilities(
        name: "fake", instruments: [.network],
        idempotency: .reference(window: .seconds(1_800)), inquiry: true, reversal: true,
        settleHorizon: .seconds(10)))
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    shop.fake.captures(.unknown(Interruption(.timeout)))
    _ = try await shop.gateway.capture(payment.id)
    shop.clock.advance(.seconds(1_800))
    _ = try await shop.gateway.recover()
    #expect(shop.fake.captures.count == 1)
    let capture = try await shop.journal.operations(of: payment.id).first { $0.kind == .capture }
    #expect(capture?.state == .failed)
  }

  @Test func `where nothing can be undone by reference, finds the hold and voids it`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(capabilities: Self.withoutReversal, policy: policy)
    let payment = try await unknown(shop)
    shop.fake.finds(.answer(FakeAcquirer.approval(try reference(shop))))
    shop.clock.advance(.seconds(1))
    _ = try await shop.gateway.recover()
    #expect(shop.fake.voids.map(\.authorization) == ["A-\(try reference(shop))"])
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
  }

  @Test func `an undoing is done when the acquirer holds nothing any more`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(capabilities: Self.withoutReversal, policy: policy)
    let payment = try await unknown(shop)
    shop.fake.finds(.answer(FakeAcquirer.approval(try reference(shop))))
    shop.fake.voids(.declined(Decline(reason: .holdEnded, code: "25")))
    shop.clock.advance(.seconds(1))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
    #expect(try await shop.journal.alarms().isEmpty)
  }

  @Test(arguments: [DeclineReason.configuration, .issuerUnavailable])
  func `an undoing that is refused for the moment is begun anew, and an alarm raised`(reason: DeclineReason)
    async throws
  {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(capabilities: Self.withoutReversal, policy: policy)
    let payment = try await unknown(shop)
    let authorization = try reference(shop)
    // The approval comes by event, so that recovery does not inquire about the authorization any more.
    let approval = Approval(acquirerReference: "A-\(authorization)")
    _ = try await shop.journal.receive(
      ProviderEvent(
        route: "fake", id: "e1", reference: authorization, amount: .eur(1250), outcome: .approved(approval)))
    shop.fake.finds { $0 == authorization ? .answer(.approved(approval)) : .notFound }
    shop.fake.voids(.declined(Decline(reason: reason, code: "99")))
    _ = try await shop.gateway.recover()
    #expect(try await shop.journal.alarms().map(\.reason) == ["reversal_refused"])
    shop.fake.voids { reference, _ in FakeAcquirer.approval(reference) }
    shop.clock.advance(.seconds(60))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
    #expect(Set(shop.fake.voids.map(\.reference)).count == 2)
    let audit = try await shop.journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
  }

  /// To an inquiry an authorization looks approved before and after it is voided.
  @Test func `asks what became of a void that undid a hold, and sends another only when it never arrived`() async throws
  {
    for arrived in [true, false] {
      var policy = GatewayPolicy()
      policy.reportUnknownAs = .failure
      let shop = try await Shop(capabilities: Self.withoutReversal, policy: policy)
      let payment = try await unknown(shop)
      let authorization = try reference(shop)
      let voided = Mutex(false)
      shop.fake.finds { asked in
        if asked == authorization { return .answer(FakeAcquirer.approval(asked)) }
        return voided.withLock { $0 } ? .answer(FakeAcquirer.approval(asked)) : .notFound
      }
      shop.fake.voids(.unknown(Interruption(.timeout)))
      shop.clock.advance(.seconds(1))
      _ = try await shop.gateway.recover()
      voided.withLock { $0 = arrived }
      // An acquirer that does a void twice would refuse the second.
      shop.fake.voids { reference, _ in
        arrived ? .declined(Decline(reason: .other, code: "13")) : FakeAcquirer.approval(reference)
      }
      // Within the settle horizon it may still be on its way.
      shop.clock.advance(.seconds(5))
      _ = try await shop.gateway.recover()
      #expect(shop.fake.voids.count == 1)
      shop.clock.advance(.seconds(60))
      _ = try await shop.gateway.recover()
      #expect(shop.fake.voids.count == (arrived ? 1 : 2))
      #expect(Set(shop.fake.voids.map(\.reference)).count == 1)
      #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
      #expect(try await shop.journal.alarms().isEmpty)
    }
  }

  @Test(arguments: [CrashPoint.recoveryReversing, .recoveryInquired, .recoveryReversed])
  func `undoes once when it dies over it, where it has to find and void`(point: CrashPoint) async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(capabilities: Self.withoutReversal, policy: policy, crashes: dying(at: point))
    let payment = try await unknown(shop)
    let authorization = try reference(shop)
    let ledger = Mutex<Set<AttemptReference>>([authorization])
    shop.fake.finds { asked in
      ledger.withLock { $0.contains(asked) } ? .answer(FakeAcquirer.approval(asked)) : .notFound
    }
    shop.fake.voids { reference, _ in
      ledger.withLock { $0.insert(reference).inserted }
        ? FakeAcquirer.approval(reference) : .declined(Decline(reason: .other, code: "13"))
    }
    shop.clock.advance(.seconds(1))
    await #expect(throws: Died.self) { try await shop.gateway.recover() }
    let next = shop.reborn()
    for _ in 0..<4 {
      shop.clock.advance(.seconds(70))
      _ = try await next.recover()
    }
    #expect(shop.fake.voids.count == 1)
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
  }

  /// A process died that may have voided it.
  @Test func `an undoing waits while the authorization is being decided, and then voids the hold`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(
      capabilities: Self.withoutReversal, policy: policy, crashes: dying(at: .recoveryInquired))
    let pending = AcquirerAnswer.pending(Pending(acquirerReference: "A1"))
    shop.fake.authorizes(pending)
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    let authorization = try reference(shop)
    shop.fake.finds { $0 == authorization ? .answer(pending) : .notFound }
    shop.clock.advance(.seconds(1))
    await #expect(throws: Died.self) { try await shop.gateway.recover() }
    let next = shop.reborn()
    for answer in [pending, FakeAcquirer.approval(authorization)] {
      #expect(shop.fake.voids.isEmpty)
      #expect(try await shop.gateway.payment(payment.id)?.status == .pending)
      shop.fake.finds { $0 == authorization ? .answer(answer) : .notFound }
      for _ in 0..<3 {
        shop.clock.advance(.seconds(90))
        _ = try await next.recover()
      }
    }
    #expect(shop.fake.inquiries.contains { $0.kind == .void })
    #expect(shop.fake.voids.count == 1)
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
    #expect(try await shop.journal.alarms().isEmpty)
  }

  /// Some providers are asked for what arrived at a time.
  @Test func `a question about an authorization that is undone says when that was sent, however late`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(capabilities: Self.withoutReversal, policy: policy)
    let payment = try await unknown(shop)
    shop.fake.finds(.unavailable(Interruption(.timeout)))
    for _ in 0..<3 {
      shop.clock.advance(.seconds(600))
      _ = try await shop.gateway.recover()
    }
    let operations = try await shop.journal.operations(of: payment.id)
    #expect(operations.map(\.kind) == [.authorize, .reverse] && operations[0].sentAt < operations[1].sentAt)
    let questions = shop.fake.inquiries.filter { $0.reference == operations[0].reference }
    #expect(questions.count > 1 && questions.allSatisfy { $0.sentAt == operations[0].sentAt })
  }

  private static let withoutReversal = AcquirerCapabilities(
    name: "fake", instruments: [.network], idempotency: .none, inquiry: true, reversal: false,
    settleHorizon: .seconds(10))

  /// *Failure* was reported, the approval came late, and the acquirer refuses the reversal.
  @Test func `leaves what cannot be reversed to an operator, whose decision frees the order`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(policy: policy)
    let payment = try await unknown(shop)
    _ = try await shop.journal.raise(.authorizeUnknown, on: payment.id)
    shop.fake.reverses(.refused(code: "12"))
    shop.clock.advance(.seconds(1))
    _ = try await shop.gateway.recover()
    let stuck = try #require(try await shop.gateway.payment(payment.id))
    #expect(stuck.status == .unknown && stuck.status.isLive)
    #expect(try await shop.journal.alarms().map(\.reason) == ["authorize_unknown"], "the first reason stays")
    let resolved = try await shop.journal.resolve(payment.id, as: .voided, note: "the bank,\nby telephone")
    #expect((resolved.status, resolved.reportedOutcome) == (.voided, .failure))
    #expect(try await shop.journal.alarms().isEmpty)
    #expect(try await shop.journal.operations(of: payment.id).map(\.state) == [.reversed, .declined])
    shop.clock.advance(.seconds(7_200))
    #expect(try await shop.gateway.recover().isEmpty)
    let said = try await shop.journal.database.read { store in
      try store.rows("SELECT event FROM audit ORDER BY seq").map { try $0.text("event") }
    }
    #expect(said.contains("alarm raised: authorize_unknown"))
    #expect(said.last == "resolved voided: the bank, by telephone")
    let audit = try await shop.journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
    shop.fake.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    let other = try await shop.gateway.authorize(Shop.order(), with: shop.token(card: "mastercard-credit"))
    #expect(other.status == .authorized)
  }

  @Test func `an operator cannot resolve a payment while a process asks, nor one with a known outcome`() async throws {
    let shop = try await Shop(crashes: dying(at: .authorizeClaimed))
    await #expect(throws: Died.self) { try await shop.gateway.authorize(Shop.order(), with: shop.token()) }
    let payment = try #require(try await shop.journal.payment(of: OrderID("order-1"))).id
    await #expect(throws: JournalError.conflict) {
      try await shop.journal.resolve(payment, as: .failed, note: "too early")
    }
    shop.clock.advance(Journal.lease)
    #expect(try await shop.journal.resolve(payment, as: .failed, note: "it never came").status == .failed)
    await #expect(throws: JournalError.alreadyResolved(.failed)) {
      try await shop.journal.resolve(payment, as: .voided, note: "no, that")
    }
  }

  @Test func `lets a hold go when it comes to its end`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    _ = try await shop.gateway.capture(payment.id, .eur(1000))
    shop.clock.advance(.seconds(86_400 * 7))
    #expect(try await shop.gateway.recover().expiries == 1)
    let after = try #require(try await shop.gateway.payment(payment.id))
    #expect((after.status, after.authorized) == (.captured, 1000))
    #expect(try await shop.gateway.recover().isEmpty)
  }

  @Test func `lets the rest of a hold go without asking an acquirer that releases only all of it`() async throws {
    let shop = try await Shop(
      capabilities: AcquirerCapabilities(
        name: "fake", instruments: [.network], parts: [.capture, .refund], idempotency: .none, inquiry: true,
        reversal: true, settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7)))
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    _ = try await shop.gateway.capture(payment.id, .eur(1000))
    await #expect(throws: GatewayError.partNotPossible(.void, "fake")) { try await shop.gateway.void(payment.id) }
    shop.clock.advance(.seconds(86_400 * 7))
    #expect(try await shop.gateway.recover().expiries == 1)
    let after = try #require(try await shop.gateway.payment(payment.id))
    #expect((after.status, after.authorized) == (.captured, 1000))
    #expect(shop.fake.voids.isEmpty)
    #expect(try await shop.gateway.recover().isEmpty)
  }

  @Test func `a hold that the acquirer ended itself is at its end here too, though it refuses the void`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    shop.fake.voids(.declined(Decline(reason: .holdEnded, code: "25")))
    shop.clock.advance(.seconds(86_400 * 7))
    #expect(try await shop.gateway.recover().expiries == 1)
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
    #expect(try await shop.journal.alarms().isEmpty)
    shop.clock.advance(.seconds(86_400 * 2))
    #expect(try await shop.gateway.recover().isEmpty)
  }

  @Test(arguments: [DeclineReason.configuration, .issuerUnavailable, .other])
  func `a void at a hold's end that is refused for another reason is tried again later, and raises an alarm`(
    reason: DeclineReason
  ) async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    shop.fake.voids(.declined(Decline(reason: reason, code: "unauthorized")))
    shop.clock.advance(.seconds(86_400 * 7))
    #expect(try await shop.gateway.recover().expiries == 1)
    for minutes in [10, 20, 40] {
      let after = try #require(try await shop.gateway.payment(payment.id))
      #expect((after.status, after.authorized) == (.authorized, 1250))
      #expect(try await shop.journal.alarms().map(\.reason) == ["void_refused"])
      shop.clock.advance(.seconds(60 * minutes - 1))
      #expect(try await shop.gateway.recover().isEmpty)
      if minutes == 40 { shop.fake.voids { reference, _ in FakeAcquirer.approval(reference) } }
      shop.clock.advance(.seconds(1))
      #expect(try await shop.gateway.recover().expiries == 1)
    }
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
    #expect(try await shop.journal.alarms().isEmpty)
    #expect(Set(shop.fake.voids.map(\.reference)).count == 4)
  }

  @Test func `what a capture at the end of a hold frees is released soon after`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    shop.fake.voids(.declined(Decline(reason: .holdEnded, code: "25")))
    shop.clock.advance(.seconds(86_400 * 7))
    shop.fake.captures { _, _ in
      _ = try? await shop.gateway.recover()
      return .declined(Decline(reason: .other, code: "13"))
    }
    let after = try await shop.gateway.capture(payment.id, .eur(1000)).payment
    #expect((after.status, after.authorized) == (.authorized, 1000))
    #expect(try await shop.gateway.recover().isEmpty)
    shop.clock.advance(.seconds(600))
    #expect(try await shop.gateway.recover().expiries == 1)
    #expect(try await shop.gateway.payment(payment.id)?.status == .voided)
  }

  @Test func `a merchant's void that is refused leaves the hold as it is`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    shop.fake.voids(.declined(Decline(reason: .other, code: "12")))
    #expect(try await shop.gateway.void(payment.id).payment.status == .authorized)
  }

  @Test func `asks about an open operation while captures that are due have no answer`() async throws {
    let shop = try await Shop(
      scheduler: Scheduler(
        uptime: { .zero }, sleep: { _ in try await Task.sleep(for: .milliseconds(5)) },
        finish: Scheduler.system.finish))
    shop.fake.captures(.notSent("connection refused"))
    for name in ["order-1", "order-2"] {
      let order = Shop.order(name, capture: .immediate)
      _ = try await shop.gateway.pay(order, with: shop.token(for: order))
    }
    let isAnswered = Mutex(false)
    shop.fake.captures { reference, _ in
      try? await waitUntil("the test to let the acquirer answer") { isAnswered.withLock { $0 } }
      return FakeAcquirer.approval(reference)
    }
    shop.clock.advance(Journal.lease)
    let recovery = Task { [gateway = shop.gateway] in await gateway.keepRecovering { _, _ in } }
    defer {
      recovery.cancel()
      isAnswered.withLock { $0 = true }
    }
    try await waitUntil("both captures to be sent again") { shop.fake.captures.count == 4 }
    shop.fake.authorizes(.unknown(Interruption(.timeout)))
    shop.fake.finds { .answer(FakeAcquirer.approval($0)) }
    let order = Shop.order("order-3")
    let payment = try await shop.gateway.authorize(order, with: shop.token(for: order))
    shop.clock.advance(.seconds(1))
    try await waitFor("an authorized payment", { try await shop.gateway.payment(payment.id)?.status }) {
      $0 == .authorized
    }
    #expect(try await shop.journal.openOutcomes().operations == 2, "both captures still wait for their answer")
    recovery.cancel()
    isAnswered.withLock { $0 = true }
    await recovery.value
  }

  @Test func `two at once never have the same operation`() async throws {
    let shop = try await Shop()
    let payment = try await unknown(shop)
    shop.clock.advance(.seconds(1))
    let other = Journal(shop.journal.database)
    let first = try await shop.journal.leaseDueOperations(10)
    #expect(first.map(\.payment) == [payment.id])
    #expect(try await other.leaseDueOperations(10).isEmpty)
    shop.clock.advance(Journal.lease)
    let second = try #require(try await other.leaseDueOperations(10).first)
    let answer = FakeAcquirer.approval(second.reference)
    #expect(try await shop.journal.record(answer, for: first[0]).payment.status == .unknown)
    #expect(try await other.record(answer, for: second).payment.status == .authorized)
  }
}
