import Acquiring
import Auditing
import DirectWire
import Gateway
import Ledger
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments

// Agreements: the first payment of an order that is placed begins one, of a period a minute, and the merchant's server charges
// its periods more often, earlier and later than it should.

/// A charge of an agreement, as the merchant's server asks for it under a key.
struct ChargeRequest {
  /// The order whose payment began the agreement.
  let order: Order
  let first: PaymentID
  let period: Int64
  let number: Int

  var key: String { "\(order.id) charged for \(period), \(number)" }
  /// By what the bank knows it: unlike the others' of the same period.
  var name: String { "\(order.merchantReference) p\(period) c\(number)" }

  fileprivate var body: [UInt8] {
    let body: JSONValue = [
      "order": ["references": ["merchantReference": .string(name)]],
      "subsequentcardPaymentMethodSpecificInput": ["subsequentType": "Recurring", "period": .integer(period)],
    ]
    return body.serialized()
  }
}

extension Supplies.Purchase {
  /// The last period begins at the sixth minute at the latest.
  static let lastPeriod: Int64 = 6

  func agreement(isScheduled: Bool) -> AgreementDocument {
    AgreementDocument(
      description: "Tea", managementURL: "https://shop.example/tea", schedule: isScheduled ? true : nil,
      recurring: .init(
        regular: .init(
          label: "Tea", amount: order.amount.minorUnits, interval: .init(.minute),
          endsAt: WireTime(Supplies.start.adding(.seconds(60 * Self.lastPeriod))))))
  }
}

extension EngineLife {
  /// `POST /v2/{merchantId}/payments/{id}/subsequent`
  func charge(_ request: ChargeRequest, _ reply: @escaping (Keyed) -> Void) {
    let (id, body) = ("\(DirectPaymentID(payment: request.first.rawValue))", request.body)
    let call = IdempotentCall(
      merchant: request.order.merchant, call: "POST subsequent \(id)", key: IdempotencyKey(request.key), body: body)
    begin(reply) { [platform] in
      var reply = PlatformReply(try await platform.subsequent(id, body, call))
      reply.isSale = true
      return reply
    }
  }

  /// Charges what is due by schedules.
  func chargeScheduled() {
    guard !isCharging else { return }
    isCharging = true
    Task.detached { [self] in
      _ = try? await schedule.round()
      isCharging = false
    }
  }

  /// `POST /v2/{merchantId}/agreements/{id}`, which an agreement refuses that is not suspended.
  func resumeAgreement(of payment: Payment) {
    Task.detached { [platform, gateway] in
      let found = try await gateway.journal.database.read { try Journal.agreement(of: payment.id, in: $0) }
      let body: JSONValue = ["status": "active"]
      guard let found else { return }
      _ = try await platform.changeAgreement(found.id, body.serialized(), of: payment.merchant)
    }
  }

  /// `DELETE /v2/{merchantId}/tokens/{id}`
  func endAgreement(of payment: Payment, _ ended: @escaping () -> Void) {
    let ended = Carried(ended)
    Task.detached { [platform, gateway] in
      let found = try await gateway.journal.database.read { try Journal.agreement(of: payment.id, in: $0) }
      guard let found else { return }
      try await platform.deleteToken(found.id.rawValue, of: payment.merchant)
      ended.value()
    }
  }
}

extension SimulatedWorld {
  /// In one simulation of three, if every bank of it keeps credentials.
  var hasAgreements: Bool {
    settings.seed % 3 == 1
      && acquirers.allSatisfy {
        $0.wire.capabilities.begins(.recurring, with: $0.profile.isSealed ? .sealed : .network)
      }
  }

  /// In every other of these Tender charges them too, by their schedules.
  var hasSchedules: Bool { settings.seed.isMultiple(of: 2) && hasAgreements }

  /// What the bank makes of a charge, by its name alone, so that a repeat gets the same. One agreement in five is declined
  /// always.
  func verdict(ofCharge name: String) -> SimulatedBank.Verdict {
    guard !digest(name.nameOfOrder).isMultiple(of: 5) else { return .decline }
    return switch digest(name) % 10 {
    case 0, 1: .decline
    case 2: .declineForGood
    case 3: .later(approves: true)
    case 4: .later(approves: false)
    default: .approve
    }
  }

