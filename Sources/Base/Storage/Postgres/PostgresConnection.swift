import CLibPQ
import Foundation
import TenderPayments

/// A connection to the database, used by one thread.
///
/// Every wait for the server has an end: a server that is stopped, or behind a network that drops packets, answers
/// nothing.
final class PostgresConnection {
  private let handle: OpaquePointer
  private let statementLimit: Duration
  /// How many warnings the server has sent since the last commit began. Notices are no warnings.
  private let warnings: UnsafeMutablePointer<Int>
  /// nil if the server does not tell.
  private(set) var timeline: PostgresTimeline?
  /// By their text and the types of their parameters.
  private var statements: [StatementKey: PreparedStatement] = [:]
  let joiner = StatementJoiner()

  private struct StatementKey: Hashable {
    let sql: StatementText
    let times: [Int]
    let types: [Oid]
  }

  /// The last time that the database answered, and when.
  private var answered: (time: Timestamp, at: ContinuousClock.Instant)?
  /// How long later times are reckoned from that answer. Either clock may be set or run fast.
  private static let approximation: Duration = .seconds(60)

  /// - Throws: ``PostgresError`` when no server that accepts writes answers.
  init(_ address: PostgresAddress, _ settings: PostgresSettings) throws {
    guard let handle = Self.connect(address.parameters) else { throw PostgresError(lost: "out of memory") }
    self.handle = handle
    warnings = .allocate(capacity: 1)
    warnings.initialize(to: 0)
    // The server cancels a statement at its limit itself; this one is for a server that does not answer.
    statementLimit = settings.statementLimit + .seconds(2)
    // Every property has its value: if this throws, deinit closes the connection.
    guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
    PQsetNoticeReceiver(handle, { PostgresConnection.note($1, in: $0) }, warnings)
    try execute(Self.configuration(settings))
    timeline = try readTimeline()
  }

  /// Not in the address's `options`, which PgBouncer does not pass on.
  ///
  /// Tender's statements find few rows by an index. A plan that is kept is made without their number, at first for empty
  /// tables, and would read whole tables once they have grown.
  private static func configuration(_ settings: PostgresSettings) -> String {
    let limits = [
      ("statement_timeout", settings.statementLimit), ("lock_timeout", settings.lockLimit),
      ("idle_in_transaction_session_timeout", settings.idleLimit),
    ].map { "\($0) = \($1.milliseconds)" }
    let plans = ["enable_hashjoin", "enable_mergejoin", "jit"].map { "\($0) = off" }
    // For what is run without BEGIN, which only reads.
    let defaults = ["default_transaction_isolation = 'repeatable read'", "default_transaction_read_only = on"]
    return (limits + plans + defaults).map { "SET \($0)" }.joined(separator: "; ")
  }

  /// The name of a file of the log begins with the timeline, in eight hexadecimal digits. What the control file says
  /// of the timeline is true only after the checkpoint that follows a promotion.
  private func readTimeline() throws -> PostgresTimeline? {
    let file = "pg_walfile_name(pg_current_wal_insert_lsn())"
    do {
      let text = try execute("SELECT \(file) || system_identifier FROM pg_control_system()").text ?? ""
      return UInt32(text.prefix(8), radix: 16).map { .init(systemIdentifier: "\(text.dropFirst(24))", number: $0) }
    } catch let error as PostgresError where !error.endsConnection { return nil }
  }

  deinit {
    PQfinish(handle)
    warnings.deallocate()
  }

  /// libpq calls it on the thread that reads an answer.
  private static func note(_ result: OpaquePointer?, in warnings: UnsafeMutableRawPointer?) {
    // "V": the severity, untranslated.
    guard let severity = PQresultErrorField(result, CInt(UInt8(ascii: "V"))), String(cString: severity) == "WARNING"
    else { return }
    warnings?.assumingMemoryBound(to: Int.self).pointee += 1
  }

