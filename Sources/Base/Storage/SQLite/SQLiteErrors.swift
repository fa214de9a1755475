import GRDB

// SQLite's errors. Its messages name the constraint and never hold a value.
extension StorageError {
  static func translating<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as DatabaseError { throw StorageError(error) }
  }

  static func translating<R>(_ body: () async throws -> R) async throws -> R {
    do { return try await body() } catch let error as DatabaseError { throw StorageError(error) }
  }

  init(_ error: DatabaseError) {
    let detail = error.message?.split(separator: ": ").last.map(String.init) ?? ""
    self =
      switch error.extendedResultCode {
      case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY: .unique(constraint: detail)
      case .SQLITE_CONSTRAINT_CHECK: .check(constraint: detail)
      case .SQLITE_CONSTRAINT_FOREIGNKEY: .foreignKey
      case .SQLITE_CONSTRAINT_NOTNULL: .notNull(column: detail)
      default: StorageError(primary: error)
      }
  }

  /// SQLite says “not an error” where it finds another file in the place of its own.
  private static func words(of error: DatabaseError) -> String {
    guard let message = error.message, message != "not an error" else {
      return "a file of it is gone, or another one is in its place"
    }
    return message
  }

  private init(primary error: DatabaseError) {
    self =
      switch error.resultCode {
      case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_INTERRUPT: .busy
      case .SQLITE_FULL: .full
      case .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_READONLY: .connection(Self.words(of: error))
      default: .other(error.message ?? "\(error.resultCode)")
      }
  }
}
