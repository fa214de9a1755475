import Acquiring
public import Auditing
import Foundation
import Gateway
import Ledger
import Storage
import TenderPayments
import TenderTesting
import Webhooks

/// What is to be simulated.
public struct Simulation: Sendable {
  public var seed: UInt64
  /// A defect that is planted, by name; nil for the engine as it is.
  public var mutant: Mutant?
  public var keepsTrace = false

  public init(seed: UInt64, mutant: Mutant? = nil) {
    self.seed = seed
    self.mutant = mutant
  }

  /// What came of it.
  public struct Outcome: Sendable {
    public let violations: [Violation]
    public let trace: UInt64
    public let steps: Int
    public let coverage: Coverage
    public let lines: [String]
    /// How many payments, calls heard, deaths: to see that something happened at all.
    public let payments: Int
  }

  /// Runs it on this thread, from the first order until nothing is left to settle.
  public func run(with supplies: Supplies) throws -> Outcome {
    let world = try SimulatedWorld(self, supplies)
    return try world.outcome()
  }
}

/// How the bank of a simulation behaves, and what its connector states.
struct BankProfile {
  let capabilities: AcquirerCapabilities
  let repeatsAnswers: Bool
  let remembersReversals: Bool
  /// Whether the store's clock may jump ahead of the wire: only where late requests do no harm.
  let bearsJumps: Bool

  static let all: [BankProfile] = [false, true].flatMap { sealed in
    [
      profile(sealed, repeats: true, inquiry: true, reversal: true, jumps: true),
      profile(sealed, repeats: false, inquiry: true, reversal: true, jumps: false),
      profile(sealed, repeats: false, inquiry: true, reversal: false, jumps: false),
      profile(sealed, repeats: true, inquiry: false, reversal: true, jumps: true),
    ]
  }

  /// It neither reverses nor repeats its answers: an undoing has to find the hold and void it, once.
  static let withoutReversal = profile(false, repeats: false, inquiry: true, reversal: false, jumps: false)

  private static func profile(
    _ sealed: Bool, repeats: Bool, inquiry: Bool, reversal: Bool, jumps: Bool
  ) -> BankProfile {
    BankProfile(
      capabilities: AcquirerCapabilities(
        name: "simulated", instruments: [sealed ? .sealed : .network],
        idempotency: repeats ? .reference(window: .seconds(86_400 * 30)) : .none,
        inquiry: inquiry, reversal: reversal, settleHorizon: .seconds(120), holdLifetime: .seconds(86_400 * 7)),
      repeatsAnswers: repeats, remembersReversals: reversal, bearsJumps: jumps)
  }
}

/// Shoppers, a merchant, a bank, a merchant's server, and in their middle the engine, which dies and comes back.
final class SimulatedWorld: @unchecked Sendable {
  private let settings: Simulation
  private let supplies: Supplies
  private let thread: SimulatedThread
  private let store: MemoryStore
  private let bank: SimulatedBank
  private let wire: SimulatedWire
  private let profile: BankProfile
  private let sink: SimulatedSink
  private let random: RandomBytes
  private var engine: EngineLife?
  private var lives = 0
  private var evidence = Evidence()
  private var coverage = Coverage()
  private var faults = true
  private var deadliness: Int
  /// What the store was told to commit in the transaction under way, and whether the process dies in it.
  private var tearing = false
  private var tables: Set<String> = []
  private var ownEvents = 0
  private var latestOffset: Duration = .zero

  /// How long things go wrong.
  private static let storm: Duration = .seconds(400)

