import GRDB
import Synchronization
package import TenderPayments

/// A store in memory, for simulations: it outlives the databases that are opened on it, as a disk outlives processes.
///
/// Everything happens on the caller's thread and in the caller's turn, so that one seed gives one history.
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
  let before: @Sendable () async throws -> Void
  let inside: @Sendable (Set<String>) throws -> Void
  let after: @Sendable () async throws -> Void

  /// - Parameters:
  ///   - reading: before a transaction that only reads.
  ///   - before: before one that writes; when it throws, nothing was written.
  ///   - inside: when all is written but not committed, with the tables; when it throws, all of it is rolled back.
  ///   - after: when it is committed or rolled back, before the caller learns of it.
  package init(
    reading: @escaping @Sendable () async throws -> Void = {}, before: @escaping @Sendable () async throws -> Void = {},
    inside: @escaping @Sendable (Set<String>) throws -> Void = { _ in },
    after: @escaping @Sendable () async throws -> Void = {}
  ) {
    self.reading = reading
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

private final class MemoryEngine: StoreEngine {
  private let queue: DatabaseQueue
  private let clock: WallClock
  private let dialect: @Sendable (String) -> String
  private let hooks: CommitHooks
  private let counter = Mutex(0)

  init(queue: DatabaseQueue, clock: WallClock, dialect: @escaping @Sendable (String) -> String, hooks: CommitHooks) {
    self.queue = queue
    self.clock = clock
    self.dialect = dialect
    self.hooks = hooks
  }

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await hooks.reading()
    return try inTurn { connection in
      try body(Transaction(connection, now: self.clock.now()) { SQLiteEngine.text(self.dialect($0)) })
    }
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await hooks.before()
    let result = Result { try commit(body) }
    try await hooks.after()
    return try result.get()
  }

  private func commit<R>(_ body: (Transaction) throws -> R) throws -> R {
    var result: R?
    do { try run(body) { result = $0 } } catch is CommitHooks.Forgotten {}
    counter.withLock { $0 += 1 }
    guard let result else { throw StorageError.outcomeUnknown }
    return result
  }

  private func run<R>(_ body: (Transaction) throws -> R, _ keep: (R) -> Void) throws {
    try inTurn { connection in
      try connection.inTransaction(.immediate) {
        let written = WrittenTables()
        let transaction = Transaction(connection, now: self.clock.now()) { sql in
          written.note(sql)
          return SQLiteEngine.text(self.dialect(sql))
        }
        keep(try body(transaction))
        try self.hooks.inside(written.names)
        return .commit
      }
    }
  }

  /// Not the asynchronous call of the same name, which would continue on another thread.
  private func inTurn<R>(_ work: (GRDB.Database) throws -> R) throws -> R { try queue.inDatabase(work) }

  func close() async {}

  var commits: Int { counter.withLock { $0 } }
  var waiting: Int { 0 }
  var failure: StorageError? { nil }
}

/// Which tables a transaction wrote to: by that a simulation tells its commits apart.
private final class WrittenTables {
  private(set) var names: Set<String> = []

  func note(_ sql: String) {
    let words = sql.split(maxSplits: 3, omittingEmptySubsequences: true, whereSeparator: \.isWhitespace)
    guard words.count > 2 else { return }
    switch words[0] {
    case "INSERT", "DELETE": names.insert(String(words[2]))
    case "UPDATE": names.insert(String(words[1]))
    default: break
    }
  }
}
