/// What a PostgreSQL server says of itself to the role that asks. A role without `pg_monitor` does not see all of it.
package struct DatabaseFacts: Sendable, Hashable, Codable {
  /// `150013` for 15.13.
  package let version: Int64
  /// Settings by which a crash loses or damages what was confirmed: `fsync = off`.
  package let unsafeSettings: [String]
  /// `synchronous_standby_names`; empty when no commit waits for a standby.
  package let synchronousStandbys: String
  /// Standbys that are connected.
  package let standbys: Int64
  /// How far the last of them is behind; nil where there is none, where nothing was written lately, and for a role that
  /// may not see it.
  package let lagMilliseconds: Int64?
  package let lagBytes: Int64?
  /// How long the oldest open transaction has been open, as far as the role sees it.
  package let oldestTransactionMilliseconds: Int64
  package let isEncrypted: Bool
  /// Whether the connection stays on this machine.
  package let isLocal: Bool
  /// Whether the role may make tables, or owns them: it could change or remove the journal.
  package let mayChangeTables: Bool
}

extension Database {
  /// What the database's server says of itself; nil in SQLite.
  package func serverFacts() async throws -> DatabaseFacts? { try await read { try $0.serverFacts() } }
}