  init(_ settings: Simulation, _ supplies: Supplies) throws {
    (self.settings, self.supplies) = (settings, supplies)
    let choices = SeededChoices(seed: settings.seed)
    profile = BankProfile.all[choices.pick(BankProfile.all.count)]
    thread = SimulatedThread(start: Supplies.start, choices: choices)
    thread.takeJobs()
    if settings.keepsTrace { thread.keepTrace() }
    bank = SimulatedBank(
      repeatsAnswers: profile.repeatsAnswers, remembersReversals: profile.remembersReversals,
      refusesUsedTokens: !profile.capabilities.instruments.contains(.sealed))
    wire = SimulatedWire(thread, bank, profile.capabilities)
    wire.trouble = [0, 80, 200, 400][choices.pick(4)]
    deadliness = [0, 2, 6, 15][choices.pick(4)]
    random = .seeded(settings.seed)
    let plain: @Sendable (String) -> String = { $0 }
    store = try MemoryStore(dialect: settings.mutant?.dialect ?? plain)
    sink = SimulatedSink(thread)
    sink.trouble = [0, 100, 300][choices.pick(3)]
    evidence.orders = supplies.purchases.map {
      PlannedOrder(
        id: $0.order.id.rawValue, amount: $0.order.amount.minorUnits, currency: $0.order.amount.currency.code)
    }
    connect()
  }

  private func connect() {
    let verdicts: [SimulatedBank.Verdict] = supplies.purchases.map { _ in
      switch thread.choices.pick(10) {
      case 0, 1: .decline
      case 2: .later(approves: true)
      case 3: .later(approves: false)
      default: .approve
      }
    }
    wire.verdict = { order in verdicts[Int(order.suffix(1)) ?? 0] }
    wire.met = { self.coverage.fates[$0.rawValue, default: 0] += 1 }
    wire.waits = { request in self.decideLater(request, self.wire.verdict(request.merchantReference)) }
    let answersLater = profile.capabilities.instruments.contains(.sealed)
    wire.isLater = { answersLater && self.faults && self.thread.choices.chance(250) }
    wire.accepted = { request in self.decideLater(request) }
    wire.moved = { kind, request in
      guard self.faults, self.thread.choices.chance(60) else { return }
      self.takeBackLater(kind, request)
    }
    thread.dies = { place in self.dies(at: place) }
    thread.death = { place in self.buried(at: place) }
  }

  func outcome() throws -> Simulation.Outcome {
    try start()
    for index in supplies.purchases.indices { shop(index) }
    if profile.bearsJumps, thread.choices.chance(300) { jumpClocks() }
    thread.run(until: Self.storm)
    calm()
    thread.run(until: Self.storm + .seconds(3_600))
    if thread.choices.chance(250) {
      thread.offset += .seconds(86_400 * 9)
      thread.run(until: Self.storm + .seconds(7_200))
    }
    return try judged()
  }
}

// The engine's life and death.
extension SimulatedWorld {
  private func start() throws {
    lives += 1
    wire.life = lives
    let life = lives
    let hooks = CommitHooks(
      reading: { await self.thread.stop("before a read") },
      before: {
        await self.thread.stop("before a commit")
        self.tearing = self.faults && self.deadliness > 0 && self.thread.choices.chance(self.deadliness)
      },
      inside: { tables in
        self.tables = tables
        if self.tearing { throw Torn() }
        if self.settings.mutant?.forgets == true, self.faults, self.thread.choices.chance(20) {
          self.thread.after(self.thread.choices.milliseconds(50...1_500), "the power fails") {
            self.kill("waiting", life)
          }
          throw CommitHooks.Forgotten()
        }
      },
      after: {
        let name = self.tables.sorted().joined(separator: " ")
        if self.tearing {
          self.tearing = false
          self.thread.after(.zero, "torn") { self.kill(name.isEmpty ? "waiting" : "before \(name)", life) }
          await self.thread.stop("torn")
        }
        self.tables = []
        if !name.isEmpty { await self.thread.stop("after \(name)") }
      })
    let database = try store.open(Journal.migrations + WebhookCourier.migrations, clock: thread.clock, hooks: hooks)
    engine = EngineLife(
      number: life, database: database, wire: settings.mutant?.wiring(wire.acquirer) ?? wire.acquirer,
      supplies: supplies, thread: thread, sink: sink, random: random, profile: profile, policy: policy)
    work(life)
  }

