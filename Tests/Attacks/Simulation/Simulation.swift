import Acquiring
package import Auditing
import Foundation
import Gateway
import Ledger
import Orders
import PlatformAPI
import Storage
import TenderPayments
import TenderTesting
import Webhooks

/// What is to be simulated.
package struct Simulation: Sendable {
  package var seed: UInt64
  /// The mutant, by name; nil for the engine as it is.
  package var mutant: Mutant?
  package var keepsTrace = false
  /// The kind of bank, as coverage names it; nil for the one that the seed chooses. Other names are left out.
  package var profile: String?
  /// Whether two or three processes share one database; else one has a store of its own.
  package var hasNodes = false

  package init(seed: UInt64, mutant: Mutant? = nil, hasNodes: Bool = false) {
    self.seed = seed
    self.mutant = mutant
    self.hasNodes = hasNodes
  }

  /// What came of it.
  package struct Outcome: Sendable {
    package let violations: [Violation]
    package let trace: UInt64
    package let steps: Int
    package let coverage: Coverage
    package let lines: [String]
    /// How many payments, answered calls and crashes: to see that something happened at all.
    package let payments: Int
  }

  /// Runs it on this thread, from the first order until nothing is open.
  package func run(with supplies: Supplies) throws -> Outcome {
    let world = try SimulatedWorld(self, supplies)
    // The tasks of a process that died are never resumed, and keep what they hold.
    defer { world.nodes?.store.close() }
    return try world.outcome()
  }
}

/// Shoppers, a merchant, a bank, a merchant's server, and in their middle the engine, which dies and comes back.
final class SimulatedWorld: @unchecked Sendable {
  let settings: Simulation
  let supplies: Supplies
  let thread: SimulatedThread
  /// Nil where several processes share one.
  private let store: MemoryStore?
  let nodes: SimulatedNodes?
  /// The acquirer of the beginning, and one that may be configured in its place.
  let acquirers: [SimulatedAcquirer]
  /// Which of them is configured.
  private(set) var configured = 0
  let hazards: Hazards
  /// Whether both acquirers are configured; else one of them.
  let hasTwoRoutes: Bool
  /// The merchant's rules; none for the order of the configuration.
  private let routing: Routing
  private let hasBreakers: Bool
  let sink: SimulatedSink
  let random: RandomBytes
  /// The processes that work on the store; as a rule one, and none while it is dead.
  var engines: [EngineLife] = []
  /// Counts the deaths: what was asked for before the last one has no answer.
  private var lives = 0
  var evidence = Evidence()
  var coverage = Coverage()
  var faults = true
  private var deadliness: Int
  /// What the transaction under way commits, by write, and whether the process dies in it.
  private var tearing = false
  private var writes: [String] = []
  /// Whether the store refuses writes.
  var isDiskFull = false
  /// Whether the contract allows nothing that follows an authorization, until an operator has it corrected.
  var areFollowUpsRefused = false
  var ownEvents = 0
  var keyedRequests: [KeyedRequest] = []
  /// By basket, the quote that a shopper saw.
  var quotes: [BasketID: QuoteID] = [:]
  /// What merchants work with.
  var sold: [Payment] = []
  /// The orders whose payments began agreements that are charged.
  var subscribed: Set<OrderID> = []
  var charges: [ChargeRequest] = []
  /// Of which agreements the merchant's server knows that they have ended.
  var ended: Set<OrderID> = []
  /// The orders whose merchant tokens Apple may unlink, by the first payments of their agreements.
  var unlinkable: [PaymentID: OrderID] = [:]
  /// Of which of them Apple's notification was followed.
  var unlinked: Set<OrderID> = []
  /// Of which agreements it knows that their card must never be tried again.
  var stopped: Set<OrderID> = []
  private var latestOffset: Duration = .zero
  private(set) var clockWasSet = false

  /// How long things go wrong.
  private static let storm: Duration = .seconds(400)

