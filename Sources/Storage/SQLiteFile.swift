import GRDB
import TenderPayments

/// A file of SQLite's with all that keeps it durable and ours alone.
struct SQLiteFile: StoreEngine {
  private let pool: DatabasePool
  private let lock: StoreLock
  private let group: GroupCommit
  private let clock: WallClock

  init(pool: DatabasePool, lock: StoreLock, clock: WallClock) {
    self.pool = pool
    self.lock = lock
    self.clock = clock
    group = GroupCommit(pool: pool, clock: clock)
  }

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await pool.read { [clock] in try body(Transaction($0, now: clock.now())) }
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await group.run(body)
  }

  func close() async {
    await group.finish()
    try? pool.close()
    lock.release()
  }

  var commits: Int { group.count }
  var waiting: Int { group.waiting }
  var failure: StorageError? { group.failure }
}
