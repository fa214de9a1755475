import TenderPayments

/// Runs a transaction's statements on a PostgreSQL connection.
final class PostgresSession: StoreSession {
  private let connection: PostgresConnection
  private let isReading: Bool
  /// Whether transactions have the database's time, and not one that is handed in.
  let addsTime: Bool
  /// Statements whose results are not used yet; they go to the server together with the next one. First of all the
  /// beginning, and in a transaction that writes the question for the time.
  private var waiting: [PostgresStatement]
  /// The server's time, from the first trip of a transaction that writes; nil as long as it is not known.
  private var time: Timestamp?
  /// Whether anything has been sent, so that it has to be taken back after an error.
  private(set) var hasBegun = false
  /// Whether a transaction that only reads has committed.
  private var hasEnded = false
  /// Limits what libpq keeps in memory: it writes all of them before it reads an answer.
  private static let mostWaiting = 32
  /// How often the server's answer was waited for.
  private(set) var trips = 0
  /// The first error, which has ended the transaction.
  private(set) var failure: PostgresError?

  init(_ connection: PostgresConnection, isReading: Bool, addsTime: Bool) {
    self.connection = connection
    self.isReading = isReading
    self.addsTime = addsTime
    waiting = (isReading ? [.beginReading] : [.beginWriting, .time]).map { PostgresStatement($0) }
  }

  /// The database's time, which is the same for every node. Most transactions that only read do without it.
  func now() throws -> Timestamp {
    if let time { return time }
    if !isReading { try finish() }
    let now = try time ?? Self.time(in: runWaiting(after: .time))
    time = now
    return now
  }

  var approximateTime: Timestamp? { addsTime ? time ?? connection.approximateTime : nil }

  private static func time(in result: PostgresResult) throws -> Timestamp {
    guard let row = try result.rows().first else { throw StorageError.other("no time") }
    return try row.time("now")
  }

  func rows(_ sql: String, _ values: [SQLValue], locking: RowLock) throws -> [Row] {
    try runWaiting(after: SQLStatement(sql, values, locking: locking)).rows()
  }

  func firstRow(_ sql: String, _ values: [SQLValue]) throws -> Row? {
    try runWaiting(after: SQLStatement(sql, values)).rows(atMost: 1).first
  }

  func firstRows(of queries: [SQLStatement], isEnd: Bool) throws -> [Row?] {
    hasEnded = isReading && isEnd
    let isWhole = hasEnded && !hasBegun
    // One trip without BEGIN is a transaction of its own. The connection's defaults make it read one snapshot.
    if isWhole { waiting.removeFirst() }
    let results = try runWaiting(with: hasEnded && !isWhole ? queries + [.commit] : queries)
    return try results.prefix(queries.count).map { try $0.rows(atMost: 1).first }
  }

  func ask(_ queries: [SQLStatement]) throws -> PendingRows {
    let answer = PendingRows([])
    waiting += queries.map { PostgresStatement($0, answer: answer) }
    return answer
  }

  func answers(to questions: PendingRows) throws -> [Row?] {
    if questions.rows.isEmpty { try finish() }
    return questions.rows
  }

  func run(_ sql: String, _ values: [SQLValue]) throws { try wait(PostgresStatement(SQLStatement(sql, values))) }

  func changeOne(_ statement: SQLStatement, orThrow error: any Error) throws {
    try wait(PostgresStatement(statement, demand: error))
  }

  func changes(_ sql: String, _ values: [SQLValue]) throws -> Int {
    try runWaiting(after: SQLStatement(sql, values)).changedCount
  }

  private func wait(_ statement: PostgresStatement) throws {
    waiting.append(statement)
    if waiting.count == Self.mostWaiting { try finish() }
  }

  private func finish() throws { _ = try runWaiting(with: []) }

  func define(_ sql: String) throws {
    try finish()
    try recordingFailure { for statement in PostgresDefinition(sql).statements { try connection.execute(statement) } }
  }

  /// Ends a transaction that only read, which has no outcome to be unknown.
  func endReading() throws {
    if !hasEnded { _ = try runWaiting(after: .commit) }
  }

  /// Commits, together with what waits.
  ///
  /// Not together with the beginning: a connection that was lost while it was idle is found before anything can have
  /// been committed.
  ///
  /// - Throws: ``StorageError/outcomeUnknown`` as ``PostgresConnection/commit(_:limit:)``.
  func commit(limit: Duration) throws {
    if !hasBegun { try finish() }
    trips += 1
    try recordingFailure { try connection.commit(takeWaiting(), limit: limit) }
  }

  private func runWaiting(after statement: SQLStatement) throws -> PostgresResult {
    try runWaiting(with: [statement])[0]
  }

  /// Runs what waits, and further statements, in one trip; the further statements' results.
  private func runWaiting(with statements: [SQLStatement]) throws -> [PostgresResult] {
    let batch = takeWaiting() + statements.map { PostgresStatement($0) }
    guard !batch.isEmpty else { return [] }
    let isFirst = !hasBegun
    hasBegun = true
    trips += 1
    let results = try recordingFailure { try connection.execute(batch) }
    if isFirst, !isReading { try note(Self.time(in: results[1])) }
    for (statement, result) in zip(batch, results) { try statement.answer?.rows.append(result.rows(atMost: 1).first) }
    return Array(results.suffix(statements.count))
  }

  private func note(_ time: Timestamp) {
    self.time = time
    connection.note(time)
  }

  private func takeWaiting() -> [PostgresStatement] {
    defer { waiting.removeAll(keepingCapacity: true) }
    return connection.joiner.join(waiting)
  }

  private func recordingFailure<R>(_ statement: () throws -> R) throws -> R {
    do { return try statement() } catch let error as PostgresError {
      failure = failure ?? error
      throw error.translated
    }
  }
}

extension SQLStatement {
  /// One snapshot for all that is read.
  fileprivate static let beginReading = SQLStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  fileprivate static let beginWriting = SQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
  fileprivate static let time = SQLStatement("SELECT \(transactionTime) AS now")
}