  init(_ settings: Simulation, _ supplies: Supplies) throws {
    (self.settings, self.supplies) = (settings, supplies)
    let choices = SeededChoices(seed: settings.seed)
    hasTwoRoutes = choices.chance(300)
    routing = hasTwoRoutes ? Routing.allCases[choices.pick(Routing.allCases.count)] : .byConfiguration
    hasBreakers = hasTwoRoutes && choices.chance(500)
    let profiles = Self.profiles(choices, hasTwoRoutes, only: settings.profile)
    hazards = Hazards(choices, bearsJumps: profiles.allSatisfy(\.bearsJumps))
    thread = SimulatedThread(start: Supplies.start, choices: choices)
    thread.takeJobs()
    if settings.keepsTrace { thread.keepTrace() }
    let thread = thread
    acquirers = profiles.enumerated().map { SimulatedAcquirer($0.offset, $0.element, thread) }
    let trouble = [0, 80, 200, 400][choices.pick(4)]
    for acquirer in acquirers { acquirer.wire.trouble = trouble }
    deadliness = [0, 2, 6, 15][choices.pick(4)]
    random = .seeded(settings.seed)
    let plain: @Sendable (String) -> String = { $0 }
    store = settings.hasNodes ? nil : try MemoryStore(dialect: settings.mutant?.dialect ?? plain)
    nodes = settings.hasNodes ? try SimulatedNodes(settings, Self.migrations, thread) : nil
    sink = SimulatedSink(thread)
    sink.trouble = [0, 100, 300][choices.pick(3)]
    evidence.orders = supplies.purchases.map {
      PlannedOrder(
        id: $0.order.id.rawValue, amount: $0.order.amount.minorUnits, currency: $0.order.amount.currency.code)
    }
    evidence.unaskable = Set(acquirers.filter(\.profile.isUnaskable).map(\.route))
    note(profiles)
    connect()
  }

  /// Two routes are of two kinds as a rule; without a second route the other acquirer is one of the same kind.
  private static func profiles(_ choices: Choices, _ hasTwoRoutes: Bool, only kind: String?) -> [BankProfile] {
    let every = hasTwoRoutes ? BankProfile.network : BankProfile.all
    let wanted = every.filter { kind == nil || $0.conduct.rawValue == kind }
    let all = wanted.isEmpty ? every : wanted
    let first = all[choices.pick(all.count)]
    return [first, hasTwoRoutes ? all[choices.pick(all.count)] : first]
  }

  private func note(_ profiles: [BankProfile]) {
    let names = profiles.map { $0.conduct.rawValue + ($0.isSealed ? ", sealed" : "") }
    coverage.profiles[hasTwoRoutes ? "two routes" : names[0], default: 0] += 1
    if hasTwoRoutes { coverage.profiles["\(routing.rawValue)\(hasBreakers ? ", with breakers" : "")", default: 0] += 1 }
  }

  /// One of the processes; nil while there is none.
  var engine: EngineLife? { engines.isEmpty ? nil : engines[thread.choices.pick(engines.count)] }

  private func connect() {
    let verdicts: [SimulatedBank.Verdict] = supplies.purchases.map { _ in
      switch thread.choices.pick(10) {
      case 0, 1: .decline
      case 2: .later(approves: true)
      case 3: .later(approves: false)
      default: .approve
      }
    }
    for acquirer in acquirers { connect(acquirer, verdicts) }
    thread.dies = { place, _ in self.dies(at: place) }
    thread.death = { place, process in
      guard self.nodes == nil else { return self.bury(process, at: place) }
      self.thread.forgetEverybody()
      self.buried(at: place)
    }
    if nodes != nil { connectNodes() }
  }

  private func connect(_ acquirer: SimulatedAcquirer, _ verdicts: [SimulatedBank.Verdict]) {
    let (wire, choices) = (acquirer.wire, thread.choices)
    wire.verdict = { order in
      order.namesCharge ? self.verdict(ofCharge: order) : verdicts[Int(order.suffix(1)) ?? 0]
    }
    wire.met = { self.coverage.fates[$0.rawValue, default: 0] += 1 }
    wire.waits = { [unowned acquirer] request in
      self.decideLater(request, acquirer.wire.verdict(request.merchantReference), acquirer)
    }
    let (conduct, isSealed) = (acquirer.profile.conduct, acquirer.profile.isSealed)
    wire.isLater = { kind in
      let share = conduct.acceptsFirst(kind, isSealed: isSealed)
      return share == 1_000 || share > 0 && self.faults && choices.chance(share)
    }
    wire.did = { self.coverage.profiles[$0.rawValue, default: 0] += 1 }
    wire.decided = { [unowned acquirer] in self.announce($0, $1, acquirer) }
    wire.cancelled = { [unowned acquirer] in self.decideLater($0, cancel: $1, acquirer) }
    wire.accepted = { [unowned acquirer] kind, request in self.decideLater(kind, request, acquirer) }
    wire.moved = { [unowned acquirer] kind, request in
      if conduct.announcesOperations { self.announce(request, acquirer) }
      guard conduct.takesBack(kind), self.faults, choices.chance(60) else { return }
      self.takeBackLater(kind, request, wasAccepted: false, acquirer)
    }
    if hazards.includes(.declinedForNow) {
      wire.isDeclinedForNow = {
        guard self.faults, choices.chance(300) else { return false }
        self.met(.declinedForNow)
        return true
      }
    }
    if hazards.includes(.approvedForLess) {
      wire.isForLess = {
        guard choices.chance(400) else { return false }
        self.met(.approvedForLess)
        return true
      }
    }
    // What arrives too late and is told by no event, nobody can find out.
    wire.hasLateArrivals = hazards.includes(.afterHorizon) && conduct.sendsEvents
    wire.arrivedLate = { [unowned acquirer] reference, amount, answer in
      self.met(.afterHorizon)
      // A call that was refused for now decided nothing, and no event says so.
      guard acquirer.bank.inquire(reference) == .answer(answer) else { return }
      self.tell(answer, reference, amount, timeout: .max, acquirer)
    }
  }

