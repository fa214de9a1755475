import GRDB
import Synchronization
package import TenderPayments

/// An in-memory store for simulations. It outlives the databases opened on it, as a disk outlives processes.
///
/// Reads run on the caller's thread. Writes share commits as they do in a file; a detached task commits them. If one
/// thread runs all tasks in a fixed order, one seed gives one history.
package final class MemoryStore: Sendable {
  private let queue: DatabaseQueue
  private let dialect: @Sendable (String) -> String

  /// - Parameter dialect: rewrites the SQL before the engine runs it, so that mutants can be injected.
  package init(dialect: @escaping @Sendable (String) -> String = { $0 }) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    let settings = configuration
    queue = try StorageError.translating { try DatabaseQueue(configuration: settings) }
    self.dialect = dialect
  }

  /// - Parameter hooks: called around each transaction.
  package func open(_ migrations: [Migration], clock: WallClock, hooks: CommitHooks = .none) throws -> Database {
    let migrator = Migrator(migrations: migrations.map { $0.rewritten(dialect) })
    try StorageError.translating {
      try queue.write { try migrator.run(in: Transaction(SQLiteSession($0), now: clock.now())) }
    }
    return Database(engine: MemoryEngine(queue: queue, clock: clock, dialect: dialect, hooks: hooks))
  }
}

/// Hooks at which a simulated process can be delayed or killed around a transaction.
package struct CommitHooks: Sendable {
  let reading: @Sendable () async throws -> Void
  let writing: @Sendable () async throws -> Void
  let before: @Sendable () async throws -> Void
  let inside: @Sendable (SharedCommit) throws -> Void
  let after: @Sendable () async throws -> Void

  /// - Parameters:
  ///   - reading: before a read transaction.
  ///   - writing: before a write is queued for a commit.
  ///   - before: before a commit; writes queued meanwhile share it. If it throws, nothing is written.
  ///   - inside: after the writes and before the commit; if it throws, all of them are rolled back.
  ///   - after: after the commit or rollback, before the callers are answered.
  package init(
    reading: @escaping @Sendable () async throws -> Void = {},
    writing: @escaping @Sendable () async throws -> Void = {},
    before: @escaping @Sendable () async throws -> Void = {},
    inside: @escaping @Sendable (SharedCommit) throws -> Void = { _ in },
    after: @escaping @Sendable () async throws -> Void = {}
  ) {
    self.reading = reading
    self.writing = writing
    self.before = before
    self.inside = inside
    self.after = after
  }

  package static let none = CommitHooks()

  /// Thrown by the `inside` hook: the write is rolled back but reported as committed, as by a disk that ignores
  /// flushes.
  package struct Forgotten: Error {
    package init() {}
  }

  /// Thrown by the `inside` hook: the flush fails.
  package struct FlushFailed: Error {
    package init() {}
  }
}

/// The writes that a commit is about to make durable.
package struct SharedCommit: Sendable {
  /// For each write, the tables that it wrote to.
  package let writes: [Set<String>]
  /// How many other writes of the batch failed and are rolled back.
  package let failed: Int
}

private struct MemoryEngine: StoreEngine {
  private let writer: MemoryWriter
  private let clock: WallClock
  private let group: GroupCommit<MemoryWriter>

  init(queue: DatabaseQueue, clock: WallClock, dialect: @escaping @Sendable (String) -> String, hooks: CommitHooks) {
    writer = MemoryWriter(queue: queue, dialect: dialect, hooks: hooks)
    group = GroupCommit(writer: writer, clock: clock)
    self.clock = clock
  }

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await writer.hooks.reading()
    return try writer.inTurn { connection in
      let session = SQLiteSession(connection) { SQLiteEngine.text(writer.dialect($0)) }
      return try body(Transaction(session, now: clock.now()))
    }
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await writer.hooks.writing()
    return try await StorageError.translating { try await group.run(body) }
  }

  func close() async {}

  var commits: Int { group.count }
  var isShared: Bool { false }
  var waiting: Int { group.waiting }
  var failure: StorageError? { group.failure }
  func awaitFailure() async -> StorageError? { await group.awaitFailure() }
}

/// The writer of an in-memory store. The dialect also rewrites the statements around the jobs.
private final class MemoryWriter: CommitWriter {
  let queue: DatabaseQueue
  let dialect: @Sendable (String) -> String
  let hooks: CommitHooks
  /// For each job of the current commit, the tables that it wrote to.
  private let written = Mutex<[Set<String>]>([])

  init(queue: DatabaseQueue, dialect: @escaping @Sendable (String) -> String, hooks: CommitHooks) {
    self.queue = queue
    self.dialect = dialect
    self.hooks = hooks
  }

  func drain(_ group: GroupCommit<MemoryWriter>) {
    Task.detached { [self] in
      while group.goesOn() { await commit(group) }
    }
  }

  private func commit(_ group: GroupCommit<MemoryWriter>) async {
    do { try await hooks.before() } catch { return group.refuse(error) }
    written.withLock { $0 = [] }
    let batch = inTurn { group.next(on: $0) }
    do {
      try await hooks.after()
      batch?.answer()
    } catch {
      batch?.fail(error)
    }
  }

  /// Synchronous, because the asynchronous call of the same name would continue on another thread.
  func inTurn<R>(_ work: (GRDB.Database) throws -> R) rethrows -> R { try queue.inDatabase(work) }

  func transaction(on connection: GRDB.Database, now: Timestamp) -> Transaction {
    written.withLock { $0.append([]) }
    let session = SQLiteSession(connection) { [self] sql in
      note(sql)
      return SQLiteEngine.text(dialect(sql))
    }
    return Transaction(session, now: now)
  }

  func run(_ sql: String, on connection: GRDB.Database) throws {
    try connection.cachedStatement(sql: dialect(sql)).execute()
  }

  func commit(_ jobs: [Performed], on connection: GRDB.Database) throws {
    let kept = zip(written.withLock { $0 }, jobs).filter { $1.failure == nil }.map(\.0)
    do {
      try hooks.inside(SharedCommit(writes: kept, failed: jobs.count - kept.count))
      try run("COMMIT", on: connection)
    } catch is CommitHooks.Forgotten {
      try run("ROLLBACK", on: connection)
    } catch is CommitHooks.FlushFailed {
      throw DatabaseError(resultCode: .SQLITE_IOERR_FSYNC)
    }
  }

  /// Notes the table that a statement writes to, by which a simulation distinguishes commits.
  private func note(_ sql: String) {
    let words = sql.split(maxSplits: 3, omittingEmptySubsequences: true, whereSeparator: \.isWhitespace)
    guard words.count > 2 else { return }
    switch words[0] {
    case "INSERT", "DELETE": note(table: words[2])
    case "UPDATE": note(table: words[1])
    default: break
    }
  }

  private func note(table: Substring) {
    written.withLock { _ = $0[$0.count - 1].insert(String(table)) }
  }
}
