import Foundation
import TenderPayments

/// One thread with its connection, which runs one transaction after another.
final class PostgresWorker {
  private let settings: PostgresSettings
  /// nil: the database's own.
  private let clock: WallClock?
  private var hosts: PostgresHosts
  private var connection: PostgresConnection?

  /// - Parameter timelines: shared by all workers of the process.
  init(settings: PostgresSettings, clock: WallClock?, timelines: PostgresTimelines) {
    self.settings = settings
    self.clock = clock
    hosts = PostgresHosts(settings, timelines: timelines)
  }

  /// Runs a transaction and answers its caller.
  ///
  /// - Returns: whether it was committed.
  func serve(_ job: PostgresJob) -> Bool {
    do {
      let answer = try transact(job)
      answer()
      return true
    } catch {
      job.fail((error as? PostgresError)?.translated ?? error)
      return false
    }
  }

  /// Runs the transaction again as long as nothing of it can have been committed and it may succeed.
  private func transact(_ job: PostgresJob) throws -> @Sendable () -> Void {
    while true {
      do { return try attempt(job) } catch let error as PostgresError {
        guard error.invitesRepetition, ContinuousClock.now < job.deadline else { throw error }
        // Other nodes run again too; not all of them at the same moment.
        Thread.sleep(forTimeInterval: .random(in: 0.005...0.05))
      }
    }
  }

  /// - Throws: ``PostgresError`` when the transaction failed because of the server and is not committed; otherwise what
  ///   the body threw.
  private func attempt(_ job: PostgresJob) throws -> @Sendable () -> Void {
    let connection = try connected()
    let session = PostgresSession(connection)
    do {
      let transaction = Transaction(session, now: try begin(job, connection))
      let answer = try job.perform(transaction)
      if let failure = transaction.failure { throw failure }
      try end(job, connection)
      return answer
    } catch {
      rollBack(connection, after: session.failure ?? error)
      if let failure = session.failure, failure.invitesRepetition { throw failure }
      throw error
    }
  }

  private func connected() throws -> PostgresConnection {
    if let connection, hosts.admits(connection) { return connection }
    connection = nil
    let made = try hosts.connect()
    connection = made
    return made
  }

  /// - Returns: the database's time, which is the same for every node.
  private func begin(_ job: PostgresJob, _ connection: PostgresConnection) throws -> Timestamp {
    let mode = job.isReading ? "REPEATABLE READ READ ONLY" : "READ COMMITTED READ WRITE"
    let time = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"
    let result = try connection.execute("BEGIN ISOLATION LEVEL \(mode); \(time)")
    if let clock { return clock.now() }
    guard let microseconds = result.text.flatMap({ Int64($0) }) else { throw StorageError.other("no time") }
    return Timestamp(microseconds: microseconds)
  }

  /// A transaction that only read has no outcome to be unknown.
  private func end(_ job: PostgresJob, _ connection: PostgresConnection) throws {
    if job.isReading { try connection.execute("COMMIT") } else { try connection.commit(limit: settings.commitLimit) }
  }

  /// A connection that cannot roll back, or whose commit has an unknown outcome, is closed.
  private func rollBack(_ used: PostgresConnection, after error: any Error) {
    let isLost = (error as? PostgresError)?.endsConnection ?? (error as? StorageError == .outcomeUnknown)
    guard isLost || (try? used.execute("ROLLBACK")) == nil else { return }
    connection = nil
    hosts.skip()
  }
}
