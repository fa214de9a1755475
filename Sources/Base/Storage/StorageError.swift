import GRDB

/// Why the store refused or failed. The guards of the schema are cases, because callers act on them.
package enum StorageError: Error, Sendable, Equatable {
  /// A UNIQUE or PRIMARY KEY constraint; the columns as the engine names them.
  case unique(constraint: String)
  /// A CHECK constraint: an invalid balance or state.
  case check(constraint: String)
  case foreignKey
  case notNull(column: String)
  /// Another process holds the store.
  case busy
  /// The connection ended during a commit; the caller must read the row again by id.
  case outcomeUnknown
  case full
  case connection(String)
  /// A column that the result lacks or that has another type: a defect in Tender.
  case column(String)
  /// The store was created with another text of this migration.
  case migrationChanged(String)
  /// The store has a migration that this version does not know: a newer version has written it.
  case migrationUnknown(String)
  case other(String)

  /// Whether the same work may succeed later, as when a full disk gets space again. A failed constraint is permanent.
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
