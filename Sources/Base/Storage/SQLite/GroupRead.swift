import GRDB
import Synchronization
import TenderPayments

/// Combines concurrent reads into one snapshot, and so one change of threads.
///
/// Callers append jobs to a queue that up to ``readerCount`` connections serve in parallel. Each reader begins a
/// snapshot, runs the jobs that were appended before it, one at a time, and answers each at once. A job sees every
/// write that was answered before the job was appended; a long job delays no others while a reader is free.
final class GroupRead: Sendable {
  static let readerCount = 4
  private let pool: DatabasePool
  private let clock: WallClock
  private let queue = ReadQueue(readerCount: readerCount)

  init(pool: DatabasePool, clock: WallClock) {
    self.pool = pool
    self.clock = clock
  }

  func run<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let job = ReadJob(
        run: { transaction in continuation.resume(with: Result { try body(transaction) }) },
        fail: { continuation.resume(throwing: $0) })
      if queue.append(job) { openReader() }
    }
  }

  private func openReader() {
    pool.asyncUnsafeRead { [self] connection in
      while let end = queue.end() {
        do { try read(until: end, connection.get()) } catch { fail(until: end, error) }
      }
    }
  }

  /// An error that makes SQLite end the snapshot ends the round; the remaining jobs get a new snapshot.
  private func read(until end: Int, _ connection: GRDB.Database) throws {
    try connection.cachedStatement(sql: "BEGIN").execute()
    while connection.isInsideTransaction, let job = queue.take(before: end) {
      job.run(Transaction(SQLiteSession(connection), now: clock.now()))
    }
    if connection.isInsideTransaction { try connection.cachedStatement(sql: "COMMIT").execute() }
  }

  private func fail(until end: Int, _ error: any Error) {
    while let job = queue.take(before: end) { job.fail(error) }
  }
}

/// One read and its waiting caller.
private struct ReadJob: Sendable {
  let run: @Sendable (Transaction) -> Void
  let fail: @Sendable (any Error) -> Void
}

/// The waiting jobs, numbered in order, and how many readers are busy.
private final class ReadQueue: Sendable {
  private struct State {
    var jobs: [ReadJob] = []
    var taken = 0
    var busy = 0
  }

  private let state = Mutex(State())
  private let readerCount: Int

  init(readerCount: Int) { self.readerCount = readerCount }

  /// Appends a job and returns whether the caller must open another reader.
  func append(_ job: ReadJob) -> Bool {
    state.withLock { state in
      state.jobs.append(job)
      guard state.busy < readerCount else { return false }
      state.busy += 1
      return true
    }
  }

  /// The number that the next job will get; nil when none waits and the reader closes.
  func end() -> Int? {
    state.withLock { state in
      guard state.jobs.isEmpty else { return state.taken + state.jobs.count }
      state.busy -= 1
      return nil
    }
  }

  func take(before end: Int) -> ReadJob? {
    state.withLock { state in
      guard state.taken < end, !state.jobs.isEmpty else { return nil }
      state.taken += 1
      return state.jobs.removeFirst()
    }
  }
}
