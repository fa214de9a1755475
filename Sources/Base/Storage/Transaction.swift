package import TenderPayments

/// One transaction. Not sendable, and its calls are synchronous, so that no code awaits while it holds a lock.
///
/// After a statement has failed, every further one fails with the same error and nothing is committed, even if the
/// caller catches the error. PostgreSQL works so by itself.
package final class Transaction {
  private let session: any StoreSession
  private let time: () throws -> Timestamp
  /// The database's time, the same for the whole transaction. If the database cannot be asked, the transaction has
  /// failed, and this is the beginning of 1970.
  package private(set) lazy var now = (try? recordingFailure(time)) ?? Timestamp(microseconds: 0)
  /// About ``now``, without a question to the database. For what follows the order of time and does not tell it, such as
  /// identifiers.
  package var approximateNow: Timestamp { session.approximateTime ?? now }
  /// The keys that seal texts in the store; nil where it has none.
  package internal(set) var rowKeys: RowKeys?
  /// The error of the first statement that failed.
  package private(set) var failure: (any Error)?

  package convenience init(_ session: any StoreSession, now: Timestamp) { self.init(session) { now } }

  /// - Parameter time: asked when the time is first needed.
  init(_ session: any StoreSession, time: @escaping () throws -> Timestamp) {
    self.session = session
    self.time = time
  }

  package func rows(_ sql: String, _ values: SQLValue...) throws -> [Row] { try rows(sql, values) }

  package func rows(_ sql: String, _ values: [SQLValue]) throws -> [Row] {
    try recordingFailure { try session.rows(sql, values, locking: .none) }
  }

  /// The first row, or nil.
  package func row(_ sql: String, _ values: SQLValue...) throws -> Row? {
    try recordingFailure { try session.firstRow(sql, values) }
  }

  /// What the query finds first, or nil.
  package func first<Found>(_ query: Query<Found>) throws -> Found? {
    try firstRows(of: [query.statement])[0].map(query.read)
  }

  /// What each query finds first, or nil, in one trip to the database. Each sees what those before it have locked or
  /// changed: a query may also be a change that returns rows.
  package func first<each Found>(_ query: repeat Query<each Found>) throws -> (repeat (each Found)?) {
    try firstRows(of: [SQLStatement](repeat each query)).read(by: repeat each query)
  }

  /// The first row of each query of a list, or nil, as ``first(_:)`` asks them.
  package func firstRows(of queries: [SQLStatement]) throws -> [Row?] {
    try recordingFailure { try session.firstRows(of: timed(queries), isEnd: false) }
  }

  /// Asks queries whose answers are not needed at once: they travel with the next statement that returns something. What
  /// they lock is locked before that one.
  package func ask<each Found>(_ query: repeat Query<each Found>) throws -> PendingQueries<repeat each Found> {
    let statements = [SQLStatement](repeat each query)
    return PendingQueries(try recordingFailure { try session.ask(timed(statements)) }, repeat each query)
  }

  /// What each of the queries that were asked finds first, or nil.
  package func answers<each Found>(to asked: PendingQueries<repeat each Found>) throws -> (repeat (each Found)?) {
    try recordingFailure { try session.answers(to: asked.rows) }.read(by: repeat each asked.query)
  }

  /// The first row of each query, or nil, as the end of a transaction that only reads.
  func lastRows(of queries: [SQLStatement]) throws -> [Row?] {
    try recordingFailure { try session.firstRows(of: timed(queries), isEnd: true) }
  }

  /// Where the database does not add the time itself, this does.
  private func timed(_ queries: [SQLStatement]) -> [SQLStatement] {
    session.addsTime ? queries : queries.map { $0.times.isEmpty ? $0 : $0.adding(now) }
  }

  /// Runs a statement, at the latest before the next one that returns something, or before the commit. If it fails,
  /// that one throws its error. PostgreSQL takes neighbours of different tables as one statement.
  package func run(_ sql: String, _ values: SQLValue...) throws { try run(sql, values) }

  /// Runs a statement, as ``run(_:_:)`` does, with as many values as the text was made for.
  func run(_ sql: String, _ values: [SQLValue]) throws { try recordingFailure { try session.run(sql, values) } }

  /// Runs a statement that has to change one row, as ``run(_:_:)`` does.
  ///
  /// - Parameter error: what fails the transaction if the statement changes none.
  package func changeOne(_ sql: String, _ values: SQLValue..., orThrow error: any Error) throws {
    try recordingFailure { try session.changeOne(SQLStatement(sql, values), orThrow: error) }
  }

  /// Runs a statement at once; the number of rows it changed.
  package func changes(_ sql: String, _ values: SQLValue...) throws -> Int { try changes(sql, values) }

  package func changes(_ sql: String, _ values: [SQLValue]) throws -> Int {
    try recordingFailure { try session.changes(sql, values) }
  }

  /// The tables of the store.
  func tables() throws -> [TableShape] { try recordingFailure { try session.tables() } }

  /// How many rows a table has; nil where PostgreSQL has never counted them.
  func rowCount(of table: String) throws -> (rows: Int64?, isEstimate: Bool) {
    try recordingFailure { try session.rowCount(of: table) }
  }

  func connections(named prefix: String, without suffix: String? = nil) throws -> Int {
    try recordingFailure { try session.connections(named: prefix, without: suffix) }
  }

  /// What the database's server says of itself; nil in SQLite.
  func serverFacts() throws -> DatabaseFacts? { try recordingFailure { try session.serverFacts() } }

  /// The first row, locked until the transaction ends.
  package func lockedRow(_ sql: String, _ values: SQLValue...) throws -> Row? {
    try recordingFailure { try session.rows(sql, values, locking: .waiting).first }
  }

  /// Rows that no other transaction has locked, locked until this one ends, so that concurrent callers get different
  /// rows.
  package func unclaimedRows(_ sql: String, _ values: SQLValue...) throws -> [Row] { try unclaimedRows(sql, values) }

  /// Rows as ``unclaimedRows(_:_:)`` locks them, with as many values as the text was made for.
  package func unclaimedRows(_ sql: String, _ values: [SQLValue]) throws -> [Row] {
    try recordingFailure { try session.rows(sql, values, locking: .skipping) }
  }

  /// Runs one statement that defines a table or an index.
  func define(_ sql: String) throws { try recordingFailure { try session.define(sql) } }

  /// Runs `body`, whose every statement may take so many steps; see ``Database/limited(to:steps:)``.
  func limiting<R>(_ steps: Int32, _ body: () throws -> R) throws -> R {
    session.limit(steps)
    defer { session.limit(nil) }
    return try body()
  }

  private func recordingFailure<R>(_ statement: () throws -> R) throws -> R {
    if let failure { throw failure }
    do { return try statement() } catch {
      failure = error
      throw error
    }
  }
}

