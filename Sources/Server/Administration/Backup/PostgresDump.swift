import Foundation
import HTTPTransport
import Ledger
import Settings
import Storage
import TenderPayments

/// Backup and restore of a store on PostgreSQL by PostgreSQL's own programs, `pg_dump` and `pg_restore`.
struct PostgresDump {
  private let place: StorePlace

  init(_ place: StorePlace) { self.place = place }

  /// Dumps one snapshot into a file, and reads all of it again.
  ///
  /// - Parameter key: the fingerprint key of this node; nil where there is none yet.
  /// - Returns: what verifying the audit chain of the database found.
  func make(_ file: String, _ id: String, _ key: [UInt8]?) async throws -> AuditReport {
    let audit = try await during { database in
      let lacking = try await database.lacking(ServerStore.migrations).expanding
      guard lacking.isEmpty else {
        throw CallFailure("the store has not the tables of this version: run tender store migrate, or start a server")
      }
      try await database.write { store in
        try RestoredStore.mark(backup: id, begunAt: store.now, in: store)
        if let key { try SharedKeys.note("fingerprint.key", key, replaces: false, in: store) }
      }
      let audit = try await Journal(database).verifyAudit()
      guard audit.isIntact else { throw CallFailure("the audit chain is broken: \(audit.violations.first ?? "")") }
      return audit
    }
    try await tool("pg_dump", ["--format=custom", "--no-owner", "--no-privileges", "--file=" + file])
    try await tool("pg_restore", ["--file=/dev/null", file])
    return audit
  }

  func requireEmpty() async throws {
    let tables = try await during { try await $0.tableNames() }
    guard tables.isEmpty else {
      throw CallFailure(
        "the database is not empty: stop the servers, and name a new database in store.url. Every server and command that "
          + "opens a database makes the tables in it")
    }
  }

  /// Restores a dump into an empty database. A server cannot open the database before it is marked: until then it has
  /// tables, and no migrations.
  ///
  /// - Parameter check: refuses what is no backup of this installation.
  func restore(
    _ file: String, _ check: (BackupFacts) throws -> Void, _ requireOwnKey: (Database) async throws -> Void
  ) async throws -> (RestoreReport, AuditReport) {
    let migrations = try await rows(of: "migrations", in: file, ["name", "sql", "step", "applied_at"])
    let backups = try await rows(of: "backups", in: file, ["id", "begun_at"])
    let newest = backups.max { Int64($0["begun_at"] ?? "") ?? 0 < Int64($1["begun_at"] ?? "") ?? 0 }
    try check(try BackupFacts(applied: migrations.compactMap { $0["name"] }, backup: newest?["id"]))
    let list = file + ".list"
    let entries = String(decoding: try await tool("pg_restore", ["--list", file]), as: UTF8.self)
      .split(separator: "\n").filter { !$0.contains(#/ TABLE DATA \S+ migrations /#) }
    try PrivateFile.write(entries.joined(separator: "\n") + "\n", to: list)
    try await tool(
      "pg_restore",
      [
        "--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges", "--use-list=" + list,
        "--dbname=" + (try settings().environment()["PGDATABASE"] ?? "postgres"), file,
      ])
    return try await during { database in
      try await requireOwnKey(database)
      let mark = RestoreMark(database)
      return try await mark.write { [migrations] store in
        for row in migrations {
          try store.run(
            "INSERT INTO migrations (name, sql, step, applied_at) VALUES ($1, $2, $3, $4)", .text(row["name"] ?? ""),
            .text(row["sql"] ?? ""), .text(row["step"] ?? ""), .integer(Int64(row["applied_at"] ?? "") ?? 0))
        }
      }
    }
  }

  /// The rows of one table of a dump, from the text that `COPY` reads.
  private func rows(of table: String, in file: String, _ columns: [String]) async throws -> [[String: String]] {
    let bytes: [UInt8]
    do {
      bytes = try await tool("pg_restore", ["--data-only", "--table=" + table, "--file=-", file])
    } catch let error as CallFailure where error.description.hasPrefix("pg_restore failed") {
      throw BackupRefusal.damaged("the dump cannot be read (\(error.description))")
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.hasPrefix("COPY ") }
    let names = lines.first?.split(separator: "(").last?.split(separator: ")").first?.split(separator: ",") ?? []
    let keys = names.map { $0.filter { $0 != " " && $0 != "\"" } }
    guard Set(columns).isSubset(of: Set(keys)) else { return [] }
    return lines.dropFirst().prefix { $0 != "\\." }.map { line in
      Dictionary(
        zip(keys, line.split(separator: "\t", omittingEmptySubsequences: false).map(Self.unescaped))
      ) { first, _ in first }
    }
  }

  private static func unescaped(_ field: Substring) -> String {
    var (text, isEscape) = ("", false)
    for character in field {
      switch (isEscape, character) {
      case (false, "\\"):
        isEscape = true
        continue
      case (true, "n"): text.append("\n")
      case (true, "t"): text.append("\t")
      case (true, "r"): text.append("\r")
      default: text.append(character)
      }
      isEscape = false
    }
    return text
  }

  @discardableResult
  private func tool(_ program: String, _ arguments: [String]) async throws -> [UInt8] {
    // The address may hold a password, which every user of the machine would see among the arguments.
    try await ToolRun(program: program, arguments: arguments, environment: try settings().environment()).run()
  }

  private func settings() throws -> PostgresSettings {
    guard case .postgres(let settings) = place.onOneConnection else {
      throw CallFailure("the store is no database of PostgreSQL")
    }
    return settings
  }

  private func during<R: Sendable>(_ body: (Database) async throws -> R) async throws -> R {
    let database = try await Database.open(.postgres(try settings()), migrations: [])
    do {
      let result = try await body(database)
      await database.close()
      return result
    } catch {
      await database.close()
      throw error
    }
  }
}

extension StorePlace {
  /// The store for a command that uses it alone and may keep it busy for long.
  var onOneConnection: StorePlace {
    guard case .postgres(var settings) = self else { return self }
    settings.applicationName = "tender-backup-\(ProcessInfo.processInfo.processIdentifier)"
    (settings.connections, settings.timeout, settings.statementLimit) = (1, .seconds(60), .seconds(600))
    return .postgres(settings)
  }
}