  func outcome() throws -> Simulation.Outcome {
    try start()
    withoutDeaths(openSheets)
    for index in supplies.purchases.indices { shop(index) }
    if acquirers.allSatisfy(\.profile.bearsJumps), thread.choices.chance(300) { jumpClocks() }
    planHazards()
    thread.run(until: Self.storm)
    calm()
    settle(for: .seconds(3_600))
    callAgain()
    thread.run(until: thread.uptime + .seconds(300))
    replayDeadLetters()
    settle(for: .seconds(900))
    outlastRememberedErrors()
    // Where captures are refused for good, or an event was lost, operations stay open until an alarm is raised after a
    // day.
    let staysOpen = hazards.includes(.capturesRefused) || !evidence.unaskable.isEmpty
    if staysOpen || thread.choices.chance(250) {
      noteOutlivedKeys()
      noteLostHolds()
      thread.slumber(.seconds(86_400 * 9))
      let isInTime = thread.choices.chance(700)
      // What a bank cannot release in part ends by itself.
      for acquirer in acquirers where isInTime || !acquirer.wire.capabilities.parts.contains(.void) {
        if !acquirer.profile.conduct.holdsForWeeks { expireHolds(of: acquirer) }
      }
      actLate()
      // Long enough for a process that starts in the middle to wait its quarter of an hour and to try twice.
      settle(for: .seconds(4_500))
      areFollowUpsRefused = false
      correct()
      settle(for: .seconds(4_500))
      callAgain()
      thread.run(until: thread.uptime + .seconds(900))
      outlastRepeats()
      if !evidence.unaskable.isEmpty { waitForPeople() }
    }
    finish()
    return try audited()
  }

  /// What has begun just now ends: a call that was refused while another operation was open begins its own at a repeat, a
  /// capture that is due again is accepted first, its event arrives. What does not end in all this time is stuck.
  private func finish() {
    for _ in 0..<6 where hasOpenKeys || acquirers.contains(where: \.bank.isDeciding) || hasNews {
      callAgain()
      thread.run(until: thread.uptime + .seconds(300))
    }
  }

  /// Whether the merchant has not been told everything.
  private var hasNews: Bool {
    guard let database = try? database() else { return false }
    let found = Found()
    Task.detached { found.row = (try? await database.read { try $0.row(Self.waitingNews) }) ?? nil }
    thread.run(until: thread.uptime)
    return found.row != nil
  }

  private final class Found: @unchecked Sendable { var row: Row? }

  private static let waitingNews = """
    SELECT payment FROM outbox WHERE delivered_at IS NULL
    UNION ALL SELECT payment FROM webhook_deliveries WHERE state = 'waiting' LIMIT 1
    """

  /// A bank that repeats its own error under a key does so for a day. What is not done and cannot be told from what is,
  /// such as a void, is done by a repeat afterwards.
  private func outlastRememberedErrors() {
    guard acquirers.contains(where: \.bank.remembersErrors) else { return }
    noteOutlivedKeys(within: .seconds(90_000))
    thread.slumber(.seconds(90_000))
    settle(for: .seconds(1_200))
  }

  /// A late capture that is refused for good, and whose refusal was lost because its process was stopped beyond its lease, is
  /// repeated as long as the bank would know it again.
  private func outlastRepeats() {
    guard hazards.includes(.capturesRefused), hasOpenKeys || acquirers.contains(where: \.bank.remembersErrors) else {
      return
    }
    noteOutlivedKeys(within: .seconds(90_000))
    thread.slumber(.seconds(90_000))
    settle(for: .seconds(1_200))
    callAgain()
    thread.run(until: thread.uptime + .seconds(900))
  }

  /// Lets so much time pass; with each of the acquirers if both have payments.
  func settle(for duration: Duration) {
    let end = thread.uptime + duration
    if hazards.includes(.connectorChanged), !hasTwoRoutes {
      restart(with: 1)
      thread.run(until: thread.uptime + duration / 2)
      restart(with: 0)
    }
    thread.run(until: end)
  }
}