/// What a transaction needs of an engine: one connection that runs statements. Each engine translates the common SQL.
package protocol StoreSession {
  func rows(_ sql: String, _ values: [SQLValue], locking: RowLock) throws -> [Row]
  func firstRow(_ sql: String, _ values: [SQLValue]) throws -> Row?
  /// The first row of each query.
  ///
  /// - Parameter isEnd: whether the transaction only reads, and asks for nothing more.
  func firstRows(of queries: [SQLStatement], isEnd: Bool) throws -> [Row?]
  /// Runs the queries now, or together with the next statement that returns something.
  func ask(_ queries: [SQLStatement]) throws -> PendingRows
  func answers(to questions: PendingRows) throws -> [Row?]
  /// Whether it adds its own time to the values that are counted from it.
  var addsTime: Bool { get }
  /// About the transaction's time; nil where it is known exactly.
  var approximateTime: Timestamp? { get }
  /// Runs the statement now, or together with the next one that returns something, or with the commit.
  func run(_ sql: String, _ values: [SQLValue]) throws
  /// Runs the statement now; the number of rows that it changed.
  func changes(_ sql: String, _ values: [SQLValue]) throws -> Int
  /// Runs the statement as ``run(_:_:)`` does. If it changes no row, the error is thrown now or later, and nothing is
  /// committed.
  func changeOne(_ statement: SQLStatement, orThrow error: any Error) throws
  /// Runs one statement that defines a table or an index.
  func define(_ sql: String) throws
  /// The tables, as the engine's catalog describes them.
  func tables() throws -> [TableShape]
  /// How many rows a table has, counted or estimated.
  func rowCount(of table: String) throws -> (rows: Int64?, isEstimate: Bool)
  /// Connections of other processes to the same database whose application name begins with `prefix` and does not end
  /// in `suffix`.
  func connections(named prefix: String, without suffix: String?) throws -> Int
  func serverFacts() throws -> DatabaseFacts?
  /// How many steps a statement may take from now on; nil for any number.
  func limit(_ steps: Int32?)
}

