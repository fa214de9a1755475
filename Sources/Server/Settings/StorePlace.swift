package import Storage
package import TenderPayments

/// Where a server keeps its store.
package enum StorePlace: Sendable {
  /// An SQLite file, of one process.
  case file(String)
  /// A PostgreSQL database, of any number of nodes.
  case postgres(PostgresSettings)

  /// - Parameter text: a path, or an address that begins with `postgres://` or `postgresql://`.
  package init(_ text: String) {
    self = Self.isAddress(text) ? .postgres(PostgresSettings(address: text)) : .file(text)
  }

  static func isAddress(_ text: String) -> Bool {
    ["postgres://", "postgresql://"].contains { text.hasPrefix($0) }
  }

  /// The path of the file; nil on PostgreSQL.
  package var path: String? {
    guard case .file(let path) = self else { return nil }
    return path
  }

  /// For messages. An address may hold a password, so it stays out.
  package var name: String { path ?? "the store on PostgreSQL" }
}

extension Database {
  /// - Parameters:
  ///   - clock: nil for the engine's own: the machine's for a file, the database's on PostgreSQL.
  ///   - contracts: whether contracting migrations are applied too.
  package static func open(
    _ place: StorePlace, migrations: [Migration], clock: WallClock? = nil, contracts: Bool = false
  ) async throws -> Database {
    switch place {
    case .file(let path):
      try await .sqlite(path: path, migrations: migrations, clock: clock ?? .system, contracts: contracts)
    case .postgres(let settings):
      try await .postgres(settings, migrations: migrations, clock: clock, contracts: contracts)
    }
  }
}
