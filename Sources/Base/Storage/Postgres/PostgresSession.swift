/// Runs a transaction's statements on a PostgreSQL connection.
final class PostgresSession: StoreSession {
  private let connection: PostgresConnection
  /// The first error, which has ended the transaction.
  private(set) var failure: PostgresError?

  init(_ connection: PostgresConnection) { self.connection = connection }

  func rows(_ sql: String, _ values: [SQLValue], locking: RowLock) throws -> [Row] {
    try result(sql + locking.clause, values).rows()
  }

  func firstRow(_ sql: String, _ values: [SQLValue]) throws -> Row? { try result(sql, values).rows(atMost: 1).first }

  func run(_ sql: String, _ values: [SQLValue]) throws -> Int { try result(sql, values).changedCount }

  /// Texts are ordered by their bytes, as SQLite orders them.
  func define(_ sql: String) throws {
    try noting { _ = try connection.execute(sql.replacing(#/\bTEXT\b/#, with: "TEXT COLLATE \"C\"")) }
  }

  private func result(_ sql: String, _ values: [SQLValue]) throws -> PostgresResult {
    try noting { try connection.execute(sql, values) }
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
