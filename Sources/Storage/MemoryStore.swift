import GRDB
import Synchronization
public import TenderPayments

/// A store in memory, for simulations: it outlives the databases that are opened on it, as a disk outlives processes.
///
/// Everything happens on the caller's thread and in the caller's turn, so that one seed gives one history.
public final class MemoryStore: Sendable {
  private let queue: DatabaseQueue

  public init() throws { queue = try StorageError.translating { try DatabaseQueue() } }

  /// - Parameter hooks: what happens around each commit.
  public func open(
    _ migrations: [Migration], clock: WallClock, hooks: CommitHooks = .none
  ) async throws -> Database {
    try await StorageError.translating { try await Migrator(migrations: migrations, clock: clock).run(on: queue) }
    return Database(engine: MemoryEngine(queue: queue, clock: clock, hooks: hooks))
  }
}

/// Where a simulated process dies around a commit.
public struct CommitHooks: Sendable {
  let before: @Sendable () async throws -> Void
  let after: @Sendable () async throws -> Void

  /// - Parameters:
  ///   - before: when it throws, nothing was written.
  ///   - after: when it throws, everything was written, and the caller does not learn of it.
  public init(
    before: @escaping @Sendable () async throws -> Void = {}, after: @escaping @Sendable () async throws -> Void = {}
  ) {
    self.before = before
    self.after = after
  }

  public static let none = CommitHooks()
}

private final class MemoryEngine: StoreEngine {
  private let queue: DatabaseQueue
  private let clock: WallClock
  private let hooks: CommitHooks
  private let counter = Mutex(0)

  init(queue: DatabaseQueue, clock: WallClock, hooks: CommitHooks) {
    self.queue = queue
    self.clock = clock
    self.hooks = hooks
  }

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try inTurn { try body(Transaction($0, now: self.clock.now())) }
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await hooks.before()
    let result = try inTurn { connection in
      var result: R?
      try connection.inTransaction(.immediate) {
        result = try body(Transaction(connection, now: self.clock.now()))
        return .commit
      }
      guard let result else { throw StorageError.outcomeUnknown }
      return result
    }
    counter.withLock { $0 += 1 }
    try await hooks.after()
    return result
  }

  /// Not the asynchronous call of the same name, which would continue on another thread.
  private func inTurn<R>(_ work: (GRDB.Database) throws -> R) throws -> R { try queue.inDatabase(work) }

  func close() async {}

  var commits: Int { counter.withLock { $0 } }
  var waiting: Int { 0 }
  var failure: StorageError? { nil }
}