  /// In one of four simulations the shopper is told *failure* while nobody knows.
  private var policy: GatewayPolicy {
    var policy = GatewayPolicy()
    policy.tellsUnknownAs = settings.seed.isMultiple(of: 4) ? .failure : .pending
    return policy
  }

  private struct Torn: Error {}

  private func dies(at place: String) -> Bool {
    guard engine != nil, faults, deadliness > 0, place != "torn" else { return false }
    // While nothing runs, a death means little; most of them are spent where something is half done.
    guard place != "waiting" || thread.choices.chance(100) else { return false }
    return thread.choices.chance(deadliness)
  }

  private func kill(_ place: String, _ life: Int) {
    guard life == lives, engine != nil else { return }
    thread.note("dies at \(place)")
    thread.forgetEverybody()
    buried(at: place)
  }

  private func buried(at place: String) {
    coverage.deaths[place == "before a commit" ? "waiting" : place, default: 0] += 1
    engine = nil
    lives += 1
    wire.life = lives
    sink.life = lives
    (tearing, tables) = (false, [])
    thread.after(thread.choices.milliseconds(100...8_000), "starts again") { [self] in try? start() }
  }

  /// Recovery and the courier, as long as this life lasts.
  private func work(_ life: Int) {
    guard let engine, engine.number == life else { return }
    sink.life = life
    let pause = faults ? 200...2_500 : 20_000...120_000
    thread.after(thread.choices.milliseconds(pause), "recovery looks") { [self] in
      guard let engine = self.engine, engine.number == life else { return }
      engine.recover { self.work(life) }
    }
    if !engine.isDelivering {
      thread.after(thread.choices.milliseconds(pause), "the courier looks") { [self] in
        guard let engine = self.engine, engine.number == life else { return }
        engine.deliver()
      }
    }
  }

  /// The faults stop; the store's clock is right again, and never goes back behind what it once said.
  private func calm() {
    faults = false
    thread.offset = max(thread.offset, latestOffset)
    (wire.trouble, sink.trouble) = (0, 0)
    if engine == nil { try? start() }
  }

  /// The store's clock is set, ahead or back, while everything goes on.
  private func jumpClocks() {
    for _ in 0..<3 {
      thread.after(thread.choices.milliseconds(1_000...300_000), "the clock jumps") { [self] in
        thread.offset += .seconds([-3_600, 3_600, 400, -30][thread.choices.pick(4)])
        latestOffset = max(latestOffset, thread.offset)
      }
    }
  }
}

// The bank's second thoughts.
extension SimulatedWorld {
  private func decideLater(_ request: AuthorizationRequest, _ verdict: SimulatedBank.Verdict) {
    guard case .later(let approves) = verdict else { return }
    let reference = request.reference.rawValue
    thread.after(thread.choices.milliseconds(500...200_000), "the bank decides") { [self] in
      guard let answer = bank.decide(reference, approves: approves) else { return }
      tell(ProviderEvent(answer, reference, request.amount, newEvent()), patience: 3)
    }
  }

  /// A provider that takes sealed tokens accepts a capture or refund first, and decides later.
  private func decideLater(_ request: FollowUpRequest) {
    let (reference, approves) = (request.reference.rawValue, !thread.choices.chance(300))
    thread.after(thread.choices.milliseconds(500...100_000), "the bank decides a follow-up") { [self] in
      guard let answer = bank.decide(followUp: reference, approves: approves) else { return }
      tell(ProviderEvent(answer, reference, request.amount, newEvent()), patience: 3)
    }
  }

  private func takeBackLater(_ kind: String, _ request: FollowUpRequest) {
    thread.after(thread.choices.milliseconds(20_000...300_000), "the bank thinks again") { [self] in
      guard
        let authorization = bank.evidence.first(where: { bank.name(of: $0.reference) == request.authorization }),
        takesBack(kind, request, authorization)
      else { return }
      let refusal = AcquirerAnswer.declined(Decline(reason: .other, code: "93"))
      tell(ProviderEvent(refusal, request.reference.rawValue, request.amount, newEvent()), patience: .max)
    }
  }