  private static func connect(_ parameters: [String: String]) -> OpaquePointer? {
    let keywords = parameters.keys.map { strdup($0) } + [nil]
    let values = parameters.values.map { strdup($0) } + [nil]
    defer { for text in keywords + values { free(text) } }
    return keywords.map { UnsafePointer($0) }.withUnsafeBufferPointer { keywords in
      values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
        PQconnectdbParams(keywords.baseAddress, values.baseAddress, 0)
      }
    }
  }

  /// Runs statements without parameters; the result of the last, in text format.
  @discardableResult
  func execute(_ sql: String) throws -> PostgresResult {
    guard PQsendQuery(handle, sql) == 1 else { throw lost() }
    return try answer(statementLimit)
  }

  /// Runs statements in one trip, each prepared at its first use.
  ///
  /// - Returns: their results. After the first that fails the server runs none.
  /// - Throws: the demand that was not met, or ``PostgresError``.
  func execute(_ batch: [PostgresStatement]) throws -> [PostgresResult] {
    let statements = try batch.map(prepare)
    try send(statements)
    let outcomes = try statements.map { try outcome(of: $0, statementLimit) }
    try leavePipeline()
    return try outcomes.map { try $0.get() }
  }

  /// Runs statements and commits, in one trip.
  ///
  /// - Throws: the demand that was not met; ``StorageError/outcomeUnknown`` when the server did not say whether the
  ///   transaction is durable: the connection was lost, the limit has passed, or the wait for a synchronous standby was
  ///   cancelled.
  func commit(_ batch: [PostgresStatement], limit: Duration) throws {
    let (statements, commit) = (try batch.map(prepare), try prepare(PostgresStatement(.commit)))
    warnings.pointee = 0
    // A server that gives its reason at a statement does not come to COMMIT, which is already on its way.
    let outcomes = try inDoubt(unless: { $0.state != nil }) {
      try send(statements + [commit])
      return try statements.map { try outcome(of: $0, statementLimit) }
    }
    let hasFailed = outcomes.contains { (try? $0.get()) == nil }
    let end = try inDoubt(unless: { _ in hasFailed }) {
      let end = try outcome(of: commit, limit)
      try leavePipeline()
      return end
    }
    for outcome in outcomes { _ = try outcome.get() }
    guard try end.get().command == "COMMIT" else { throw StorageError.other("the transaction had failed") }
    guard warnings.pointee == 0 else { throw StorageError.outcomeUnknown }
  }

  private func inDoubt<R>(unless isCertain: (PostgresError) -> Bool, _ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as PostgresError where error.endsConnection && !isCertain(error) {
      throw StorageError.outcomeUnknown
    }
  }

  private func send(_ statements: [SentStatement]) throws {
    guard PQenterPipelineMode(handle) == 1 else { throw lost() }
    for statement in statements { try send(statement) }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
  }

  /// Reads the server's answer to the synchronization, after which the pipeline is empty.
  private func leavePipeline() throws {
    guard try next(before: .now + statementLimit) != nil, PQexitPipelineMode(handle) == 1 else { throw lost() }
  }

  /// The answer or the statement's error. A connection that is lost is thrown: it is not waited for once more for each
  /// statement behind it.
  private func outcome(
    of statement: SentStatement, _ limit: Duration
  ) throws -> Result<PostgresResult, any Error> {
    do { return .success(try answer(to: statement, limit)) } catch let error as PostgresError
      where !error.endsConnection
    {
      if let demand = statement.demand, error.state == StatementJoiner.unmetDemand { return .failure(demand) }
      return .failure(error)
    }
  }

  private struct SentStatement {
    let prepared: PreparedStatement
    let parameters: PostgresParameters
    /// By an earlier call.
    let isEarlier: Bool
    let demand: (any Error)?
  }

  private func prepare(_ sent: PostgresStatement) throws -> SentStatement {
    let parameters = PostgresParameters(sent.statement.values)
    let text = StatementText(sent.statement.text)
    let key = StatementKey(sql: text, times: sent.statement.times, types: parameters.types)
    let known = statements[key]
    return SentStatement(
      prepared: try known ?? prepare(key), parameters: parameters, isEarlier: known != nil, demand: sent.demand)
  }

  private func send(_ statement: SentStatement) throws {
    let isSent = statement.parameters.withArguments { values, lengths, formats in
      PQsendQueryPrepared(
        handle, statement.prepared.name, statement.parameters.count, values, lengths, formats, 1)
    }
    guard isSent == 1 else { throw lost() }
  }

  private func answer(to statement: SentStatement, _ limit: Duration) throws -> PostgresResult {
    do {
      let result = try answer(limit)
      result.statement = statement.prepared
      return result
    } catch let error as PostgresError { throw statement.isEarlier ? error.ofEarlierStatement : error }
  }

  /// About the database's time; nil when its last answer is too old.
  var approximateTime: Timestamp? {
    guard let answered, case let elapsed = ContinuousClock.now - answered.at, elapsed < Self.approximation else {
      return nil
    }
    return answered.time.adding(elapsed)
  }

  func note(_ time: Timestamp) { answered = (time, .now) }

  /// Every statement is prepared again at its next use.
  func forgetStatements() throws {
    try execute("DEALLOCATE ALL")
    statements = [:]
  }

  private func prepare(_ key: StatementKey) throws -> PreparedStatement {
    let (name, text) = ("s\(statements.count)", SQLStatement.text(key.sql.text, addingTimeTo: key.times))
    guard PQsendPrepare(handle, name, text, CInt(key.types.count), key.types) == 1 else { throw lost() }
    _ = try answer(statementLimit)
    let prepared = PreparedStatement(name: name)
    statements[key] = prepared
    return prepared
  }

  /// Reads until the statement has ended.
  private func answer(_ limit: Duration) throws -> PostgresResult {
    let deadline = ContinuousClock.now + limit
    var (last, failure): (PostgresResult?, PostgresError?)
    while let result = try next(before: deadline) {
      last = result
      failure = failure ?? result.failure(endsConnection: PQstatus(handle) == CONNECTION_BAD)
    }
    if let failure { throw failure }
    guard let last else { throw lost() }
    return last
  }

  private func next(before deadline: ContinuousClock.Instant) throws -> PostgresResult? {
    while PQisBusy(handle) == 1 {
      try waitForBytes(before: deadline)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
    return PQgetResult(handle).map(PostgresResult.init)
  }

  private func waitForBytes(before deadline: ContinuousClock.Instant) throws {
    var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    while true {
      let left = (deadline - .now).milliseconds
      guard left > 0 else { throw PostgresError(lost: "the database did not answer in time") }
      switch poll(&descriptor, 1, CInt(clamping: left)) {
      case 1...: return
      case 0: continue
      default: guard errno == EINTR else { throw PostgresError(lost: "poll: errno \(errno)") }
      }
    }
  }

  private func lost() -> PostgresError {
    PostgresError(lost: String(cString: PQerrorMessage(handle)).split(separator: "\n").joined(separator: "; "))
  }
}

extension SQLStatement {
  static let commit = SQLStatement("COMMIT")
  /// In microseconds. PostgreSQL takes it at the transaction's beginning and keeps it.
  static let transactionTime = "CAST(extract(epoch FROM now()) * 1000000 AS BIGINT)"

  /// - Parameter places: the values to which the server adds the transaction's time.
  fileprivate static func text(_ sql: String, addingTimeTo places: [Int]) -> String {
    guard !places.isEmpty else { return sql }
    return sql.replacing(#/\$(\d+)/#) { value in
      places.contains(Int(value.output.1) ?? 0) ? "(\(transactionTime) + \(value.output.0))" : "\(value.output.0)"
    }
  }

  fileprivate var text: String { sql + locking.clause }
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
