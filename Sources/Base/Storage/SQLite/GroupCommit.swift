import GRDB
import Synchronization
import TenderPayments

/// The single writer of a store, which runs the jobs of a ``GroupCommit``.
protocol CommitWriter: Sendable {
  /// Commits jobs and answers their callers until none waits. Called when jobs wait and no drain is running.
  func drain(_ group: GroupCommit<Self>)
  /// The transaction that one job gets.
  func transaction(on connection: GRDB.Database, now: Timestamp) -> Transaction
  /// Runs a statement of the group commit itself, around the jobs.
  func run(_ sql: String, on connection: GRDB.Database) throws
  /// Commits the transaction in which these jobs ran; failed ones are already rolled back.
  func commit(_ jobs: [Performed], on connection: GRDB.Database) throws
}

extension CommitWriter {
  func transaction(on connection: GRDB.Database, now: Timestamp) -> Transaction {
    Transaction(SQLiteSession(connection), now: now)
  }

  func run(_ sql: String, on connection: GRDB.Database) throws { try connection.cachedStatement(sql: sql).execute() }

  func commit(_ jobs: [Performed], on connection: GRDB.Database) throws { try run("COMMIT", on: connection) }
}

/// Combines concurrent writes into one commit, and so one flush of the disk.
///
/// Callers append jobs to a queue. One drain at a time takes a batch, runs each job under its own savepoint if there
/// are several, commits, and then answers the callers. A failed job rolls back alone; a failed commit fails all jobs of
/// the batch. Where its flush failed, they may be in the store nevertheless.
final class GroupCommit<Writer: CommitWriter>: Sendable {
  private let writer: Writer
  private let clock: WallClock
  private let queue = Queue()
  private let status = Mutex<(count: Int, failure: StorageError?)>((0, nil))
  private let broken = AsyncStream.makeStream(of: StorageError.self)

  init(writer: Writer, clock: WallClock) {
    self.writer = writer
    self.clock = clock
  }

  func run<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let job = Job(body: body, continuation: continuation)
      if queue.append(job) { writer.drain(self) }
    }
  }

  /// Commits so far.
  var count: Int { status.withLock { $0.count } }
  /// Jobs that no commit has taken yet.
  var waiting: Int { queue.count }
  /// Why writes are refused; nil when they are not.
  var failure: StorageError? { status.withLock { $0.failure } }

  /// Waits for ``failure``; one caller at a time.
  func awaitFailure() async -> StorageError? {
    for await failure in broken.stream { return failure }
    return nil
  }

  /// Commits the next batch of jobs.
  ///
  /// - Returns: the batch, whose callers have to be answered; nil when no job waits and the drain ends.
  func next(on connection: GRDB.Database) -> FinishedBatch? { queue.take().map { commit($0, connection) } }

  /// Whether the drain must continue. If not, it ends, and the next job starts another.
  func goesOn() -> Bool { queue.goesOn() }

  /// Fails the jobs that ``next(on:)`` would take, without writing.
  func refuse(_ error: any Error) {
    guard let jobs = queue.take() else { return }
    for job in jobs { job.fail(error) }
  }

  private func commit(_ jobs: [any Committable], _ connection: GRDB.Database) -> FinishedBatch {
    let now = clock.now()
    var isCommitting = false
    do {
      // A caller that repeats what a failed flush left in doubt must not be told that nothing was done.
      if failure != nil { throw StorageError.outcomeUnknown }
      try writer.run("BEGIN IMMEDIATE", on: connection)
      let performed = try perform(jobs, connection, now)
      isCommitting = true
      try writer.commit(performed, on: connection)
      status.withLock { $0.count += 1 }
      return FinishedBatch(jobs: jobs, outcome: .success(performed))
    } catch {
      let isBroken = noteBroken(error)
      if connection.isInsideTransaction { try? connection.execute(sql: "ROLLBACK") }
      // The mark of the commit may be in the log, and the next start would take it from there.
      return FinishedBatch(
        jobs: jobs, outcome: .failure(isCommitting && isBroken ? StorageError.outcomeUnknown : error))
    }
  }

  /// Records a failed flush. Afterwards the contents of the disk are unknown, and a second flush that succeeds proves
  /// nothing, because the kernel has dropped the pages. A write refused by a full or read-only disk is different: that
  /// commit did not happen.
  ///
  /// - Returns: whether a flush failed.
  private func noteBroken(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError, error.resultCode == .SQLITE_IOERR,
      error.extendedResultCode != .SQLITE_IOERR_WRITE
    else { return false }
    let failure = StorageError(error)
    status.withLock { $0.failure = failure }
    broken.continuation.yield(failure)
    return true
  }

  private func perform(
    _ jobs: [any Committable], _ connection: GRDB.Database, _ now: Timestamp
  ) throws -> [Performed] {
    guard jobs.count == 1 else { return try jobs.map { try perform($0, connection, now) } }
    // A single job needs no savepoint, for which SQLite would copy every changed page: if it fails, the whole
    // transaction is rolled back.
    let performed = jobs[0].perform(writer.transaction(on: connection, now: now))
    if let failure = performed.failure { throw failure }
    return [performed]
  }

  private func perform(
    _ job: any Committable, _ connection: GRDB.Database, _ now: Timestamp
  ) throws -> Performed {
    try writer.run("SAVEPOINT job", on: connection)
    let performed = job.perform(writer.transaction(on: connection, now: now))
    // On a full disk or an I/O error SQLite rolls back by itself. Another savepoint would then open a new transaction
    // and commit half of the batch.
    guard connection.isInsideTransaction else { throw performed.failure ?? StorageError.full }
    if performed.failure != nil { try writer.run("ROLLBACK TO job", on: connection) }
    try writer.run("RELEASE job", on: connection)
    return performed
  }
}

