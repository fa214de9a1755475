import GRDB
import Synchronization
package import TenderPayments

/// A store in memory, for simulations: it outlives the databases that are opened on it, as a disk outlives processes.
///
/// Reads happen on the caller's thread and in the caller's turn. Writes share commits as they do in a file; a detached task
/// commits them. Where one thread runs all tasks in a known order, one seed gives one history.
package final class MemoryStore: Sendable {
  private let queue: DatabaseQueue
  private let dialect: @Sendable (String) -> String

  /// - Parameter dialect: changes the common SQL before the engine sees it, to find out who notices.
  package init(dialect: @escaping @Sendable (String) -> String = { $0 }) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    let settings = configuration
    queue = try StorageError.translating { try DatabaseQueue(configuration: settings) }
    self.dialect = dialect
  }

  /// - Parameter hooks: what happens around each transaction.
  package func open(_ migrations: [Migration], clock: WallClock, hooks: CommitHooks = .none) throws -> Database {
    let migrator = Migrator(migrations: migrations.map { Migration($0.name, dialect($0.sql)) }, clock: clock)
    try StorageError.translating { try queue.write { try migrator.run(in: $0, clock.now()) } }
    return Database(engine: MemoryEngine(queue: queue, clock: clock, dialect: dialect, hooks: hooks))
  }
}

/// Where a simulated process waits, and where it dies, around a transaction.
package struct CommitHooks: Sendable {
  let reading: @Sendable () async throws -> Void
  let writing: @Sendable () async throws -> Void
  let before: @Sendable () async throws -> Void
  let inside: @Sendable (SharedCommit) throws -> Void
  let after: @Sendable () async throws -> Void

  /// - Parameters:
  ///   - reading: before a transaction that only reads.
  ///   - writing: before a write is left to wait for a commit.
  ///   - before: before a commit; whatever is left meanwhile shares it. When it throws, nothing was written.
  ///   - inside: when all is written but not committed; when it throws, all of it is rolled back.
  ///   - after: when it is committed or rolled back, before anybody learns of it.
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

  /// Thrown inside: the caller is told that it is committed, and it is not. So a disk lies that does not flush.
  package struct Forgotten: Error {
    package init() {}
  }
}

/// What a commit is about to keep.
package struct SharedCommit: Sendable {
  /// By write, the tables that it wrote to.
  package let writes: [Set<String>]
  /// How many writes failed beside them and are rolled back.
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
      try body(Transaction(connection, now: clock.now()) { SQLiteEngine.text(writer.dialect($0)) })
    }
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await writer.hooks.writing()
    return try await group.run(body)
  }

  func close() async {}

  var commits: Int { group.count }
  var waiting: Int { group.waiting }
  var failure: StorageError? { group.failure }
}

/// The writer of a store in memory. The dialect changes the statements around the jobs too.
private final class MemoryWriter: CommitWriter {
  let queue: DatabaseQueue
  let dialect: @Sendable (String) -> String
  let hooks: CommitHooks
  /// By job of the commit under way, the tables that it wrote to.
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

  /// Not the asynchronous call of the same name, which would continue on another thread.
  func inTurn<R>(_ work: (GRDB.Database) throws -> R) rethrows -> R { try queue.inDatabase(work) }

  func transaction(on connection: GRDB.Database, now: Timestamp) -> Transaction {
    written.withLock { $0.append([]) }
    return Transaction(connection, now: now) { [self] sql in
      note(sql)
      return SQLiteEngine.text(dialect(sql))
    }
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
    }
  }

  /// Notes the table that a statement writes to: by that a simulation tells its commits apart.
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
