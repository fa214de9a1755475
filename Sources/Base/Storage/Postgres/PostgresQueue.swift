import Foundation

/// Transactions that wait for a connection: first come, first served, bounded in number and in time.
final class PostgresQueue: @unchecked Sendable {
  // The condition guards all of these.
  private let condition = NSCondition()
  private var jobs: [PostgresJob] = []
  private var isClosed = false
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
    Thread.detachNewThread { [weak self] in while self?.expire() ?? false { Thread.sleep(forTimeInterval: 0.05) } }
  }

  var count: Int { condition.withLock { jobs.count } }

  /// - Throws: ``StorageError/overloaded`` when too many wait already.
  func append(_ job: PostgresJob) throws {
    try condition.withLock {
      guard !isClosed else { throw StorageError.connection("the store is closed") }
      guard jobs.count < limit else { throw StorageError.overloaded }
      jobs.append(job)
      condition.signal()
    }
  }

  /// Waits for a job; nil when the queue is closed and empty.
  func take() -> PostgresJob? {
    condition.withLock {
      while jobs.isEmpty, !isClosed { condition.wait() }
      return jobs.isEmpty ? nil : jobs.removeFirst()
    }
  }

  /// Refuses further jobs. Those that wait are still served.
  func close() {
    condition.withLock {
      isClosed = true
      condition.broadcast()
    }
  }

  /// Fails the jobs whose time is over, which no connection may ever take while all of them wait for the server.
  ///
  /// - Returns: whether it has to be called again.
  private func expire() -> Bool {
    let (late, goesOn) = condition.withLock {
      let now = ContinuousClock.now
      let late = jobs.filter { $0.deadline <= now }
      jobs.removeAll { $0.deadline <= now }
      return (late, !isClosed || !jobs.isEmpty)
    }
    for job in late { job.fail(StorageError.overloaded) }
    return goesOn
  }
}

/// One transaction and its waiting caller.
struct PostgresJob: Sendable {
  /// Whether the transaction only reads; it then sees one snapshot.
  let isReading: Bool
  /// Until when it may be started, or started again.
  let deadline: ContinuousClock.Instant
  /// Runs the body. What it returns answers the caller and is called after the commit.
  let perform: @Sendable (Transaction) throws -> @Sendable () -> Void
  let fail: @Sendable (any Error) -> Void
}
