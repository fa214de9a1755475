import Auditing
import Gateway
import Ledger
import Storage
import TenderPayments

// Shoppers and merchants.
extension SimulatedWorld {
  func shop(_ index: Int) {
    let purchase = supplies.purchases[index]
    thread.after(thread.choices.milliseconds(0...60_000), "a shopper pays") { [self] in
      pay(purchase, token: 0, tries: 0)
      // An impatient finger, or a network that sends twice.
      if thread.choices.chance(300) { pay(purchase, token: 0, tries: 4) }
    }
  }

  func pay(_ purchase: Supplies.Purchase, token: Int, tries: Int) {
    guard tries < 7, token < purchase.tokens.count else { return }
    guard !purchase.isKeyed else { return create(purchase, token: token, tries: tries) }
    let (name, order) = ("\(purchase.order.id) with token \(token)", purchase.order)
    func again(_ token: Int, _ wait: ClosedRange<Int>) {
      thread.after(thread.choices.milliseconds(wait), "\(name) again") {
        self.pay(purchase, token: token, tries: tries + 1)
      }
    }
    guard let engine else { return again(token, 1_000...5_000) }
    guard let quote = quotes[order.basket] else {
      openSheet(of: purchase)
      return again(token, 2_000...5_000)
    }
    var isAnswered = false
    let isLost = faults && thread.choices.chance(80)
    evidence.calls.append(ClientCall(order: order.id.rawValue, key: "token \(token)", outcome: .asked, payment: nil))
    engine.place(purchase, token, quote) { [self] answer in
      guard !isLost else { return }
      isAnswered = true
      thread.note("\(name): \(answer)")
      evidence.calls.append(answer.call(order, "token \(token)"))
      switch answer {
      case .payment(let payment) where payment.isGood:
        if tries < 4 { sell(payment) }
        subscribe(purchase, payment)
      case .payment(let payment) where payment.reportedOutcome == .failure:
        ask(about: payment, times: thread.choices.pick(3))
        again(token + 1, 500...20_000)
      case .payment(let payment):
        ask(about: payment, times: thread.choices.pick(4))
        again(token, 2_000...30_000)
      case .refused("payment_in_progress"): again(token, 2_000...30_000)
      case .refused: if thread.choices.chance(500) { again(token + 1, 500...20_000) }
      }
    }
    thread.after(.seconds(31), "\(name) waits no longer") { if !isAnswered { again(token, 100...5_000) } }
  }

  /// A client asks for the outcome at once, while recovery may be resolving it.
  func ask(about payment: Payment, times: Int) {
    for _ in 0..<times {
      thread.after(thread.choices.milliseconds(100...90_000), "a client asks") { self.engine?.ask(payment) }
    }
  }

  /// What a merchant does with a payment, some of it at once and twice. One merchant in three works in many small
  /// steps.
  func sell(_ payment: Payment) {
    sold.append(payment)
    let isPatient = thread.choices.pick(3) == 0
    for number in 0..<(isPatient ? 4 + thread.choices.pick(8) : thread.choices.pick(5)) {
      thread.after(thread.choices.milliseconds(1_000...200_000), "the merchant calls") { [self] in
        perform(payment, "\(payment.id) \(number)", isPatient ? step(payment) : portion(payment))
        if thread.choices.chance(200) { perform(payment, "\(payment.id) \(number) again", portion(payment)) }
      }
    }
  }

  /// Some merchants come when the hold is at its end, and meet recovery there.
  func actLate() {
    for (number, payment) in sold.enumerated() where thread.choices.chance(800) {
      thread.after(thread.choices.milliseconds(0...100_000), "a merchant comes late") { [self] in
        perform(payment, "\(payment.id) late \(number)", portion(payment))
      }
    }
  }

  /// All that there is, or a part.
  private func portion(_ payment: Payment) -> Int64? {
    let part = Int64(thread.choices.pick(4) + 1)
    return thread.choices.chance(400) ? nil : max(1, payment.amount.minorUnits / part)
  }

  private func step(_ payment: Payment) -> Int64 {
    max(1, payment.amount.minorUnits / Int64(4 + thread.choices.pick(6)))
  }