// What is configured.
extension SimulatedWorld {
  /// By what the merchant's rules choose a route.
  enum Routing: String, CaseIterable {
    case byConfiguration = "two routes in the order of the configuration"
    case byCurrency = "two routes by currency"
    case byAmount = "two routes by amount"
  }

  /// The routes of a process that starts now. A new default changes nothing for the payments that are open.
  func routes(of process: SimulatedProcess? = nil) -> RouteTable {
    let inOrder = configured == 0 ? acquirers : acquirers.reversed()
    let chosen = hasTwoRoutes ? inOrder : [inOrder[0]]
    let wired = chosen.map { acquirer in
      let wire = acquirer.wire.acquirer(of: process)
      return guarded(settings.mutant?.wiring(wire) ?? wire, in: process)
    }
    let mutated = settings.mutant?.routing(wired) ?? wired
    let tokens = supplies.purchases[0].tokens[0]
    return RouteTable(
      zip(chosen, mutated).map { $0.configured(as: $1, for: tokens) }, rules: rules(chosen.map(\.route)))
  }

  private func guarded(_ acquirer: Acquirer, in process: SimulatedProcess?) -> Acquirer {
    hasBreakers ? acquirer.guarded(by: CircuitBreaker(on: thread.scheduler(of: process))) : acquirer
  }

  private func rules(_ routes: [String]) -> [MerchantID: [RouteRule]] {
    let first: String? =
      switch routing {
      case .byConfiguration: nil
      case .byCurrency: "\(acquirers[1].route) currency=JPY"
      case .byAmount: "\(acquirers[1].route) currency=EUR amount=15.00-999.99"
      }
    guard let first else { return [:] }
    return [supplies.purchases[0].order.merchant: ([first] + routes).compactMap { try? RouteRule($0) }]
  }
}

// The engine's life and death.
extension SimulatedWorld {
  private func start() throws {
    guard nodes == nil else { return startNodes() }
    lives += 1
    for acquirer in acquirers { acquirer.wire.life = lives }
    sink.life = lives
    engines = []
    try startAnother()
  }

  static let migrations =
    Journal.migrations + OrderService.migrations + WebhookDispatcher.migrations + PlatformOrder.migrations

  /// Starts a process on the store, beside those that run.
  private func startAnother() throws {
    guard let store else { return }
    let life = lives
    let hooks = CommitHooks(
      reading: { await self.thread.stop("before a read") },
      writing: { await self.thread.stop("before a write") },
      before: {
        await self.thread.stop("before a commit")
        self.tearing = self.mayDie && self.thread.choices.chance(self.deadliness)
      },
      inside: { try self.commit($0, life) }, after: { await self.committed(life) })
    let database = try store.open(Self.migrations, clock: thread.clock, hooks: hooks)
    let engine = EngineLife(
      number: life, database: database, routes: routes(), supplies: supplies, thread: thread, sink: sink,
      random: random,
      policy: policy, schedule: schedule,
      believesWallClock: settings.mutant?.defect == .believesWallClock)
    engines.append(engine)
    work(engine)
  }

  /// The store, for who looks at it from outside.
  func database() throws -> Database {
    if let nodes { return nodes.database }
    guard let store else { throw StorageError.connection("no store") }
    return try store.open([], clock: thread.clock)
  }

  /// All is written and not committed yet.
  private func commit(_ commit: SharedCommit, _ life: Int) throws {
    let writes = commit.writes.filter { !$0.isEmpty }.map { $0.sorted().joined(separator: " ") }
    if isDiskFull, !writes.isEmpty {
      met(.diskFull)
      throw StorageError.full
    }
    self.writes = writes
    coverage.note(commit, writes.count)
    if tearing { throw Torn() }
    if settings.mutant?.defect == .forgetsCommits, faults, thread.choices.chance(20) {
      thread.after(thread.choices.milliseconds(50...1_500), "the power fails") { self.kill("waiting", life) }
      throw CommitHooks.Forgotten()
    }
  }

  /// It is committed or rolled back, and the caller does not know yet.
  private func committed(_ life: Int) async {
    let writes = writes
    if tearing {
      tearing = false
      thread.after(.zero, "torn") { self.kill(Self.place("before", writes), life) }
      await thread.end()
    }
    self.writes = []
    if !writes.isEmpty { await thread.stop(Self.place("after", writes)) }
  }

  /// A commit of several writes is the place of each.
  private static func place(_ side: String, _ writes: [String]) -> String {
    writes.isEmpty ? "waiting" : writes.map { "\(side) \($0)" }.joined(separator: ", ")
  }

