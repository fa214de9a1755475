import GRDB
import Synchronization
import TenderPayments

/// Where the jobs of a ``GroupCommit`` run: a store's one writer.
protocol CommitWriter: Sendable {
  /// Commits and answers until no job waits. Called when jobs wait and nobody does so.
  func drain(_ group: GroupCommit<Self>)
  /// What one job sees.
  func transaction(on connection: GRDB.Database, now: Timestamp) -> Transaction
  /// Runs a statement of the group's own, around the jobs.
  func run(_ sql: String, on connection: GRDB.Database) throws
  /// Ends the transaction in which these jobs ran, of which some may have failed and be rolled back.
  func commit(_ jobs: [Performed], on connection: GRDB.Database) throws
}

extension CommitWriter {
  func transaction(on connection: GRDB.Database, now: Timestamp) -> Transaction { Transaction(connection, now: now) }

  func run(_ sql: String, on connection: GRDB.Database) throws { try connection.cachedStatement(sql: sql).execute() }

  func commit(_ jobs: [Performed], on connection: GRDB.Database) throws { try run("COMMIT", on: connection) }
}

/// Lets writes that wait at the same moment share one commit, and so one flush of the disk.
///
/// Callers leave a job in a queue; one drain at a time takes some of them, runs each under a savepoint of its own if
/// there are several, commits, and only then answers the callers. A failed job rolls back alone; a failed commit fails
/// all.
final class GroupCommit<Writer: CommitWriter>: Sendable {
  private let writer: Writer
  private let clock: WallClock
  private let queue = Queue()
  private let standing = Mutex<(count: Int, failure: StorageError?)>((0, nil))

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
  var count: Int { standing.withLock { $0.count } }
  /// Jobs that no commit has taken yet.
  var waiting: Int { queue.count }
  /// Why nothing is written any more.
  var failure: StorageError? { standing.withLock { $0.failure } }

  /// Commits jobs that wait.
  ///
  /// - Returns: what the callers must be told; nil when no job waits, and the drain is over.
  func next(on connection: GRDB.Database) -> Settled? { queue.take().map { commit($0, connection) } }

  /// Whether a drain has to go on. When not, it is over, and the next job begins another.
  func goesOn() -> Bool { queue.goesOn() }

  /// Writes nothing and fails the jobs that ``next(on:)`` would take.
  func refuse(_ error: any Error) {
    guard let jobs = queue.take() else { return }
    for job in jobs { job.fail(error) }
  }

  private func commit(_ jobs: [any Committable], _ connection: GRDB.Database) -> Settled {
    let now = clock.now()
    do {
      if let failure { throw failure }
      try writer.run("BEGIN IMMEDIATE", on: connection)
      let performed = try perform(jobs, connection, now)
      try writer.commit(performed, on: connection)
      standing.withLock { $0.count += 1 }
      return Settled(jobs: jobs, outcome: .success(performed))
    } catch {
      noteBroken(error)
      if connection.isInsideTransaction { try? connection.execute(sql: "ROLLBACK") }
      return Settled(jobs: jobs, outcome: .failure(error))
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

  private func perform(
    _ jobs: [any Committable], _ connection: GRDB.Database, _ now: Timestamp
  ) throws -> [Performed] {
    guard jobs.count == 1 else { return try jobs.map { try perform($0, connection, now) } }
    // One by itself needs no savepoint, for which SQLite keeps a copy of every page that it changes: when it fails, all
    // of the transaction is rolled back.
    let performed = jobs[0].perform(writer.transaction(on: connection, now: now))
    if let failure = performed.failure { throw failure }
    return [performed]
  }

  private func perform(
    _ job: any Committable, _ connection: GRDB.Database, _ now: Timestamp
  ) throws -> Performed {
    try writer.run("SAVEPOINT job", on: connection)
    let performed = job.perform(writer.transaction(on: connection, now: now))
    // On a full disk or an I/O error SQLite rolls back by itself; another savepoint would then open a transaction of
    // its own and commit half of the batch.
    guard connection.isInsideTransaction else { throw performed.failure ?? StorageError.full }
    if performed.failure != nil { try writer.run("ROLLBACK TO job", on: connection) }
    try writer.run("RELEASE job", on: connection)
    return performed
  }
}

/// Jobs that are committed or have failed, and whose callers do not know yet.
struct Settled {
  fileprivate let jobs: [any Committable]
  fileprivate let outcome: Result<[Performed], any Error>

  /// How many jobs the commit had; none when it failed.
  var committed: Int { (try? outcome.get().count) ?? 0 }

  /// Tells every caller what came of its job.
  func answer() {
    switch outcome {
    case .success(let performed): for job in performed { job.answer() }
    case .failure(let error): fail(error)
    }
  }

  /// Tells every caller of an error, whatever came of its job.
  func fail(_ error: any Error) { for job in jobs { job.fail(error) } }
}

/// The jobs that wait, and whether somebody is draining them.
private final class Queue: Sendable {
  /// So many jobs share a commit at most.
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

  /// Whether jobs wait. When none do, the drain is over.
  func goesOn() -> Bool {
    state.withLock { state in
      state.isDraining = !state.jobs.isEmpty
      return state.isDraining
    }
  }

  /// The jobs of the next commit, or nil when there are none and the drain is over.
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

/// A job that ran and is not committed yet.
struct Performed {
  let failure: (any Error)?
  /// Tells the caller what came of it; to be called after the commit.
  fileprivate let answer: @Sendable () -> Void
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
