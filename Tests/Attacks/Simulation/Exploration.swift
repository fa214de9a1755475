package import Auditing
import Acquiring
import Gateway
import Ledger
import Orders
import Storage
import TenderPayments
import TenderTesting
import Webhooks

/// One order and two workers, in every order in which their steps can fall.
package struct Exploration: Sendable {
  package enum Setting: String, Sendable, CaseIterable {
    /// The same payment token twice, as a network or a finger sends it.
    case sameToken
    /// Two payment tokens for one order.
    case twoTokens
    /// A capture beside another, of a payment that is authorized.
    case twoCaptures
    /// A capture under an idempotency key, asked for twice.
    case oneKey
    /// One worker, who dies at every step there is.
    case oneDeath
    /// A recovery that slept through its lease while it asked, beside another that took over.
    case sleeper
    /// At Checkout.com: an authorization is done and answered with an error, with which its key is forgotten.
    case errorForgotten
    /// At Worldline Direct: a capture is done, its answer is lost, and nothing asks again until its key is forgotten.
    case keyForgotten
    /// At Worldline Acquiring: an authorization arrives after its first reversal.
    case undoneTooEarly
    /// At Stripe: a refund is accepted and fails, and no event says so.
    case refundFails
    /// The void at the end of a hold is refused because of our account.
    case voidRefused
    /// The wall clock is a month ahead for some minutes, while money is held.
    case clockSet

    /// Whether there is one history only.
    fileprivate var isScripted: Bool {
      [.errorForgotten, .keyForgotten, .undoneTooEarly, .refundFails, .voidRefused, .clockSet].contains(self)
    }

    fileprivate var beginsPaid: Bool {
      [.twoCaptures, .oneKey, .keyForgotten, .refundFails, .voidRefused, .clockSet].contains(self)
    }

    fileprivate var profile: BankProfile {
      switch self {
      // The sleeper can do most harm where a void is done twice.
      case .sleeper: .withoutReversal
      case .errorForgotten: .playing(.checkoutCom)
      case .keyForgotten: .playing(.worldlineDirect)
      case .undoneTooEarly: .playing(.worldlineAcquiring)
      case .refundFails: .playing(.stripe)
      case .sameToken, .twoTokens, .twoCaptures, .oneKey, .oneDeath, .voidRefused, .clockSet: BankProfile.all[0]
      }
    }
  }

  package struct Outcome: Sendable {
    package let runs: Int
    /// Whether every history was tried.
    package let isComplete: Bool
    package let violations: [Violation]
  }

  package let setting: Setting
  /// The mutant; nil for the engine as it is.
  package let mutant: Mutant?

  package init(_ setting: Setting, mutant: Mutant? = nil) {
    self.setting = setting
    self.mutant = mutant
  }

  /// - Parameter limit: how many histories at most.
  package func run(with supplies: Supplies, limit: Int) throws -> Outcome {
    let choices = ScriptedChoices()
    var (runs, violations): (Int, [Violation]) = (0, [])
    repeat {
      runs += 1
      let world = try SmallWorld(setting, supplies, choices, mutant)
      violations += try world.violations()
      guard violations.count < 10, mutant == nil || violations.isEmpty else {
        return Outcome(runs: runs, isComplete: false, violations: violations)
      }
    } while runs < limit && choices.next()
    return Outcome(runs: runs, isComplete: runs < limit, violations: violations)
  }
}

/// The engine with one order: everything that can go two ways goes both.
private final class SmallWorld: @unchecked Sendable {
  private let setting: Exploration.Setting
  private let supplies: Supplies
  private let choices: ScriptedChoices
  private let thread: SimulatedThread
  private let store: MemoryStore
  private let bank: SimulatedBank
  private let wire: SimulatedWire
  private let sink: SimulatedSink
  private let random = RandomBytes.seeded(1)
  private var engine: EngineLife?
  private var lives = 0
  private var mayDie: Bool
  private var evidence = Evidence()
  private let mutant: Mutant?

