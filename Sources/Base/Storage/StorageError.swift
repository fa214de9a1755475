import GRDB

/// Why the store refused or failed. The guards of the schema are cases, because callers act on them.
package enum StorageError: Error, Sendable, Equatable {
  /// A UNIQUE or PRIMARY KEY constraint; the columns as the engine names them.
  case unique(constraint: String)
  /// A CHECK constraint: a balance or a state that must not be.
  case check(constraint: String)
  case foreignKey
  case notNull(column: String)
  /// Another process holds the store.
  case busy
  /// The connection ended in the middle of a commit; read again by id before assuming anything.
  case outcomeUnknown
  case full
  case connection(String)
  /// A column that the answer does not have, or has with another type: a defect of ours.
  case column(String)
  /// The store was made with another text of this migration.
  case migrationChanged(String)
  /// The store has this migration, which this version does not know: a newer version has written it.
  case migrationUnknown(String)
  case other(String)

  /// Whether the same work may succeed later: a disk may get room again. A guard that refused stays.
  package var mayPass: Bool {
    switch self {
    case .busy, .outcomeUnknown, .full, .connection, .other: true
    case .unique, .check, .foreignKey, .notNull, .column, .migrationChanged, .migrationUnknown: false
    }
  }

  static func translating<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as DatabaseError { throw StorageError(error) }
  }

  static func translating<R>(_ body: () async throws -> R) async throws -> R {
    do { return try await body() } catch let error as DatabaseError { throw StorageError(error) }
  }

  /// The engine's message names the constraint; it never holds a value.
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

  private init(primary error: DatabaseError) {
    self =
      switch error.resultCode {
      case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
      case .SQLITE_FULL: .full
      case .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_READONLY: .connection(error.message ?? "cannot open")
      default: .other(error.message ?? "\(error.resultCode)")
      }
  }
}