extension StoreSession {
  package var addsTime: Bool { false }
  package var approximateTime: Timestamp? { nil }
  package func limit(_ steps: Int32?) {}

  package func rowCount(of table: String) throws -> (rows: Int64?, isEstimate: Bool) {
    (try firstRow("SELECT count(*) AS n FROM \(table)", [])?.integer("n"), false)
  }

  package func ask(_ queries: [SQLStatement]) throws -> PendingRows {
    PendingRows(try firstRows(of: queries, isEnd: false))
  }

  package func answers(to questions: PendingRows) throws -> [Row?] { questions.rows }

  package func firstRows(of queries: [SQLStatement], isEnd: Bool) throws -> [Row?] {
    try queries.map { query in
      query.locking == .none
        ? try firstRow(query.sql, query.values) : try rows(query.sql, query.values, locking: query.locking).first
    }
  }

  package func changeOne(_ statement: SQLStatement, orThrow error: any Error) throws {
    guard try changes(statement.sql, statement.values) == 1 else { throw error }
  }
}

/// A statement of the common SQL and its values.
package struct SQLStatement: Sendable, Hashable {
  let sql: String
  let values: [SQLValue]
  /// How the rows that a query finds are locked.
  let locking: RowLock
  /// The places of values that are microseconds after the transaction's time.
  private(set) var times: [Int] = []

  package init(_ sql: String, _ values: SQLValue..., locking: RowLock = .none) {
    self.init(sql, values, locking: locking)
  }

  package init(_ sql: String, _ values: [SQLValue], locking: RowLock = .none) {
    self.sql = sql
    self.values = values
    self.locking = locking
  }

  /// Counts values from the transaction's time, in microseconds. A statement that takes the time so need not wait until
  /// the database has answered it.
  ///
  /// - Parameter places: as in the text: 1 for `$1`.
  package func fromNow(_ places: Int...) -> SQLStatement {
    var statement = self
    statement.times = places
    return statement
  }

  fileprivate func adding(_ now: Timestamp) -> SQLStatement {
    let values = values.enumerated().map { place, value in
      guard times.contains(place + 1), case .integer(let offset) = value else { return value }
      return SQLValue.time(now.adding(.microseconds(offset)))
    }
    return SQLStatement(sql, values, locking: locking)
  }
}

/// A statement that returns rows, and what one of its rows says.
package struct Query<Found>: Sendable {
  let statement: SQLStatement
  let read: @Sendable (Row) throws -> Found

  package init(_ statement: SQLStatement, read: @escaping @Sendable (Row) throws -> Found) {
    self.statement = statement
    self.read = read
  }
}

extension Query<Row> {
  package init(_ statement: SQLStatement) { self.init(statement) { $0 } }
}

extension [SQLStatement] {
  init<each Found>(_ query: repeat Query<each Found>) {
    self = []
    repeat append((each query).statement)
  }
}