  private func takesBack(_ kind: String, _ request: FollowUpRequest, _ authorization: AcquirerHold) -> Bool {
    let (reference, amount) = (request.reference.rawValue, request.amount.minorUnits)
    guard kind == "capture" else {
      return bank.takeBack(refund: reference, of: authorization.reference, amount)
    }
    return authorization.refunded == 0
      && bank.takeBack(capture: reference, of: authorization.reference, amount)
  }

  private func newEvent() -> String {
    ownEvents += 1
    return "event-\(ownEvents)"
  }

  /// Sends an event until it is thanked for; sometimes twice, and not for ever.
  private func tell(_ event: ProviderEvent?, patience: Int) {
    guard let event, patience > 0 else { return }
    let again = { [self] in
      thread.after(thread.choices.milliseconds(1_000...20_000), "the event comes again") {
        self.tell(event, patience: patience - 1)
      }
    }
    guard let engine, !(faults && patience < 10 && thread.choices.chance(300)) else { return again() }
    var thanked = false
    engine.receive(event) { thanked = true }
    thread.after(.seconds(15), "the provider waits no longer") { if !thanked { again() } }
    if faults, thread.choices.chance(200) { engine.receive(event) {} }
  }
}

// Shoppers and merchants.
extension SimulatedWorld {
  private func shop(_ index: Int) {
    let purchase = supplies.purchases[index]
    thread.after(thread.choices.milliseconds(0...60_000), "a shopper pays") { [self] in
      pay(purchase, token: 0, tries: 0)
      // An impatient finger, or a network that sends twice.
      if thread.choices.chance(300) { pay(purchase, token: 0, tries: 4) }
    }
  }

  private func pay(_ purchase: Supplies.Purchase, token: Int, tries: Int) {
    guard tries < 7, token < purchase.tokens.count else { return }
    let name = "\(purchase.order.id) with token \(token)"
    func again(_ token: Int, _ wait: ClosedRange<Int>) {
      thread.after(thread.choices.milliseconds(wait), "\(name) again") {
        self.pay(purchase, token: token, tries: tries + 1)
      }
    }
    guard let engine else { return again(token, 1_000...5_000) }
    var heard = false
    let isLost = faults && thread.choices.chance(80)
    engine.pay(purchase.order, purchase.tokens[token]) { [self] answer in
      guard !isLost else { return }
      heard = true
      thread.note("\(name): \(answer)")
      evidence.calls.append(answer.call(purchase.order, "token \(token)"))
      switch answer {
      case .payment(let payment) where payment.isGood: if tries < 4 { sell(payment) }
      case .payment(let payment) where payment.told == .failure: again(token + 1, 500...20_000)
      case .payment, .refused("payment_in_progress"): again(token, 2_000...30_000)
      case .refused: if thread.choices.chance(500) { again(token + 1, 500...20_000) }
      }
    }
    thread.after(.seconds(31), "\(name) waits no longer") { if !heard { again(token, 100...5_000) } }
  }

  /// What a merchant does with a payment, some of it at once and twice.
  private func sell(_ payment: Payment) {
    for number in 0..<thread.choices.pick(5) {
      thread.after(thread.choices.milliseconds(1_000...200_000), "the merchant acts") { [self] in
        act(payment, "\(payment.id) \(number)")
        if thread.choices.chance(200) { act(payment, "\(payment.id) \(number) again") }
      }
    }
  }

  private func act(_ payment: Payment, _ key: String) {
    guard let engine else { return }
    let part = Int64(thread.choices.pick(4) + 1)
    let amount = thread.choices.chance(400) ? nil : max(1, payment.amount.minorUnits / part)
    let verbs: [EngineLife.Verb] = [.capture, .capture, .finalCapture, .void, .refund, .refund]
    let verb = verbs[thread.choices.pick(verbs.count)]
    engine.act(verb, payment, amount) { [self] answer in
      thread.note("\(verb) \(answer)")
      evidence.calls.append(answer.call(payment, key))
    }
  }
}

