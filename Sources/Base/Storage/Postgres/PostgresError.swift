import CLibPQ

/// An error of the server or of the connection to it.
struct PostgresError: Error {
  /// SQLSTATE; nil when the connection failed.
  let state: String?
  let constraint: String?
  let column: String?
  let message: String
  /// Whether the connection must be closed.
  let endsConnection: Bool
  /// Whether the statement was prepared before another node changed its tables, so that its result has other columns.
  private(set) var isOfChangedTable = false

  /// The server's error. Only its primary message is kept: the detail may hold values.
  init(_ result: OpaquePointer, endsConnection: Bool) {
    func field(_ code: Unicode.Scalar) -> String? {
      PQresultErrorField(result, CInt(code.value)).map { String(cString: $0) }
    }
    state = field("C")
    constraint = field("n")
    column = field("c")
    message = field("M") ?? "the database gave no reason"
    // 25006: this server has become a standby, or is a former primary that has been revived.
    self.endsConnection = endsConnection || state == "25006"
  }

  /// A lost connection.
  init(lost message: String) {
    (state, constraint, column) = (nil, nil, nil)
    self.message = message
    endsConnection = true
  }

  /// This error, of a statement that was prepared by an earlier transaction. 0A000, feature not supported, is then
  /// “cached plan must not change result type”, whose text is in the server's language.
  var ofEarlierStatement: PostgresError {
    var error = self
    error.isOfChangedTable = state == "0A000"
    return error
  }

  /// Why the same transaction may succeed if it is run again at once; nil when it may not.
  var retryReason: RetryReason? {
    switch state {
    case "40001": .serialization
    case "40P01": .deadlock
    default: isOfChangedTable ? .changedTable : endsConnection ? .connection : nil
    }
  }

  /// For callers, who do not know the engine.
  var translated: StorageError {
    switch state {
    case "23505": .unique(constraint: constraint ?? "")
    case "23514": .check(constraint: constraint ?? "")
    case "23503": .foreignKey
    case "23502": .notNull(column: column ?? "")
    // Serialization failure, deadlock, lock timeout, statement timeout.
    case "40001", "40P01", "55P03", "57014": .busy
    case "53100": .full
    case nil: .connection(message)
    default: endsConnection ? .connection(message) : .other(message)
    }
  }
}
