import TenderPayments

/// Runs a transaction's statements on a PostgreSQL connection.
final class PostgresSession: StoreSession {
  private let connection: PostgresConnection
  private let isReading: Bool
  /// Statements whose results are not used yet; they go to the server together with the next one. First of all the
  /// beginning, and in a transaction that writes the question for the time.
  private var waiting: [PostgresStatement]
  /// Of the server, from the first trip of a transaction that writes; nil as long as it is not known.
  private var time: Timestamp?
  /// Whether anything has been sent, so that it has to be taken back after an error.
  private(set) var hasBegun = false
  /// Limits what libpq keeps in memory: it writes all of them before it reads an answer.
  private static let mostWaiting = 32
  /// The first error, which has ended the transaction.
  private(set) var failure: PostgresError?

  init(_ connection: PostgresConnection, isReading: Bool) {
    self.connection = connection
    self.isReading = isReading
    waiting = isReading ? [.beginReading] : [.beginWriting, .time]
  }

  /// The database's time, which is the same for every node. Most transactions that only read do without it.
  func now() throws -> Timestamp {
    if let time { return time }
    if !isReading { try finish() }
    let now = try time ?? Self.time(in: runWaiting(after: .time))
    time = now
    return now
  }

  private static func time(in result: PostgresResult) throws -> Timestamp {
    guard let row = try result.rows().first else { throw StorageError.other("no time") }
    return try row.time("now")
  }

  func rows(_ sql: String, _ values: [SQLValue], locking: RowLock) throws -> [Row] {
    try result(sql + locking.clause, values).rows()
  }

  func firstRow(_ sql: String, _ values: [SQLValue]) throws -> Row? { try result(sql, values).rows(atMost: 1).first }

  func firstRows(of queries: [SQLQuery]) throws -> [Row?] {
    guard let last = queries.last else { return [] }
    waiting += queries.dropLast().map { PostgresStatement($0.sql, $0.values) }
    return try runWaiting(after: PostgresStatement(last.sql, last.values), last: queries.count)
      .map { try $0.rows(atMost: 1).first }
  }

  func run(_ sql: String, _ values: [SQLValue]) throws {
    waiting.append(PostgresStatement(sql, values))
    if waiting.count == Self.mostWaiting { try finish() }
  }

  func changes(_ sql: String, _ values: [SQLValue]) throws -> Int { try result(sql, values).changedCount }

  private func finish() throws {
    guard let last = waiting.popLast() else { return }
    _ = try runWaiting(after: last)
  }

  func define(_ sql: String) throws {
    try finish()
    try noting { for statement in PostgresDefinition(sql).statements { try connection.execute(statement) } }
  }

  /// Ends a transaction that only read, which has no outcome to be unknown.
  func endReading() throws { _ = try runWaiting(after: .commit) }

  /// Commits, together with what waits.
  ///
  /// Not together with the beginning: a connection that was lost while it was idle is found before anything can have
  /// been committed.
  ///
  /// - Throws: ``StorageError/outcomeUnknown`` as ``PostgresConnection/commit(_:limit:)``.
  func commit(limit: Duration) throws {
    if !hasBegun { try finish() }
    try noting { try connection.commit(waiting, limit: limit) }
  }

  private func result(_ sql: String, _ values: [SQLValue]) throws -> PostgresResult {
    try runWaiting(after: PostgresStatement(sql, values))
  }

  /// Runs what waits and a statement; the statement's result.
  private func runWaiting(after statement: PostgresStatement) throws -> PostgresResult {
    try runWaiting(after: statement, last: 1)[0]
  }

  /// The results of so many of the last statements.
  private func runWaiting(after statement: PostgresStatement, last count: Int) throws -> [PostgresResult] {
    let batch = waiting + [statement]
    waiting.removeAll(keepingCapacity: true)
    let isFirst = !hasBegun
    hasBegun = true
    let results = try noting { try connection.execute(batch) }
    if isFirst, !isReading { time = try Self.time(in: results[1]) }
    return Array(results.suffix(count))
  }

  private func noting<R>(_ statement: () throws -> R) throws -> R {
    do { return try statement() } catch let error as PostgresError {
      failure = failure ?? error
      throw error.translated
    }
  }
}

extension RowLock {
  fileprivate var clause: String {
    switch self {
    case .none: ""
    case .waiting: " FOR UPDATE"
    case .skipping: " FOR UPDATE SKIP LOCKED"
    }
  }
}

extension PostgresStatement {
  /// One snapshot for all that is read.
  fileprivate static let beginReading = PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", [])
  fileprivate static let beginWriting = PostgresStatement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", [])
  fileprivate static let time = PostgresStatement(
    "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now", [])
}