  private func perform(_ payment: Payment, _ key: String, _ amount: Int64?) {
    guard let engine else { return }
    let verbs: [EngineLife.Verb] = [.capture, .capture, .finalCapture, .void, .refund, .refund]
    let chosen = verbs[thread.choices.pick(verbs.count)]
    let verb = chosen == .void && raisesHolds(payment) ? .increment : chosen
    guard !payment.isKeyed else {
      let key = "\(key) \(verb) \(amount.map(String.init) ?? "all")"
      return call(KeyedRequest(key: key, verb: verb, payment: payment, amount: amount))
    }
    let name = "\(key) \(evidence.followUps.count)"
    note(.asked, name, payment, verb)
    engine.perform(verb, payment, amount) { [self] answer in
      if case .refused(let code) = answer { note(refusal: code, name, payment, verb) }
      thread.note("\(verb) \(answer)")
      if verb == .increment, case .payment(let after) = answer, after.authorized > after.amount.minorUnits {
        coverage.profiles[Coverage.raisedHold, default: 0] += 1
      }
      evidence.calls.append(answer.call(payment, key))
    }
  }
}

extension SimulatedWorld {
  func note(_ outcome: ClientCall.Outcome, _ name: String, _ payment: Payment, _ verb: EngineLife.Verb) {
    evidence.followUps.append(
      FollowUpCall(name: name, payment: payment.id.rawValue, kind: verb.kind, outcome: outcome))
  }

  /// What a merchant is told by a refusal. One that waits for another operation promises that this call did nothing.
  func note(refusal code: String, _ name: String, _ payment: Payment, _ verb: EngineLife.Verb) {
    if !EngineLife.Answer.isInDoubt(code) { note(.nothing, name, payment, verb) }
  }

  /// One payment in three is raised where others would be released, if a bank here can. Nothing is drawn for it, so that
  /// the histories with other banks stay what they were.
  private func raisesHolds(_ payment: Payment) -> Bool {
    guard acquirers.contains(where: { $0.profile.conduct.raisesHolds }) else { return false }
    return payment.id.rawValue.utf8.reduce(0) { $0 &+ Int($1) }.isMultiple(of: 3)
  }
}

// A person, where no acquirer can be asked.
extension SimulatedWorld {
  /// A day more, so that every outcome that stays open has its alarm; then an operator looks into the acquirer's
  /// dashboard, as a rule, and decides.
  func waitForPeople() {
    thread.slumber(.seconds(90_000))
    settle(for: .seconds(1_200))
    callAgain()
    thread.run(until: thread.uptime + .seconds(300))
    guard thread.choices.chance(700), let database = try? database() else { return }
    Task.detached {
      for (payment, references) in (try? await database.read { try $0.openPayments() }) ?? [] {
        await self.decide(payment, references, Journal(database))
      }
    }
    thread.run(until: thread.uptime)
    decideOperations(database)
    // A capture that a person took for done and the acquirer had refused is held again, for as long as holds last.
    settle(for: .seconds(1_200))
    noteOutlivedKeys(within: .seconds(86_400 * 8))
    thread.slumber(.seconds(86_400 * 8))
    // In processes that start in the middle too.
    settle(for: .seconds(4_500))
  }

  private func decideOperations(_ database: Database) {
    guard let gateway = engine?.gateway else { return }
    Task.detached {
      for operation in (try? await database.read { try $0.openOperations() }) ?? [] {
        await self.decide(operation, gateway)
      }
    }
    thread.run(until: thread.uptime)
  }

  /// Some are wrong. Then the bank's event comes all the same, and now and then where they were right.
  private func decide(_ operation: OpenOperation, _ gateway: PaymentGateway) async {
    let reference = operation.reference.rawValue
    guard let acquirer = acquirers.first(where: { $0.route == operation.route }),
      let decision = acquirer.bank.decision(on: reference)
    else { return }
    let isWrong = decision.answer != nil && thread.choices.chance(250)
    let resolution: Resolution = decision.isDone != isWrong ? .approved : .failed
    let ended = try? await gateway.end(
      operation.reference, of: operation.payment, as: resolution, note: "looked at the dashboard")
    guard ended != nil else { return }
    coverage.profiles[isWrong ? Coverage.wrongDecision : Coverage.decision, default: 0] += 1
    guard let answer = decision.answer, isWrong || thread.choices.chance(300) else { return }
    tell(answer, reference, operation.amount, timeout: .max, acquirer)
  }

