import GRDB
import Synchronization
import TenderPayments

/// Lets writes that wait at the same moment share one commit, and so one flush of the disk.
///
/// Callers leave a job in a queue; one drain at a time takes up to ``batch`` of them, runs each under a savepoint of
/// its own if there are several, commits, and only then resumes the callers. A failed job rolls back alone; a failed
/// commit fails all.
final class GroupCommit: Sendable {
  private static let batch = 64
  private let pool: DatabasePool
  private let clock: WallClock
  private let checkpoints: Checkpoints
  private let queue = Queue()
  private let standing = Mutex<(count: Int, failure: StorageError?)>((0, nil))

  init(pool: DatabasePool, clock: WallClock, checkpoints: Checkpoints) {
    self.pool = pool
    self.clock = clock
    self.checkpoints = checkpoints
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
      try connection.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
      let answers = try perform(jobs, connection, now)
      try connection.cachedStatement(sql: "COMMIT").execute()
      standing.withLock { $0.count += 1 }
      for answer in answers { answer() }
      checkpoints.note(jobs.count)
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

  /// - Returns: what is to be called after the commit.
  private func perform(
    _ jobs: [any Committable], _ connection: GRDB.Database, _ now: Timestamp
  ) throws -> [@Sendable () -> Void] {
    guard jobs.count == 1 else { return try jobs.map { try perform($0, connection, now) } }
    // One by itself needs no savepoint, for which SQLite keeps a copy of every page that it changes: when it fails, all
    // of the transaction is rolled back.
    let performed = jobs[0].perform(Transaction(connection, now: now))
    if let failure = performed.failure { throw failure }
    return [performed.answer]
  }

  private func perform(
    _ job: any Committable, _ connection: GRDB.Database, _ now: Timestamp
  ) throws -> @Sendable () -> Void {
    try connection.cachedStatement(sql: "SAVEPOINT job").execute()
    let performed = job.perform(Transaction(connection, now: now))
    // On a full disk or an I/O error SQLite rolls back by itself; another savepoint would then open a transaction of
    // its own and commit half of the batch.
    guard connection.isInsideTransaction else { throw performed.failure ?? StorageError.full }
    if performed.failure != nil { try connection.cachedStatement(sql: "ROLLBACK TO job").execute() }
    try connection.cachedStatement(sql: "RELEASE job").execute()
    return performed.answer
  }
}

/// The jobs that wait, and whether somebody is draining them.
private final class Queue: Sendable {
  private let state = Mutex<(jobs: [any Committable], isDraining: Bool)>(([], false))

  /// Whether the caller must start a drain.
  func append(_ job: any Committable) -> Bool {
    state.withLock { state in
      state.jobs.append(job)
      defer { state.isDraining = true }
      return !state.isDraining
    }
  }

  var count: Int { state.withLock { $0.jobs.count } }

  /// The next jobs, or nil when there are none and the drain is over.
  func take(_ count: Int) -> [any Committable]? {
    state.withLock { state in
      guard !state.jobs.isEmpty else {
        state.isDraining = false
        return nil
      }
      defer { state.jobs.removeFirst(min(count, state.jobs.count)) }
      return Array(state.jobs.prefix(count))
    }
  }
}

private protocol Committable: Sendable {
  func perform(_ transaction: Transaction) -> Performed
  func fail(_ error: any Error)
}

/// A job that ran and is not committed yet.
private struct Performed {
  let failure: (any Error)?
  /// Tells the caller what came of it; to be called after the commit.
  let answer: @Sendable () -> Void
}

/// One write and the caller who waits for it.
private struct Job<R: Sendable>: Committable {
  let body: @Sendable (Transaction) throws -> R
  let continuation: CheckedContinuation<R, any Error>

  func perform(_ transaction: Transaction) -> Performed {
    let continuation = continuation
    do {
      let result = try body(transaction)
      return Performed(failure: nil) { continuation.resume(returning: result) }
    } catch {
      return Performed(failure: error) { continuation.resume(throwing: error) }
    }
  }

  func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
