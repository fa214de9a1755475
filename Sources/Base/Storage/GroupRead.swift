import GRDB
import Synchronization
import TenderPayments

/// Lets reads that wait at the same moment share one snapshot, and so one change of threads.
///
/// Callers leave a job in a queue, and up to ``lanes`` connections work it off side by side. Each begins a snapshot,
/// runs jobs that were left before it, one at a time, and answers each at once: a job sees every write that was
/// answered before it was left, and a long one holds up no others as long as a lane is free.
final class GroupRead: Sendable {
  static let lanes = 4
  private let pool: DatabasePool
  private let clock: WallClock
  private let queue = ReadQueue(lanes: lanes)

  init(pool: DatabasePool, clock: WallClock) {
    self.pool = pool
    self.clock = clock
  }

  func run<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let job = ReadJob(
        run: { transaction in continuation.resume(with: Result { try body(transaction) }) },
        fail: { continuation.resume(throwing: $0) })
      if queue.append(job) { openLane() }
    }
  }

  private func openLane() {
    pool.asyncUnsafeRead { [self] connection in
      while let end = queue.end() {
        do { try read(until: end, connection.get()) } catch { fail(until: end, error) }
      }
    }
  }

  /// An error that makes SQLite end the snapshot ends the round; what is left of it gets a snapshot of its own.
  private func read(until end: Int, _ connection: GRDB.Database) throws {
    try connection.cachedStatement(sql: "BEGIN").execute()
    while connection.isInsideTransaction, let job = queue.take(before: end) {
      job.run(Transaction(connection, now: clock.now()))
    }
    if connection.isInsideTransaction { try connection.cachedStatement(sql: "COMMIT").execute() }
  }

  private func fail(until end: Int, _ error: any Error) {
    while let job = queue.take(before: end) { job.fail(error) }
  }
}

/// One read and the caller who waits for it.
private struct ReadJob: Sendable {
  let run: @Sendable (Transaction) -> Void
  let fail: @Sendable (any Error) -> Void
}

/// The jobs that wait, numbered as they come, and how many lanes are at work.
private final class ReadQueue: Sendable {
  private struct State {
    var jobs: [ReadJob] = []
    var taken = 0
    var busy = 0
  }

  private let state = Mutex(State())
  private let lanes: Int

  init(lanes: Int) { self.lanes = lanes }

  /// Whether the caller must open another lane.
  func append(_ job: ReadJob) -> Bool {
    state.withLock { state in
      state.jobs.append(job)
      guard state.busy < lanes else { return false }
      state.busy += 1
      return true
    }
  }

  /// The number that the next job will have; nil when none waits, and the lane is closed.
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
