import GRDB
package import TenderPayments

/// An SQLite file with its lock, writer, readers and checkpoints.
struct SQLiteFile: StoreEngine {
  private let pool: DatabasePool
  private let lock: StoreLock
  private let checkpoints: Checkpoints
  private let group: GroupCommit<PoolWriter>
  private let reads: GroupRead

  init(pool: DatabasePool, lock: StoreLock, clock: WallClock) throws {
    self.pool = pool
    self.lock = lock
    checkpoints = try StorageError.translating { try Checkpoints(path: pool.path) }
    group = GroupCommit(writer: PoolWriter(pool: pool, checkpoints: checkpoints), clock: clock)
    reads = GroupRead(pool: pool, clock: clock)
  }

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    // The disk may hold what this process does not see. Who asks must not take that for an answer, nor repeat a call.
    if failure != nil { throw StorageError.outcomeUnknown }
    return try await StorageError.translating { try await reads.run(body) }
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await StorageError.translating { try await group.run(body) }
  }

  func emptyLog() async -> Bool { await checkpoints.emptyLog() }

  func close() async {
    // Waits until every started write is answered.
    try? await pool.writeWithoutTransaction { _ in }
    checkpoints.close()
    try? pool.close()
    lock.release()
  }

  var commits: Int { group.count }
  var isShared: Bool { false }
  var waiting: Int { group.waiting }
  var failure: StorageError? { group.failure }
  func awaitFailure() async -> StorageError? { await group.awaitFailure() }
}

/// The writer of a pool, on its own thread.
private struct PoolWriter: CommitWriter {
  let pool: DatabasePool
  let checkpoints: Checkpoints

  func drain(_ group: GroupCommit<PoolWriter>) {
    pool.asyncWriteWithoutTransaction { connection in
      while let batch = group.next(on: connection) {
        batch.answer()
        checkpoints.note(batch.committed)
      }
    }
  }
}

extension Database {
  /// Writes an SQLite file anew, so that nothing is left in it of what was deleted: SQLite writes zeros over that, but
  /// may have copies of rows that it has moved to another page.
  ///
  /// - Throws: ``StorageError/busy`` when another process has it open.
  package static func vacuum(path: String) async throws {
    let lock = try StoreLock(path: path)
    defer { lock.release() }
    let pool = try SQLiteEngine.open(path)
    try await StorageError.translating {
      try await pool.writeWithoutTransaction { connection in
        try connection.execute(sql: "VACUUM")
        try connection.checkpoint(.truncate)
      }
      try pool.close()
    }
  }

  /// Opens or creates an SQLite file and brings it to the newest migration.
  ///
  /// Write-ahead log, `synchronous=FULL`, one process: a second process that opens the same file is refused.
  ///
  /// - Parameter migrations: of every module that has tables in the file. A file with any other migration is refused.
  ///   Empty to open the file unchanged.
  /// - Parameter contracts: whether contracting migrations are applied to a store that has others already.
  /// - Throws: ``StorageError/migrationUnknown(_:)`` for a file that a newer version has written.
  package static func sqlite(
    path: String, migrations: [Migration], clock: WallClock = .system, contracts: Bool = false
  ) async throws -> Database {
    let lock = try StoreLock(path: path)
    let pool = try SQLiteEngine.open(path)
    try await SQLiteEngine.prepareWriter(pool)
    try await SQLiteEngine.migrate(pool, Migrator(migrations: migrations, contracts: contracts), clock.now())
    return Database(engine: try SQLiteFile(pool: pool, lock: lock, clock: clock))
  }
}
