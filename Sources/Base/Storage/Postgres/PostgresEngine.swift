import Foundation
import Synchronization
package import TenderPayments

/// A store on PostgreSQL: a queue of transactions, and threads that run them, each on a connection of its own.
struct PostgresEngine: StoreEngine {
  private let queue: PostgresQueue
  private let timeout: Duration
  private let workers: Workers
  private let owner: Owner
  private let counter: PoolCounter

  init(_ settings: PostgresSettings, clock: WallClock?, timelines: PostgresTimelines = PostgresTimelines()) {
    let counter = PoolCounter(connections: settings.connections)
    self.counter = counter
    queue = PostgresQueue(limit: settings.queue, counter: counter)
    timeout = settings.timeout
    workers = Workers()
    owner = Owner(queue: queue)
    for _ in 0..<settings.connections {
      workers.start(queue) { PostgresWorker(settings: settings, clock: clock, timelines: timelines, counter: counter) }
    }
  }

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await run(isReading: true, body)
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await run(isReading: false, body)
  }

  private func run<R: Sendable>(
    isReading: Bool, _ body: @escaping @Sendable (Transaction) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let job = PostgresJob(
        isReading: isReading, deadline: .now + timeout,
        perform: { transaction in
          let result = try body(transaction)
          return { continuation.resume(returning: result) }
        },
        fail: { continuation.resume(throwing: $0) })
      do { try queue.append(job) } catch { job.fail(error) }
    }
  }

  func close() async {
    queue.close()
    await workers.end()
  }

  var commits: Int { workers.commits }
  var isShared: Bool { true }
  var waiting: Int { queue.count }
  /// None: the server keeps the contents of its disk, and a node that has lost it connects again.
  var failure: StorageError? { nil }
  var pool: PoolFigures? { counter.figures }
}

/// Closes the queue when the engine is released, so that its threads end even without a call of `close()`.
private final class Owner: Sendable {
  private let queue: PostgresQueue

  init(queue: PostgresQueue) { self.queue = queue }

  deinit { queue.close() }
}

/// The threads of an engine.
private final class Workers: Sendable {
  private struct State {
    var running = 0
    var commits = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  var commits: Int { state.withLock { $0.commits } }

  func start(_ queue: PostgresQueue, _ makeWorker: @escaping @Sendable () -> PostgresWorker) {
    state.withLock { $0.running += 1 }
    Thread.detachNewThread { [self] in
      let worker = makeWorker()
      while let job = queue.take() {
        if worker.serve(job), !job.isReading { state.withLock { $0.commits += 1 } }
      }
      leave()
    }
  }

  private func leave() {
    let waiting = state.withLock { state in
      state.running -= 1
      guard state.running == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when every thread has ended.
  func end() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.running > 0 { state.waiting.append(continuation) }
        return state.running == 0
      }
      if isOver { continuation.resume() }
    }
  }
}

extension Database {
  /// Connects to a PostgreSQL database and brings it to the newest migration, while other nodes wait.
  ///
  /// Any number of processes may use the same database. Only the primary is asked. A transaction that meets a deadlock,
  /// or loses its connection before the commit, is run again.
  ///
  /// - Parameters:
  ///   - settings: how the database is reached, and its limits.
  ///   - migrations: of every module that has tables in the database. A database with any other migration is refused.
  ///     Empty to use the database unchanged.
  ///   - clock: nil for the database's own, the same for every node; another one for tests.
  ///   - contracts: whether contracting migrations are applied to a database that has others already.
  ///   - timelines: what the process has seen of promotions; tests hand theirs in.
  /// - Throws: ``StorageError/migrationUnknown(_:)`` for a database that a newer version has migrated,
  ///   ``StorageError/otherVersions(_:)`` when a node of another version would be broken by a contraction, and
  ///   ``StorageError/connection(_:)`` when the primary is not reached in time.
  package static func postgres(
    _ settings: PostgresSettings, migrations: [Migration], clock: WallClock? = nil, contracts: Bool = false,
    timelines: PostgresTimelines = PostgresTimelines()
  ) async throws -> Database {
    var settings = settings
    if !migrations.isEmpty { settings.schemaVersion = SchemaVersion(migrations).name }
    _ = try PostgresAddress(settings)
    let migrator = Migrator(migrations: migrations, contracts: contracts)
    if !migrations.isEmpty { try await migrator.run(on: settings, clock: clock) }
    return Database(engine: PostgresEngine(settings, clock: clock, timelines: timelines))
  }
}
