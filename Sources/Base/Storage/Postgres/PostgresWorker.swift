import Foundation
import TenderPayments

/// One thread with its connection, which runs one transaction after another.
final class PostgresWorker {
  private let settings: PostgresSettings
  /// nil: the database's own.
  private let clock: WallClock?
  private var hosts: PostgresHosts
  private var connection: PostgresConnection?
  private let counter: PoolCounter

  /// - Parameters:
  ///   - timelines: shared by all workers of the process.
  ///   - counter: the same.
  init(settings: PostgresSettings, clock: WallClock?, timelines: PostgresTimelines, counter: PoolCounter) {
    self.settings = settings
    self.clock = clock
    self.counter = counter
    hosts = PostgresHosts(settings, timelines: timelines)
  }

  /// Runs a transaction and answers its caller.
  ///
  /// - Returns: whether it was committed.
  func serve(_ job: PostgresJob) -> Bool {
    do {
      let answer = try transact(job)
      // First, so that the caller's next transaction finds the connection free.
      counter.ends()
      answer()
      return true
    } catch {
      counter.ends()
      job.fail((error as? PostgresError)?.translated ?? error)
      return false
    }
  }

  /// Runs the transaction again as long as nothing of it can have been committed and it may succeed.
  private func transact(_ job: PostgresJob) throws -> @Sendable () -> Void {
    while true {
      do { return try attempt(job) } catch let error as PostgresError {
        guard let reason = error.retryReason, ContinuousClock.now < job.deadline else { throw error }
        counter.retries(reason)
        // Other nodes run again too; not all of them at the same moment.
        Thread.sleep(forTimeInterval: .random(in: 0.005...0.05))
      }
    }
  }

  /// - Throws: ``PostgresError`` when the transaction failed because of the server and is not committed; otherwise what
  ///   the body threw.
  private func attempt(_ job: PostgresJob) throws -> @Sendable () -> Void {
    let connection = try connect()
    let session = PostgresSession(connection, isReading: job.isReading, addsTime: clock == nil)
    defer { counter.add(trips: session.trips) }
    do {
      let transaction = Transaction(session) { [clock] in try clock?.now() ?? session.now() }
      let answer = try job.perform(transaction)
      if let failure = transaction.failure { throw failure }
      try end(job, session, on: connection)
      return answer
    } catch {
      if session.hasBegun { rollBack(connection, after: session.failure ?? error) }
      if let failure = session.failure, failure.retryReason != nil { throw failure }
      // Nothing is committed, and what the body refused may have been true before a promotion only.
      if error as? StorageError != .outcomeUnknown { try hosts.check(connection) }
      throw error
    }
  }

  private func connect() throws -> PostgresConnection {
    if let connection, hosts.admits(connection) { return connection }
    connection = nil
    let made = try hosts.connect()
    connection = made
    return made
  }

  private func end(_ job: PostgresJob, _ session: PostgresSession, on connection: PostgresConnection) throws {
    guard !job.isReading else {
      try session.endReading()
      return try hosts.check(connection)
    }
    do {
      try session.commit(limit: settings.commitLimit)
      // A host that was replaced does not keep what it confirms.
      guard hosts.admits(connection) else { throw StorageError.outcomeUnknown }
    } catch StorageError.outcomeUnknown {
      counter.isInDoubt()
      throw StorageError.outcomeUnknown
    }
  }

  /// A connection that cannot roll back, or whose commit has an unknown outcome, is closed.
  private func rollBack(_ used: PostgresConnection, after error: any Error) {
    let isLost = (error as? PostgresError)?.endsConnection ?? (error as? StorageError == .outcomeUnknown)
    if !isLost, (try? used.execute("ROLLBACK")) != nil {
      guard (error as? PostgresError)?.isOfChangedTable == true else { return }
      if (try? used.forgetStatements()) != nil { return }
    }
    connection = nil
    hosts.skip()
  }
}