  /// A second process works for a while. It takes its part of the calls, and what it has begun goes on when it gets no
  /// more of them.
  func startSecond() {
    guard nodes == nil, engines.count == 1, !isClockBehind else { return }
    met(.secondProcess)
    try? startAnother()
    let second = engines.last
    thread.after(thread.choices.milliseconds(1_000...60_000), "the second process gets no more calls") {
      self.engines.removeAll { $0 === second }
    }
  }

  /// Ends every process as it stands, and starts one with this acquirer.
  func restart(with acquirer: Int) {
    if nodes == nil { kill("waiting", lives) } else { buryAll() }
    configured = acquirer
  }

  /// In one of four simulations *failure* is reported to the shopper while the outcome is open.
  var policy: GatewayPolicy {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = settings.seed.isMultiple(of: 4) ? .failure : .pending
    if settings.mutant?.defect == .callsNobody { policy.alarmAfter = .seconds(86_400 * 3_650) }
    return policy
  }

  var schedule: RetrySchedule {
    hazards.includes(.deadLetter) ? RetrySchedule(waits: [.seconds(2), .seconds(5)]) : .standard
  }

  private func withoutDeaths(_ work: () -> Void) {
    let usual = deadliness
    deadliness = 0
    work()
    deadliness = usual
  }

  private struct Torn: Error {}

  private var mayDie: Bool { faults && deadliness > 0 && !isClockBehind }

  /// Whether the clock is days behind. A process that starts then dates the end of new holds by it, and cannot know.
  var isClockBehind: Bool { thread.offset < .seconds(-86_400) }

  private func dies(at place: String) -> Bool {
    guard !engines.isEmpty, mayDie, place != "torn" else { return false }
    // While nothing runs, a death means little; most of them are spent where something is half done.
    guard place != "waiting" || thread.choices.chance(100) else { return false }
    return thread.choices.chance(deadliness)
  }

  private func kill(_ place: String, _ life: Int) {
    guard life == lives, !engines.isEmpty else { return }
    thread.note("dies at \(place)")
    thread.forgetEverybody()
    buried(at: place)
  }

  private func buried(at place: String) {
    coverage.note(death: place)
    engines = []
    lives += 1
    for acquirer in acquirers { acquirer.wire.life = lives }
    sink.life = lives
    (tearing, writes) = (false, [])
    thread.after(thread.choices.milliseconds(100...8_000), "starts again") { [self] in try? start() }
  }

  /// Recovery and the dispatcher, until the process dies.
  func work(_ engine: EngineLife) {
    guard runs(engine) else { return }
    let pause = faults ? 200...2_500 : 20_000...120_000
    thread.after(thread.choices.milliseconds(pause), "recovery looks") { [self] in
      guard runs(engine) else { return }
      engine.recover { self.work(engine) }
    }
    if hasSchedules, !engine.isCharging {
      thread.after(thread.choices.milliseconds(pause), "the schedules are looked at") { [self] in
        if runs(engine) { engine.chargeScheduled() }
      }
    }
    if !engine.isDelivering {
      thread.after(thread.choices.milliseconds(pause), "the dispatcher runs") { [self] in
        if runs(engine) { engine.deliver() }
      }
    }
  }

  private func runs(_ engine: EngineLife) -> Bool { engines.contains { $0 === engine } }

  /// The faults stop, and so much time passes that the right clock says no less than the wrong one ever did. A process
  /// whose clock was wrong is started again.
  private func calm() {
    faults = false
    isDiskFull = false
    for acquirer in acquirers { acquirer.wire.trouble = 0 }
    sink.trouble = 0
    nodes?.network.trouble = 0
    correct()
    noteOutlivedKeys(within: latestOffset)
    thread.offset = .zero
    thread.slumber(latestOffset)
    // An operator does that: a process whose clock was set lets no hold end.
    if clockWasSet, !engines.isEmpty {
      restart(with: configured)
    } else if engines.isEmpty || nodes != nil {
      try? start()
    }
  }

  /// The store's clock is set, ahead or back, while everything goes on.
  private func jumpClocks() {
    for _ in 0..<3 {
      thread.after(thread.choices.milliseconds(1_000...300_000), "the clock jumps") { [self] in
        set(clock: thread.offset + .seconds([-3_600, 3_600, 400, -30][thread.choices.pick(4)]))
      }
    }
  }

  /// Sets the store's clock so far beside the true time.
  func set(clock offset: Duration) {
    thread.offset = offset
    clockWasSet = true
    latestOffset = max(latestOffset, offset)
  }
}