  private func decide(_ payment: PaymentID, _ references: [String], _ journal: Journal) async {
    let wasHeld = references.map { reference in acquirers.contains { $0.bank.releaseByHand(reference) } }
    let resolution: Resolution = wasHeld.contains(true) ? .voided : .failed
    guard (try? await journal.resolve(payment, as: resolution, note: "looked at the dashboard")) != nil else { return }
    coverage.profiles["decided by a person", default: 0] += 1
  }
}

/// A capture, void or refund whose outcome is open behind an alarm.
private struct OpenOperation: Sendable {
  let reference: AttemptReference
  let payment: PaymentID
  let route: String
  let amount: Amount
}

extension Transaction {
  fileprivate func openOperations() throws -> [OpenOperation] {
    try rows(
      """
      SELECT operations.*, payments.currency FROM operations JOIN payments ON payments.id = operations.payment
      WHERE state IN ('sending', 'pending', 'unknown') AND kind IN ('capture', 'void', 'refund') AND alarm IS NOT NULL
      ORDER BY reference
      """
    ).compactMap { row in
      guard let currency = Currency(code: try row.text("currency")) else { return nil }
      return OpenOperation(
        reference: AttemptReference(try row.text("reference")), payment: PaymentID(try row.text("payment")),
        route: try row.text("route"), amount: Amount(minorUnits: try row.integer("amount"), currency: currency))
    }
  }

  /// Payments whose authorization is open behind an alarm, with our names of it.
  fileprivate func openPayments() throws -> [(PaymentID, [String])] {
    let open = try rows(
      """
      SELECT id FROM payments WHERE status IN ('authorizing', 'pending', 'unknown') AND alarm IS NOT NULL ORDER BY id
      """)
    return try open.map { row in
      let id = try row.text("id")
      let names = try rows("SELECT reference FROM operations WHERE payment = $1 AND kind = 'authorize'", .text(id))
      return (PaymentID(id), try names.map { try $0.text("reference") })
    }
  }
}

extension Payment {
  /// Whether success was reported to the shopper.
  fileprivate var isGood: Bool { authorized > 0 && status.isLive && status.isResolved }
}

extension EngineLife.Answer {
  func call(_ order: Order, _ key: String) -> ClientCall {
    switch self {
    case .refused(let code):
      ClientCall(
        order: order.id.rawValue, key: key, outcome: Self.leavesOpen(code) ? .refused : .nothing, payment: nil)
    case .payment(let payment):
      ClientCall(order: order.id.rawValue, key: key, outcome: payment.outcome, payment: payment.id.rawValue)
    }
  }

  /// Refusals that say that another call is under way, or that it is not known what became of this one. Every other one
  /// promises that this call did nothing.
  static func leavesOpen(_ code: String) -> Bool {
    ["payment_in_progress", "idempotency_key_in_use", "operation_in_progress"].contains(code) || isInDoubt(code)
  }

  /// The two that the server answers with `outcome_not_recorded`.
  static func isInDoubt(_ code: String) -> Bool { ["outcome_not_recorded", "outcomeUnknown"].contains(code) }

  /// The answer to a capture, a void or a refund; only the balances count.
  fileprivate func call(_ payment: Payment, _ key: String) -> ClientCall {
    guard case .payment(let after) = self, after.isGood else {
      return ClientCall(order: payment.order.rawValue, key: key, outcome: .refused, payment: nil)
    }
    return ClientCall(
      order: payment.order.rawValue, key: key, outcome: .success, payment: payment.id.rawValue,
      captured: after.captured, refunded: after.refunded)
  }
}

extension Payment {
  fileprivate var outcome: ClientCall.Outcome {
    // What was paid and let go by the merchant later was a success to the shopper.
    if reportedOutcome == .failure || !status.isLive && reportedOutcome != .success { return .failure }
    return status.isResolved ? .success : .pending
  }
}