// The verdict.
extension SimulatedWorld {
  private func judged() throws -> Simulation.Outcome {
    let database = try store.open([], clock: thread.clock)
    let (secrets, seen) = (supplies.secrets, evidence)
    let journal = Journal(database)
    let findings = Findings()
    Task.detached {
      findings.audit = try? await journal.verifyAudit()
      findings.journal = try? await database.read { store in
        var evidence = seen
        try evidence.readJournal(store)
        evidence.leaks = try store.leaks(of: secrets)
        return (evidence, try store.events())
      }
    }
    thread.run(until: thread.uptime)
    guard let audit = findings.audit, let (read, events) = findings.journal else { throw StorageError.outcomeUnknown }
    var evidence = read
    evidence.chain = audit.violations
    evidence.holds = bank.evidence
    evidence.deliveries = sink.deliveries
    coverage.events = events
    return Simulation.Outcome(
      violations: Auditor(evidence).violations, trace: thread.trace.hash, steps: thread.trace.steps,
      coverage: coverage, lines: thread.trace.lines, payments: evidence.payments.count)
  }
}

/// What was read of the store when all was over.
private final class Findings: @unchecked Sendable {
  var audit: AuditReport?
  var journal: (Evidence, [String: Int])?
}

extension Transaction {
  /// Where secrets stand: every text of every table is looked at.
  fileprivate func leaks(of secrets: [String]) throws -> [String] {
    let tables = try rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'migrations'")
    return try tables.map { try $0.text("name") }.filter { table in
      let text = Data(try rows("SELECT * FROM \(table)").map { "\($0)" }.joined().utf8)
      return secrets.contains { text.range(of: Data($0.utf8)) != nil }
    }
  }

  fileprivate func events() throws -> [String: Int] {
    try rows("SELECT status_before, event, count(*) AS n FROM audit WHERE status_before <> '' GROUP BY 1, 2").reduce(
      into: [:]
    ) {
      $0["\(try $1.text("status_before")), \(try $1.text("event"))"] = Int(try $1.integer("n"))
    }
  }
}

extension ProviderEvent {
  fileprivate init?(_ answer: AcquirerAnswer, _ reference: String, _ amount: Amount, _ id: String) {
    let outcome: Outcome
    switch answer {
    case .approved(let approval): outcome = .approved(approval)
    case .declined(let decline): outcome = .declined(decline)
    default: return nil
    }
    self.init(
      connector: "simulated", id: id, reference: AttemptReference(reference), amount: amount, outcome: outcome)
  }
}

extension Payment {
  /// Whether the shopper has been told that it is paid.
  fileprivate var isGood: Bool { authorized > 0 && status.isLive && status.isSettled }
}

extension EngineLife.Answer {
  func call(_ order: Order, _ key: String) -> ClientCall {
    switch self {
    case .refused: ClientCall(order: order.id.rawValue, key: key, heard: .refused, payment: nil)
    case .payment(let payment):
      ClientCall(order: order.id.rawValue, key: key, heard: payment.heard, payment: payment.id.rawValue)
    }
  }

  /// What a merchant heard of a capture, a void or a refund; only the balances count.
  fileprivate func call(_ payment: Payment, _ key: String) -> ClientCall {
    guard case .payment(let after) = self, after.isGood else {
      return ClientCall(order: payment.order.rawValue, key: key, heard: .refused, payment: nil)
    }
    return ClientCall(
      order: payment.order.rawValue, key: key, heard: .success, payment: payment.id.rawValue,
      captured: after.captured, refunded: after.refunded)
  }
}

extension Payment {
  fileprivate var heard: ClientCall.Heard {
    // What was paid and let go by the merchant later was a success to the shopper.
    if told == .failure || !status.isLive && told != .success { return .failure }
    return status.isSettled ? .success : .pending
  }
}