  init(
    _ setting: Exploration.Setting, _ supplies: Supplies, _ choices: ScriptedChoices, _ mutant: Mutant?
  ) throws {
    (self.setting, self.supplies, self.choices, self.mutant) = (setting, supplies, choices, mutant)
    choices.isFrozen = true
    choices.schedules = setting != .sleeper
    mayDie = setting == .oneDeath
    let profile = setting.profile
    bank = SimulatedBank(
      repeatsAnswers: profile.repeatsAnswers, remembersReversals: profile.remembersReversals, conduct: profile.conduct)
    thread = SimulatedThread(start: Supplies.start, choices: choices)
    thread.takeJobs()
    let plain: @Sendable (String) -> String = { $0 }
    store = try MemoryStore(dialect: mutant?.dialect ?? plain)
    wire = SimulatedWire(thread, bank, profile.capabilities(0), fates: [.replyLost])
    wire.memory = profile.memory
    if profile.isUnaskable { evidence.unaskable = [wire.capabilities.route] }
    sink = SimulatedSink(thread)
    thread.dies = { [unowned self] place, _ in dies(at: place) }
    thread.death = { [unowned self] _, _ in
      thread.forgetEverybody()
      engine = nil
      lives += 1
      wire.life = lives
      thread.after(.seconds(1), "starts again") { try? self.start() }
    }
  }

  private var purchase: Supplies.Purchase { supplies.purchases[1] }

  func violations() throws -> [Violation] {
    try start()
    var payment: Payment?
    if setting.beginsPaid {
      engine?.pay(purchase.order, purchase.tokens[0]) { if case .payment(let paid) = $0 { payment = paid } }
      thread.run(until: .seconds(30))
    }
    if setting == .sleeper { try fallAsleep() }
    choices.isFrozen = setting.isScripted
    wire.trouble = setting == .twoTokens || setting.isScripted ? 0 : 500
    try work(on: payment)
    thread.run(until: thread.uptime + .seconds(60))
    choices.isFrozen = true
    (wire.trouble, mayDie) = (0, false)
    for _ in 0..<40 {
      engine?.recover {}
      engine?.deliver()
      thread.run(until: thread.uptime + .seconds(30))
      thread.after(.seconds(30), "time passes") {}
      thread.run(until: thread.uptime + .seconds(30))
    }
    if let payment, setting == .oneKey {
      capture(underKeyOf: payment)
      thread.run(until: thread.uptime + .seconds(30))
    }
    return try audited()
  }

  private func start() throws {
    lives += 1
    (wire.life, sink.life) = (lives, lives)
    engine = try newEngine()
  }

  private func newEngine() throws -> EngineLife {
    let hooks = CommitHooks(
      reading: { await self.thread.stop("before a read") }, writing: { await self.thread.stop("before a write") },
      before: { await self.thread.stop("before a commit") }, after: { await self.thread.stop("after a commit") })
    let database = try store.open(SimulatedWorld.migrations, clock: thread.clock, hooks: hooks)
    var policy = GatewayPolicy()
    policy.reportUnknownAs = setting == .sleeper || setting == .undoneTooEarly ? .failure : .pending
    return EngineLife(
      number: lives, database: database, routes: RouteTable(mutant?.wiring(wire.acquirer()) ?? wire.acquirer()),
      supplies: supplies, thread: thread, sink: sink, random: random, policy: policy,
      believesWallClock: mutant?.defect == .believesWallClock)
  }

  /// Failure was reported to the shopper, and recovery has begun a reversal; while it asks about the authorization its
  /// machine stands still for longer than its lease and the bank's horizon.
  private func fallAsleep() throws {
    wire.next = [.replyLost]
    pay(0)
    thread.run(until: .seconds(30))
    thread.slumber(.seconds(5))
    wire.next = [.replyLost]
    engine?.recover { self.lookAgain(self.engine, 4) }
    thread.run(until: thread.uptime + .seconds(1))
    thread.slumber(.seconds(200))
  }

  private func lookAgain(_ engine: EngineLife?, _ times: Int) {
    guard times > 0, !choices.isFrozen else { return }
    thread.after(.milliseconds(1_500), "recovery looks") {
      engine?.recover { self.lookAgain(engine, times - 1) }
    }
  }

