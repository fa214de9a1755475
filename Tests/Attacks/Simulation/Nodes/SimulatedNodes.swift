import Ledger
import Storage
import TenderPayments
import TenderTesting

/// The processes that share a database, and the way to it.
final class SimulatedNodes {
  /// A machine on which a process runs, or is started again.
  final class Node {
    let number: Int
    /// How far its clock is beside the database's.
    let skew: Duration
    var process: SimulatedProcess?

    init(_ number: Int, skew: Duration) { (self.number, self.skew) = (number, skew) }
  }

  let all: [Node]
  let store: SharedStore
  let network: DatabaseNetwork
  private let thread: SimulatedThread

  /// Less than a payment token or a signed call may be old.
  private static let skews = [0, 0, 0, -3, 3, -90, 90]

  init(_ settings: Simulation, _ migrations: [Migration], _ thread: SimulatedThread) throws {
    let (choices, defect, mutant) = (thread.choices, settings.mutant?.defect, settings.mutant)
    self.thread = thread
    all = (0..<2 + choices.pick(2)).map { number in
      Node(number, skew: .seconds(Self.skews[choices.pick(Self.skews.count)]))
    }
    let plain: @Sendable (String) -> String = { $0 }
    let held: @Sendable (RowLock, String) -> RowLock = { lock, _ in lock }
    store = try SharedStore(
      migrations, at: thread.clock.now(), dialect: mutant?.dialect ?? plain, locking: mutant?.locking ?? held,
      hasStandby: defect == .believesStandby)
    network = DatabaseNetwork(
      thread, restlessness: [20, 60, 150, 400][choices.pick(4)], defect: defect)
    network.trouble = [0, 10, 30, 80][choices.pick(4)]
    store.standby?.later = { follow in
      thread.after(choices.milliseconds(0...20_000), "the standby follows", follow)
    }
  }

  /// For who looks at the store from outside.
  var database: Database { Database(engine: QuietEngine(store: store, clock: thread.clock)) }

  func database(of process: SimulatedProcess) -> Database {
    Database(
      engine: SharedEngine(store: store, process: process, thread: thread, network: network, clock: thread.clock))
  }

  func transactions(of process: SimulatedProcess) -> [SharedTransaction] {
    store.open.filter { $0.process === process }
  }
}

// The lives and deaths of several processes.
extension SimulatedWorld {
  func connectNodes() {
    let note: (Meeting) -> Void = { [unowned self] in coverage.meetings[$0.rawValue, default: 0] += 1 }
    nodes?.store.met = note
    nodes?.network.met = note
    nodes?.network.isFull = { [unowned self] in isDiskFull }
  }

  private func met(_ meeting: Meeting) { nodes?.network.met(meeting) }

  /// Starts a process on each machine that has none.
  func startNodes() {
    for node in nodes?.all ?? [] { start(node) }
  }

  private func start(_ node: SimulatedNodes.Node) {
    guard let nodes, node.process == nil else { return }
    let process = SimulatedProcess(node.number, thread)
    node.process = process
    let engine = EngineLife(
      number: node.number, database: nodes.database(of: process), routes: routes(of: process),
      supplies: supplies, thread: thread, sink: sink, random: random, policy: policy, schedule: schedule,
      in: process, clock: thread.clock(beside: node.skew))
    engines.append(engine)
    work(engine)
  }

  /// - Parameter process: nil for any.
  func bury(_ process: SimulatedProcess?, at place: String) {
    guard let nodes, let process = process ?? engine?.process,
      let node = nodes.all.first(where: { $0.process === process })
    else { return }
    coverage.note(death: place)
    engines.removeAll { $0.process === process }
    if !engines.isEmpty { met(.diedBesideOthers) }
    node.process = nil
    process.die()
    nodes.network.abandon(nodes.transactions(of: process), in: nodes.store)
    thread.after(thread.choices.milliseconds(100...8_000), "a process starts again") { [self] in start(node) }
  }

  func buryAll() {
    for engine in engines { bury(engine.process, at: "waiting") }
  }

  /// As by SIGSTOP, or on a machine that swaps.
  func planPauses() {
    plan(4, "a process is stopped") { [self] in
      guard let process = engine?.process, !process.isPaused else { return }
      pause(process, for: .seconds([2, 15, 62, 90, 150][thread.choices.pick(5)]))
    }
  }

  private func pause(_ process: SimulatedProcess, for duration: Duration) {
    guard let nodes else { return }
    if duration > Journal.lease { met(.pausedLong) }
    process.pause()
    nodes.network.endIdle(nodes.transactions(of: process), in: nodes.store)
    thread.after(duration, "a process goes on") { process.goOn() }
  }
}
