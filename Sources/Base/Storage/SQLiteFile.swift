import GRDB
import TenderPayments

/// A file of SQLite's with all that keeps it durable and ours alone.
struct SQLiteFile: StoreEngine {
  private let pool: DatabasePool
  private let lock: StoreLock
  private let checkpoints: Checkpoints
  private let group: GroupCommit
  private let reads: GroupRead

  init(pool: DatabasePool, lock: StoreLock, clock: WallClock) throws {
    self.pool = pool
    self.lock = lock
    checkpoints = try StorageError.translating { try Checkpoints(path: pool.path) }
    group = GroupCommit(pool: pool, clock: clock, checkpoints: checkpoints)
    reads = GroupRead(pool: pool, clock: clock)
  }

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await reads.run(body)
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await group.run(body)
  }

  func close() async {
    await group.finish()
    checkpoints.close()
    try? pool.close()
    lock.release()
  }

  var commits: Int { group.count }
  var waiting: Int { group.waiting }
  var failure: StorageError? { group.failure }
}