  /// FNV-1a.
  private func digest(_ text: String) -> UInt64 {
    "\(settings.seed) \(text)".utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// What the merchant's server does with an agreement that has begun.
  func subscribe(_ purchase: Supplies.Purchase, _ payment: Payment) {
    let order = purchase.order
    guard hasAgreements, subscribed.insert(order.id).inserted else { return }
    coverage.profiles[Coverage.agreement, default: 0] += 1
    evidence.charges.append(
      ChargeCall(order: order.merchantReference, agreement: order.id.rawValue, period: 0))
    if hasSchedules { expectCharges(of: purchase, payment) }
    let isEager = thread.choices.pick(4) == 0
    for number in 0..<(isEager ? 30 : 4 + thread.choices.pick(8)) {
      let period = Int64(thread.choices.pick(Int(Supplies.Purchase.lastPeriod) + 2))
      thread.after(thread.choices.milliseconds(1_000...390_000), "the merchant charges an agreement") { [self] in
        begin(ChargeRequest(order: order, first: payment.id, period: period, number: number))
        guard thread.choices.chance(200) else { return }
        begin(ChargeRequest(order: order, first: payment.id, period: period, number: number + 100))
      }
    }
    unlinkLater(order, payment)
    guard thread.choices.chance(400) else { return }
    thread.after(thread.choices.milliseconds(100_000...380_000), "the merchant ends an agreement") { [self] in
      engine?.endAgreement(of: payment) { self.ended.insert(order.id) }
    }
  }

  /// The schedule's own charges, one period beyond the last, and a merchant who resumes what was suspended.
  private func expectCharges(of purchase: Supplies.Purchase, _ payment: Payment) {
    let order = purchase.order
    for period in 1...Supplies.Purchase.lastPeriod + 1 {
      evidence.charges.append(
        ChargeCall(order: "\(order.merchantReference)-\(period)", agreement: order.id.rawValue, period: period))
    }
    thread.after(thread.choices.milliseconds(100_000...390_000), "the merchant resumes an agreement") { [self] in
      engine?.resumeAgreement(of: payment)
    }
  }

  private func begin(_ request: ChargeRequest) {
    charges.append(request)
    evidence.charges.append(
      ChargeCall(
        order: request.name, agreement: request.order.id.rawValue, period: request.period,
        isAfterEnd: ended.contains(request.order.id), isAfterStop: stopped.contains(request.order.id),
        isAfterUnlink: unlinked.contains(request.order.id)))
    charge(request, tries: 0)
  }

  func charge(_ request: ChargeRequest, tries: Int) {
    guard tries < 8, !evidence.outlivedKeys.contains(request.key) else { return }
    func again(_ wait: ClosedRange<Int>, tries next: Int? = nil) {
      thread.after(thread.choices.milliseconds(wait), "\(request.key) again") {
        self.charge(request, tries: next ?? tries + 1)
      }
    }
    guard let engine else { return again(1_000...5_000) }
    note(request, .asked)
    evidence.keyed.append(KeyedCall(key: request.key, payment: request.name, kind: "authorize"))
    var isAnswered = false
    let isLost = faults && thread.choices.chance(80)
    engine.charge(request) { [self] answer in
      guard !isLost else { return }
      isAnswered = true
      coverage.keys[answer.kind, default: 0] += 1
      thread.note("\(request.key): \(answer)")
      switch answer {
      case .answered(let reply):
        take(reply, to: request)
        guard reply.isFinal else { return again(2_000...30_000) }
        if thread.choices.chance(200) { again(1_000...100_000, tries: 7) }
      case .inUse:
        note(request, .refused)
        again(2_000...30_000)
      case .refused(let code):
        note(request, EngineLife.Answer.leavesOpen(code) ? .refused : .nothing)
        if thread.choices.chance(300) { again(500...60_000) }
      }
    }
    thread.after(.seconds(31), "\(request.key) waits no longer") { if !isAnswered { again(100...5_000) } }
  }

  private func take(_ reply: PlatformReply, to request: ChargeRequest) {
    note(request, reply.outcome, reply.payment)
    evidence.keyed.append(
      KeyedCall(key: request.key, payment: request.name, kind: "authorize", reply: reply.reply))
    // It may also fail before it is at the bank, as where the account is refused.
    let isAtBank = reply.payment.map { payment in acquirers.contains { $0.bank.knows(payment.rawValue) } } ?? false
    switch reply.outcome {
    case .success: coverage.profiles[Coverage.laterPayment, default: 0] += 1
    case .failure where isAtBank && verdict(ofCharge: request.name) == .declineForGood:
      stopped.insert(request.order.id)
    case .failure, .pending, .refused, .nothing, .asked: break
    }
  }

  private func note(_ request: ChargeRequest, _ outcome: ClientCall.Outcome, _ payment: PaymentID? = nil) {
    evidence.calls.append(
      ClientCall(order: request.name, key: request.key, outcome: outcome, payment: payment?.rawValue))
  }
}

extension String {
  /// Of a charge: `order-3 p2 c0` by a call, `order-3-2` by the schedule.
  var namesCharge: Bool { contains(" ") || split(separator: "-").count > 2 }

  /// The name of the order that began the agreement.
  var nameOfOrder: String { prefix { $0 != " " }.split(separator: "-").prefix(2).joined(separator: "-") }
}

extension Evidence {
  /// Charges that were claimed after the agreement's end was committed, or after an answer by which the card must never be
  /// tried again. The clock must not have been set.
  mutating func readLateCharges(_ store: Transaction) throws {
    let rows = try store.rows(
      """
      SELECT orders.merchant_reference AS name, agreement_charges.period AS period, payments.agreement AS agreement,
        (SELECT COUNT(*) FROM agreement_changes
          WHERE agreement_changes.agreement = payments.agreement AND status_after = 'ended'
            AND changed_at < payments.created_at) AS ends,
        (SELECT COUNT(*) FROM operations JOIN payments others ON others.id = operations.payment
          WHERE others.agreement = payments.agreement AND operations.kind = 'authorize' AND operations.state = 'declined'
            AND operations.decline_reason IN ('lost_or_stolen', 'invalid_card', 'not_permitted')
            AND operations.answered_at < payments.created_at) AS stops
      FROM payments JOIN orders ON orders.id = payments.order_id
        JOIN agreement_charges ON agreement_charges.order_id = payments.order_id
      WHERE payments.agreement IS NOT NULL
      """)
    for row in rows {
      let (isAfterEnd, isAfterStop) = (try row.integer("ends") > 0, try row.integer("stops") > 0)
      guard isAfterEnd || isAfterStop else { continue }
      charges.append(
        ChargeCall(
          order: try row.text("name"), agreement: try row.text("agreement"), period: try row.integer("period"),
          isAfterEnd: isAfterEnd, isAfterStop: isAfterStop))
    }
  }
}
