/// Why the store refused or failed. The guards of the schema are cases, because callers act on them.
package enum StorageError: Error, Sendable, Equatable {
  /// A UNIQUE or PRIMARY KEY constraint; the columns as the engine names them.
  case unique(constraint: String)
  /// A CHECK constraint: an invalid balance or state.
  case check(constraint: String)
  case foreignKey
  case notNull(column: String)
  /// Another process holds the store, other transactions held its rows for too long, or a statement took too long.
  case busy
  /// No connection to the database became free in time.
  case overloaded
  /// The connection ended during a commit. The work may be done, or be done in a moment; whoever repeats it has to look
  /// first, as ``Database/writeOnce(_:)`` does.
  case outcomeUnknown
  case full
  case connection(String)
  /// A column that the result lacks or that has another type: a defect in Tender.
  case column(String)
  /// The store was created with another text of this migration.
  case migrationChanged(String)
  /// The store has a migration that this version does not know and cannot live with: a newer version has written it.
  case migrationUnknown(String)
  /// `tender store copy` has begun to fill this store and has not finished.
  case copyUnfinished
  /// So many connections to the database are of nodes of another version, which a contraction would break.
  case otherVersions(Int)
  case other(String)

  /// Whether the same work may succeed later, as when a full disk gets space again. A failed constraint is permanent.
  package var isTransient: Bool {
    switch self {
    case .busy, .overloaded, .outcomeUnknown, .full, .connection, .otherVersions, .other: true
    case .unique, .check, .foreignKey, .notNull, .column, .migrationChanged, .migrationUnknown,
      .copyUnfinished:
      false
    }
  }
}

extension StorageError {
  /// Whether the store may have refused this one statement for what it writes, and may take others.
  package var isOfOneStatement: Bool {
    switch self {
    case .unique, .check, .foreignKey, .notNull, .other: true
    case .busy, .overloaded, .outcomeUnknown, .full, .connection, .column, .migrationChanged, .migrationUnknown,
      .copyUnfinished, .otherVersions:
      false
    }
  }

  /// A row that this version cannot read, which it could not the next time either.
  package var isUnreadable: Bool { if case .column = self { true } else { false } }
}
