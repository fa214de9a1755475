import Foundation
import GRDB
import Synchronization
import TenderPayments

/// Lets writes that wait at the same moment share one commit, and so one flush of the disk.
///
/// Callers leave a job in a queue; one drain at a time takes up to ``batch`` of them, runs each under a savepoint of
/// its own, commits, and only then resumes the callers. A failed job rolls back alone; a failed commit fails all.
final class GroupCommit: Sendable {
  private static let batch = 64
  private let pool: DatabasePool
  private let clock: WallClock
  private let queue = Queue()
  private let standing = Mutex<(count: Int, failure: StorageError?)>((0, nil))

  init(pool: DatabasePool, clock: WallClock) {
    self.pool = pool
    self.clock = clock
  }

  func run<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let job = Job(body: body, continuation: continuation)
      if queue.append(job) { scheduleDrain() }
    }
  }

  /// Commits so far.
  var count: Int { standing.withLock { $0.count } }
  /// Jobs that no commit has taken yet.
  var waiting: Int { queue.count }
  /// Why nothing is written any more.
  var failure: StorageError? { standing.withLock { $0.failure } }

  /// Returns when every write that was begun has been answered.
  func finish() async {
    try? await pool.writeWithoutTransaction { _ in }
  }

  private func scheduleDrain() {
    pool.asyncWriteWithoutTransaction { [self] connection in
      while let jobs = queue.take(Self.batch) { commit(jobs, connection) }
    }
  }

  private func commit(_ jobs: [any Committable], _ connection: GRDB.Database) {
    let now = clock.now()
    do {
      if let failure { throw failure }
      try connection.execute(sql: "BEGIN IMMEDIATE")
      for job in jobs { try perform(job, connection, now) }
      try connection.execute(sql: "COMMIT")
      standing.withLock { $0.count += 1 }
      for job in jobs { job.resume() }
    } catch {
      noteBroken(error)
      if connection.isInsideTransaction { try? connection.execute(sql: "ROLLBACK") }
      for job in jobs { job.fail(error) }
    }
  }

  /// After a flush that failed nobody knows what is on the disk, and a second flush that succeeds would not tell: the
  /// kernel has thrown the pages away. A write that is refused, by a full disk or a read-only one, is another matter:
  /// there the commit did not happen.
  private func noteBroken(_ error: any Error) {
    guard let error = error as? DatabaseError, error.resultCode == .SQLITE_IOERR,
      error.extendedResultCode != .SQLITE_IOERR_WRITE
    else { return }
    standing.withLock { $0.failure = StorageError(error) }
  }

  private func perform(_ job: any Committable, _ connection: GRDB.Database, _ now: Timestamp) throws {
    try connection.cachedStatement(sql: "SAVEPOINT job").execute()
    let succeeded = job.perform(Transaction(connection, now: now))
    // On a full disk or an I/O error SQLite rolls back by itself; another savepoint would then open a transaction of
    // its own and commit half of the batch.
    guard connection.isInsideTransaction else { throw StorageError.full }
    if !succeeded { try connection.cachedStatement(sql: "ROLLBACK TO job").execute() }
    try connection.cachedStatement(sql: "RELEASE job").execute()
  }
}

/// The jobs that wait, and whether somebody is draining them.
private final class Queue: @unchecked Sendable {
  private let lock = NSLock()
  private var jobs: [any Committable] = []
  private var draining = false

  /// Whether the caller must start a drain.
  func append(_ job: any Committable) -> Bool {
    lock.withLock {
      jobs.append(job)
      defer { draining = true }
      return !draining
    }
  }

  var count: Int { lock.withLock { jobs.count } }

  /// The next jobs, or nil when there are none and the drain is over.
  func take(_ count: Int) -> [any Committable]? {
    lock.withLock {
      guard !jobs.isEmpty else {
        draining = false
        return nil
      }
      defer { jobs.removeFirst(min(count, jobs.count)) }
      return Array(jobs.prefix(count))
    }
  }
}

private protocol Committable: AnyObject, Sendable {
  /// Runs the body and keeps its result; false when it threw.
  func perform(_ transaction: Transaction) -> Bool
  func resume()
  func fail(_ error: any Error)
}

/// One write and the caller who waits for it. Touched only by the drain, which runs on the writer's own queue.
private final class Job<R: Sendable>: Committable, @unchecked Sendable {
  private let body: @Sendable (Transaction) throws -> R
  private let continuation: CheckedContinuation<R, any Error>
  private var result: Result<R, any Error>?

  init(body: @escaping @Sendable (Transaction) throws -> R, continuation: CheckedContinuation<R, any Error>) {
    self.body = body
    self.continuation = continuation
  }

  func perform(_ transaction: Transaction) -> Bool {
    let outcome = Result { try body(transaction) }
    result = outcome
    if case .success = outcome { return true }
    return false
  }

  func resume() {
    continuation.resume(with: result ?? .failure(StorageError.outcomeUnknown))
  }

  func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
