import GRDB
public import TenderPayments

/// The store: one SQL text, reads and durable writes.
///
/// The text is the part of SQL that SQLite and PostgreSQL both take: `$n` parameters, the column types BIGINT, TEXT
/// and BYTEA, `INSERT … ON CONFLICT DO NOTHING` before any SELECT. Times are BIGINT microseconds.
public struct Database: Sendable {
  let pool: DatabasePool
  let lock: StoreLock
  let commits: GroupCommit
  let clock: WallClock

  /// Opens or creates an SQLite file and brings it to the newest migration.
  ///
  /// Write-ahead log, `synchronous=FULL`, one process: a second process that opens the same file is refused.
  public static func sqlite(
    path: String, migrations: [Migration], clock: WallClock = .system
  ) async throws -> Database {
    let lock = try StoreLock(path: path)
    let pool = try SQLiteEngine.open(path)
    try await SQLiteEngine.makeDurable(pool)
    try await Migrator(migrations: migrations, clock: clock).run(on: pool)
    return Database(pool: pool, lock: lock, commits: GroupCommit(pool: pool, clock: clock), clock: clock)
  }

  /// Runs `body` on one consistent snapshot.
  public func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    let clock = clock
    return try await StorageError.translating {
      try await pool.read { try body(Transaction($0, now: clock.now())) }
    }
  }

  /// Runs `body` in a transaction and returns when its effects are on disk. An error rolls all of it back.
  ///
  /// Writes that wait at the same moment share one commit, so durable throughput grows with load. `body` may be run
  /// again, and must not have effects outside the transaction.
  @discardableResult
  public func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await StorageError.translating { try await commits.run(body) }
  }

  public func close() async {
    await commits.finish()
    try? pool.close()
    lock.release()
  }
}
