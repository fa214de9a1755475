/// A statement on its way to the server.
struct PostgresStatement {
  let statement: SQLStatement
  /// What fails the transaction if the statement does not change one row.
  let demand: (any Error)?
  /// Gets the first row of the result.
  let answer: PendingRows?

  init(_ statement: SQLStatement, demand: (any Error)? = nil, answer: PendingRows? = nil) {
    self.statement = statement
    self.demand = demand
    self.answer = answer
  }

  init(_ sql: String) { self.init(SQLStatement(sql)) }
}

/// A statement that the server has prepared.
final class PreparedStatement {
  let name: String
  /// nil until it has returned rows.
  var columns: Columns?

  init(name: String) { self.name = name }
}