/// A batch that is committed or has failed, and whose callers are not answered yet.
struct FinishedBatch {
  fileprivate let jobs: [any Committable]
  fileprivate let outcome: Result<[Performed], any Error>

  /// How many jobs were committed; 0 when the commit failed.
  var committed: Int { (try? outcome.get().count) ?? 0 }

  /// Answers every caller with the result of its job.
  func answer() {
    switch outcome {
    case .success(let performed): for job in performed { job.answer() }
    case .failure(let error): fail(error)
    }
  }

  /// Answers every caller with an error, regardless of its job's result.
  func fail(_ error: any Error) { for job in jobs { job.fail(error) } }
}

/// The waiting jobs, and whether a drain is running.
private final class Queue: Sendable {
  /// The most jobs in one commit.
  private static let batch = 64
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

  /// Whether jobs wait. If not, the drain ends.
  func goesOn() -> Bool {
    state.withLock { state in
      state.isDraining = !state.jobs.isEmpty
      return state.isDraining
    }
  }

  /// The jobs of the next commit; nil when there are none and the drain ends.
  func take() -> [any Committable]? {
    state.withLock { state in
      guard !state.jobs.isEmpty else {
        state.isDraining = false
        return nil
      }
      defer { state.jobs.removeFirst(min(Self.batch, state.jobs.count)) }
      return Array(state.jobs.prefix(Self.batch))
    }
  }
}

private protocol Committable: Sendable {
  func perform(_ transaction: Transaction) -> Performed
  func fail(_ error: any Error)
}

/// A job that has run and is not committed yet.
struct Performed {
  let failure: (any Error)?
  /// Answers the caller with the job's result; called after the commit.
  fileprivate let answer: @Sendable () -> Void
}

/// One write and its waiting caller.
private struct Job<R: Sendable>: Committable {
  let body: @Sendable (Transaction) throws -> R
  let continuation: CheckedContinuation<R, any Error>

  func perform(_ transaction: Transaction) -> Performed {
    let continuation = continuation
    do {
      let result = try body(transaction)
      if let failure = transaction.failure { throw failure }
      return Performed(failure: nil) { continuation.resume(returning: result) }
    } catch {
      return Performed(failure: error) { continuation.resume(throwing: error) }
    }
  }

  func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
