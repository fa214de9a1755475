import Settings
import Storage

extension DoctorCheck {
  static let databaseGroup = [
    databaseVersion, databaseDurable, databaseReplicated, databaseEncrypted, databaseRole,
  ]

  static let databaseVersion = DoctorCheck(
    "database_version", "PostgreSQL is of version 15 or newer.",
    meaning: "Tender was not tested with it.", remedy: "Upgrade the database: pg_upgrade keeps its contents.")
  static let databaseDurable = DoctorCheck(
    "database_durable", "PostgreSQL keeps what it confirms.",
    meaning: "A crash of its machine loses payments that were confirmed, or damages the store.",
    remedy: "Set fsync, full_page_writes and synchronous_commit to on, also for the server's role and database.")
  static let databaseReplicated = DoctorCheck(
    "database_replicated", "A commit waits until a standby has it.",
    meaning: "If the primary is lost, so are the payments that only it had.",
    remedy: "Set synchronous_standby_names to 'ANY 1 (…)', see docs/postgres.md.")
  static let databaseEncrypted = DoctorCheck(
    "database_encrypted", "The connection to PostgreSQL is encrypted, or stays on this machine.",
    meaning: "Others on the network can read orders and addresses.", remedy: "Switch ssl on in postgresql.conf.")
  static let databaseRole = DoctorCheck(
    "database_role", "The server's role cannot change a table.",
    meaning: "Who takes over the server can remove the journal.",
    remedy: "Let another role own the tables: `tender store grants`, see docs/postgres.md.")
}

extension Doctor {
  func databaseFindings() -> [DoctorFinding] {
    let name = configuration.store.name
    guard let facts else { return [] }
    guard let database = facts.store.database else {
      return DoctorCheck.databaseGroup.map { $0.skipped(name, "the store is a file") }
    }
    return [version(database, name), durable(database, name), replicated(database, name)]
      + [encrypted(database, name), role(database, name)]
  }

  private func version(_ database: DatabaseFacts, _ name: String) -> DoctorFinding {
    let text = "\(database.version / 10_000).\(database.version % 10_000)"
    guard database.version >= 150_000 else { return DoctorCheck.databaseVersion.warning(name, "it is \(text)") }
    return DoctorCheck.databaseVersion.ok(name, text)
  }

  private func durable(_ database: DatabaseFacts, _ name: String) -> DoctorFinding {
    let settings = database.unsafeSettings
    return DoctorCheck.databaseDurable.require(
      settings.isEmpty, name, ok: "it flushes its log at every commit", failed: settings.joined(separator: ", "))
  }

  private func replicated(_ database: DatabaseFacts, _ name: String) -> DoctorFinding {
    let standbys = database.standbys == 1 ? "1 standby is connected" : "\(database.standbys) standbys are connected"
    guard !database.synchronousStandbys.isEmpty else {
      return DoctorCheck.databaseReplicated.warning(name, "synchronous_standby_names is empty; \(standbys)")
    }
    return DoctorCheck.databaseReplicated.require(
      database.standbys > 0, name, ok: "\(database.synchronousStandbys); \(standbys)",
      failed: "every commit waits for a standby, and none is connected")
  }

  private func encrypted(_ database: DatabaseFacts, _ name: String) -> DoctorFinding {
    DoctorCheck.databaseEncrypted.require(
      database.isEncrypted || database.isLocal, name, ok: database.isEncrypted ? "TLS" : "on this machine",
      failed: "it is neither")
  }

  private func role(_ database: DatabaseFacts, _ name: String) -> DoctorFinding {
    guard database.mayChangeTables else { return DoctorCheck.databaseRole.ok(name, "it owns none and can make none") }
    return DoctorCheck.databaseRole.warning(name, "it owns the tables, or can make others")
  }
}
