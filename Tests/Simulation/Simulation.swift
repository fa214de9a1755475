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

/// Shoppers, a merchant, a bank, a merchant's server, and in their middle the engine, which dies and comes back.
final class SimulatedWorld: @unchecked Sendable {
  let settings: Simulation
  let supplies: Supplies
  let thread: SimulatedThread
  let store: MemoryStore
  let bank: SimulatedBank
  private let wire: SimulatedWire
  let profile: BankProfile
  let sink: SimulatedSink
  private let random: RandomBytes
  var engine: EngineLife?
  private var lives = 0
  var evidence = Evidence()
  var coverage = Coverage()
  var faults = true
  private var deadliness: Int
  /// What the store was told to commit in the transaction under way, and whether the process dies in it.
  private var tearing = false
  private var tables: Set<String> = []
  var ownEvents = 0
  var keyedRequests: [KeyedRequest] = []
  /// What merchants work with.
  var sold: [Payment] = []
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
    callAgain()
    thread.run(until: Self.storm + .seconds(4_500))
    if thread.choices.chance(250) {
      thread.offset += .seconds(86_400 * 9)
      if thread.choices.chance(700) { bank.expireHolds() }
      actLate()
      thread.run(until: Self.storm + .seconds(7_200))
      callAgain()
      thread.run(until: Self.storm + .seconds(8_100))
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
