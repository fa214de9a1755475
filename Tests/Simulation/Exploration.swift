public import Auditing
import Acquiring
import Gateway
import Ledger
import Storage
import TenderPayments
import TenderTesting
import Webhooks

/// One order and two workers, in every order in which their steps can fall.
public struct Exploration: Sendable {
  public enum Setting: String, Sendable, CaseIterable {
    /// The same payment token twice, as a network or a finger sends it.
    case sameToken
    /// Two payment tokens for one order.
    case twoTokens
    /// A capture beside another, of a payment that is authorized.
    case twoCaptures
    /// One worker, who dies at every step there is.
    case oneDeath
  }

  public struct Outcome: Sendable {
    public let runs: Int
    /// Whether every history was tried.
    public let isComplete: Bool
    public let violations: [Violation]
  }

  public let setting: Setting
  public init(_ setting: Setting) { self.setting = setting }

  /// - Parameter limit: how many histories at most.
  public func run(with supplies: Supplies, limit: Int) throws -> Outcome {
    let choices = ScriptedChoices()
    var (runs, violations): (Int, [Violation]) = (0, [])
    repeat {
      runs += 1
      let world = try SmallWorld(setting, supplies, choices)
      violations += try world.violations()
      guard violations.count < 10 else { return Outcome(runs: runs, isComplete: false, violations: violations) }
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
  private let bank = SimulatedBank(repeatsAnswers: true, remembersReversals: true)
  private let wire: SimulatedWire
  private let sink: SimulatedSink
  private let random = RandomBytes.seeded(1)
  private var engine: EngineLife?
  private var lives = 0
  private var mayDie: Bool
  private var evidence = Evidence()
  private static let profile = BankProfile.all[0]

  init(_ setting: Exploration.Setting, _ supplies: Supplies, _ choices: ScriptedChoices) throws {
    (self.setting, self.supplies, self.choices) = (setting, supplies, choices)
    choices.isFrozen = true
    mayDie = setting == .oneDeath
    thread = SimulatedThread(start: Supplies.start, choices: choices)
    thread.takeJobs()
    store = try MemoryStore()
    wire = SimulatedWire(thread, bank, Self.profile.capabilities, fates: [.replyLost])
    sink = SimulatedSink(thread)
    thread.dies = { [unowned self] place in dies(at: place) }
    thread.death = { [unowned self] _ in
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
    if setting == .twoCaptures {
      engine?.pay(purchase.order, purchase.tokens[0]) { if case .payment(let paid) = $0 { payment = paid } }
      thread.run(until: .seconds(30))
    }
    choices.isFrozen = false
    wire.trouble = setting == .twoTokens ? 0 : 500
    work(on: payment)
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
    return try judged()
  }

  private func start() throws {
    lives += 1
    (wire.life, sink.life) = (lives, lives)
    let hooks = CommitHooks(
      reading: { await self.thread.stop("before a read") }, before: { await self.thread.stop("before a commit") },
      after: { await self.thread.stop("after a commit") })
    let database = try store.open(Journal.migrations + WebhookCourier.migrations, clock: thread.clock, hooks: hooks)
    engine = EngineLife(
      number: lives, database: database, wire: wire.acquirer, supplies: supplies, thread: thread, sink: sink,
      random: random, profile: Self.profile, policy: GatewayPolicy())
  }

  private func work(on payment: Payment?) {
    switch setting {
    case .sameToken: for _ in 0..<2 { pay(0) }
    case .twoTokens: for token in 0..<2 { pay(token) }
    case .oneDeath: pay(0)
    case .twoCaptures:
      guard let payment else { return }
      for _ in 0..<2 { engine?.act(.capture, payment, payment.amount.minorUnits / 3 * 2) { _ in } }
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

  private func judged() throws -> [Violation] {
    let order = purchase.order
    evidence.orders = [
      PlannedOrder(
        id: order.id.rawValue, amount: order.amount.minorUnits, currency: order.amount.currency.code)
    ]
    (evidence.holds, evidence.deliveries) = (bank.evidence, sink.deliveries)
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