extension [Row?] {
  /// What the queries say of their first rows, in the order of the queries.
  func read<each Found>(by query: repeat Query<each Found>) throws -> (repeat (each Found)?) {
    var rows = makeIterator()
    return (repeat try (rows.next() ?? nil).map((each query).read))
  }
}

/// Queries that were asked and travel with the next statement that returns something.
package struct PendingQueries<each Found> {
  let rows: PendingRows
  let query: (repeat Query<each Found>)

  init(_ rows: PendingRows, _ query: repeat Query<each Found>) {
    self.rows = rows
    self.query = (repeat each query)
  }
}

/// Queries that were asked, and the first row of each once they are answered.
package final class PendingRows {
  var rows: [Row?]

  /// - Parameter rows: none as long as the queries wait.
  init(_ rows: [Row?]) { self.rows = rows }
}

/// Whether a SELECT locks the rows that it finds. SQLite has a single writer and needs no locks.
package enum RowLock: Sendable {
  case none
  /// Waits for rows that another transaction has locked.
  case waiting
  /// Leaves these rows out.
  case skipping
}

/// A value of one of the three column types, or NULL.
package enum SQLValue: Sendable, Hashable {
  /// NULL, of a type that PostgreSQL has to be told where no column gives it, as in `$1 IS NULL`.
  case absent(SQLType?)
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  /// NULL whose type a column gives.
  package static let null = SQLValue.absent(nil)

  /// NULL for nil.
  package static func text(optional text: String?) -> SQLValue { text.map(SQLValue.text) ?? .absent(.text) }
  package static func integer(optional integer: Int64?) -> SQLValue {
    integer.map(SQLValue.integer) ?? .absent(.integer)
  }
  package static func blob(optional bytes: [UInt8]?) -> SQLValue { bytes.map(SQLValue.blob) ?? .absent(.blob) }
  /// Microseconds since 1970.
  package static func time(_ time: Timestamp) -> SQLValue { .integer(time.microseconds) }
}

/// The three column types: BIGINT, TEXT and BYTEA.
package enum SQLType: Sendable, Hashable {
  case integer, text, blob
}

/// One row of a result, by column name. A column that is absent or has another type is an error.
package struct Row: Sendable {
  private let columns: Columns
  private let values: [SQLValue]

  init(_ columns: Columns, _ values: [SQLValue]) {
    self.columns = columns
    self.values = values
  }

  /// In the order of the columns.
  var all: [SQLValue] { values }

  package func value(of column: String) -> SQLValue? { columns.place(of: column).map { values[$0] } }

  package func integer(_ column: String) throws -> Int64 {
    guard let value = try integerOrNil(column) else { throw StorageError.column(column) }
    return value
  }

  package func text(_ column: String) throws -> String {
    guard let value = try textOrNil(column) else { throw StorageError.column(column) }
    return value
  }

  package func blob(_ column: String) throws -> [UInt8] {
    guard let value = try blobOrNil(column) else { throw StorageError.column(column) }
    return value
  }

  package func time(_ column: String) throws -> Timestamp { Timestamp(microseconds: try integer(column)) }

  package func integerOrNil(_ column: String) throws -> Int64? {
    switch value(of: column) {
    case .integer(let value): value
    case .absent: nil
    default: throw StorageError.column(column)
    }
  }

  package func textOrNil(_ column: String) throws -> String? {
    switch value(of: column) {
    case .text(let value): value
    case .absent: nil
    default: throw StorageError.column(column)
    }
  }

  package func blobOrNil(_ column: String) throws -> [UInt8]? {
    switch value(of: column) {
    case .blob(let value): value
    case .absent: nil
    default: throw StorageError.column(column)
    }
  }
}

extension [Row] {
  /// What the rows say, without those that this version cannot read, so that one does not hide the others.
  package func readable<Value>(_ read: (Row) throws -> Value) throws -> [Value] {
    try compactMap { row in
      do { return try read(row) } catch StorageError.column { return nil }
    }
  }
}
