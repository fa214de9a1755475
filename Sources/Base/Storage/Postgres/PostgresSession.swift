/// Runs a transaction's statements on a PostgreSQL connection.
final class PostgresSession: StoreSession {
  private let connection: PostgresConnection
  /// Statements whose results are not used; they go to the server together with the next one.
  private var waiting: [PostgresStatement] = []
  /// Limits what libpq keeps in memory: it writes all of them before it reads an answer.
  private static let mostWaiting = 32
  /// The first error, which has ended the transaction.
  private(set) var failure: PostgresError?

  init(_ connection: PostgresConnection) { self.connection = connection }

  func rows(_ sql: String, _ values: [SQLValue], locking: RowLock) throws -> [Row] {
    try result(sql + locking.clause, values).rows()
  }

  func firstRow(_ sql: String, _ values: [SQLValue]) throws -> Row? { try result(sql, values).rows(atMost: 1).first }

  func run(_ sql: String, _ values: [SQLValue]) throws {
    waiting.append(PostgresStatement(sql, values))
    if waiting.count == Self.mostWaiting { try finish() }
  }

  func changes(_ sql: String, _ values: [SQLValue]) throws -> Int { try result(sql, values).changedCount }

  func finish() throws {
    guard !waiting.isEmpty else { return }
    _ = try runWaiting()
  }

  /// Texts are ordered by their bytes, as SQLite orders them.
  func define(_ sql: String) throws {
    try finish()
    try noting { _ = try connection.execute(sql.replacing(#/\bTEXT\b/#, with: "TEXT COLLATE \"C\"")) }
  }

  private func result(_ sql: String, _ values: [SQLValue]) throws -> PostgresResult {
    waiting.append(PostgresStatement(sql, values))
    return try runWaiting()
  }

  /// The result of the last.
  private func runWaiting() throws -> PostgresResult {
    defer { waiting.removeAll(keepingCapacity: true) }
    return try noting { try connection.execute(waiting) }
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