  private func work(on payment: Payment?) throws {
    switch setting {
    case .sameToken: for _ in 0..<2 { pay(0) }
    case .twoTokens: for token in 0..<2 { pay(token) }
    case .oneDeath: pay(0)
    case .sleeper:
      let other = try newEngine()
      thread.after(.seconds(choices.pick(5)), "another takes over") { other.recover { self.lookAgain(other, 4) } }
    case .twoCaptures:
      guard let payment else { return }
      for _ in 0..<2 { engine?.perform(.capture, payment, payment.amount.minorUnits / 3 * 2) { _ in } }
    case .oneKey:
      guard let payment else { return }
      for _ in 0..<2 { capture(underKeyOf: payment) }
    case .errorForgotten:
      wire.next = [.serverErrorAfter]
      pay(0)
    case .keyForgotten: loseCapture(of: payment)
    case .undoneTooEarly: payLate()
    case .refundFails: failRefund(of: payment)
    case .voidRefused: refuseVoid()
    case .clockSet: setClock()
    }
  }

  /// A third, so that it could be done twice; then more than a day passes.
  private func loseCapture(of payment: Payment?) {
    guard let payment else { return }
    wire.next = [.replyLost]
    engine?.perform(.capture, payment, payment.amount.minorUnits / 3) { _ in }
    thread.run(until: thread.uptime + .seconds(60))
    thread.slumber(.seconds(90_000))
  }

  /// Also a repeat of it arrives late.
  private func payLate() {
    wire.lateBy = .seconds(110)
    wire.next = [.late, .late]
    pay(0)
    for _ in 0..<3 {
      thread.after(.seconds(25), "time passes") {}
      thread.run(until: thread.uptime + .seconds(25))
      engine?.recover {}
    }
    wire.next = []
  }

  private func failRefund(of payment: Payment?) {
    guard let payment else { return }
    wire.isLater = { $0 == "refund" }
    wire.accepted = { [thread, bank] _, request in
      thread.after(.seconds(5), "the refund fails") {
        _ = bank.decide(followUp: request.reference.rawValue, approves: false)
      }
    }
    engine?.perform(.capture, payment, nil) { [self] _ in engine?.perform(.refund, payment, nil) { _ in } }
  }

  /// The hold ends meanwhile.
  private func refuseVoid() {
    bank.refuse(["void"]) {}
    thread.slumber(.seconds(86_400 * 7 + 1))
    engine?.recover {}
    thread.after(.seconds(30), "the account is corrected") { [bank] in bank.refuse([]) {} }
  }

  /// Longer after the start than the server waits for its clock to be set right.
  private func setClock() {
    thread.slumber(.seconds(1_200))
    thread.offset = .seconds(86_400 * 30)
    for _ in 0..<3 {
      engine?.recover {}
      thread.after(.seconds(30), "time passes") {}
      thread.run(until: thread.uptime + .seconds(30))
    }
    thread.offset = .zero
  }

  /// A third, so that it could be done twice.
  private func capture(underKeyOf payment: Payment) {
    let request = KeyedRequest(
      key: "key", verb: .capture, payment: payment, amount: payment.amount.minorUnits / 3)
    evidence.keyed.append(request.evidence())
    engine?.perform(request) { [self] in
      if case .answered(let answer) = $0 { evidence.keyed.append(request.evidence(answer.reply)) }
    }
  }

  private func pay(_ token: Int) {
    engine?.pay(purchase.order, purchase.tokens[token]) { [self] answer in
      evidence.calls.append(answer.call(purchase.order, "token \(token)"))
    }
  }

  private func dies(at place: String) -> Bool {
    guard mayDie, engine != nil, !choices.isFrozen, choices.chance(500) else { return false }
    mayDie = false
    return true
  }

  private func audited() throws -> [Violation] {
    let order = purchase.order
    evidence.orders = [
      PlannedOrder(
        id: order.id.rawValue, amount: order.amount.minorUnits, currency: order.amount.currency.code)
    ]
    (evidence.holds, evidence.deliveries) = (bank.evidence, sink.deliveries)
    evidence.earlyVoids = wire.earlyVoids
    let (found, seen) = (Findings(), evidence)
    let database = try store.open([], clock: thread.clock)
    Task.detached { found.evidence = try? await database.read { try seen.withJournal($0) } }
    thread.run(until: thread.uptime)
    guard let evidence = found.evidence else { throw StorageError.outcomeUnknown }
    return Auditor(evidence).violations
  }

  private final class Findings: @unchecked Sendable {
    var evidence: Evidence?
  }
}

extension Evidence {
  fileprivate func withJournal(_ store: Transaction) throws -> Evidence {
    var evidence = self
    try evidence.readJournal(store)
    return evidence
  }
}
