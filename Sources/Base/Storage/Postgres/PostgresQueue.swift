import Dispatch
import Foundation
import Synchronization

/// Transactions that wait for a connection: first come, first served, bounded in number and in time.
final class PostgresQueue: Sendable {
  private let state = Mutex<(jobs: [PostgresJob], isClosed: Bool)>(([], false))
  /// Counts jobs that were appended, and wakes everybody when the queue is closed.
  private let arrivals = DispatchSemaphore(value: 0)
  private let limit: Int
  private let counter: PoolCounter

  init(limit: Int, counter: PoolCounter) {
    self.limit = limit
    self.counter = counter
    Thread.detachNewThread { [weak self] in while self?.expire() ?? false { Thread.sleep(forTimeInterval: 0.05) } }
  }

  var count: Int { state.withLock { $0.jobs.count } }

  /// - Throws: ``StorageError/overloaded`` when too many wait already.
  func append(_ job: PostgresJob) throws {
    try state.withLock { state in
      guard !state.isClosed else { throw StorageError.connection("the store is closed") }
      guard state.jobs.count < limit else { throw StorageError.overloaded }
      var job = job
      job.waitsSince = counter.hasFree(beside: state.jobs.count) ? nil : .now
      state.jobs.append(job)
    }
    arrivals.signal()
  }

  /// Waits for a job, which counts as one that uses a connection; nil when the queue is closed and empty.
  func take() -> PostgresJob? {
    while true {
      arrivals.wait()
      // A job that was due may have expired meanwhile.
      let (job, isOver) = state.withLock { state in
        if !state.jobs.isEmpty { counter.begins() }
        return (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isClosed && state.jobs.isEmpty)
      }
      if let begin = job?.waitsSince { counter.addWait(.now - begin) }
      // Wakes the next thread that waits.
      if isOver { arrivals.signal() }
      if job != nil || isOver { return job }
    }
  }

  /// Refuses further jobs. Those that wait are still served.
  func close() {
    state.withLock { $0.isClosed = true }
    arrivals.signal()
  }

  /// Fails the jobs whose time is over, which no connection may ever take while all of them wait for the server.
  ///
  /// - Returns: whether it has to be called again.
  private func expire() -> Bool {
    let (late, goesOn) = state.withLock { state in
      let now = ContinuousClock.now
      let late = state.jobs.filter { $0.deadline <= now }
      state.jobs.removeAll { $0.deadline <= now }
      return (late, !state.isClosed || !state.jobs.isEmpty)
    }
    for job in late {
      if let begin = job.waitsSince { counter.addWait(.now - begin) }
      job.fail(StorageError.overloaded)
    }
    return goesOn
  }
}

/// One transaction and its waiting caller.
struct PostgresJob: Sendable {
  /// Whether the transaction only reads; it then sees one snapshot.
  let isReading: Bool
  /// Until when it may be started, or started again.
  let deadline: ContinuousClock.Instant
  /// Since when it waits for a connection; nil when one was free.
  var waitsSince: ContinuousClock.Instant?
  /// Runs the body. What it returns answers the caller and is called after the commit.
  let perform: @Sendable (Transaction) throws -> @Sendable () -> Void
  let fail: @Sendable (any Error) -> Void
}
