import ArgumentParser
import Foundation
import Ledger
import Storage
import TenderServer

/// `tender store`
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "The store itself: copies it, and brings it to the newest tables.",
    subcommands: [Copy.self, Migrate.self])

  struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Copies a store, such as a file to PostgreSQL, and proves that both are equal.",
      discussion: """
        No server may run on either. A copy that was stopped continues when the same command runs again; until it has \
        ended, no server opens the target. The server's key file (store.keyFile) is no part of the store: take it along.
        """)
    @Option(help: "A file, or the address of a PostgreSQL database without its password.") var from: String
    @Option(help: "A new file, or the address of an empty PostgreSQL database without its password.") var to: String
    @Option(help: "A file with the password of the PostgreSQL database.") var passwordFile: String?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      let (source, target) = (StorePlace(from, passwordFile), StorePlace(to, passwordFile))
      guard from != to else { throw MistakenCall("--from and --to name the same store") }
      try await source.with(try await source.openUnchanged()) { source in
        try await target.with(try await target.openForCopy()) { try await copy(from: source, to: $0) }
      }
    }

    private func copy(from source: Database, to target: Database) async throws {
      for store in [source, target] where try await store.connections(named: "tender") > 0 {
        throw CallFailure("a server, or another command, is connected to the database: end it first")
      }
      let copy = try await StoreCopy(from: source, to: target)
      try await copy.run()
      let tables = try await copy.compare()
      if json { Terminal.say(try Terminal.json(tables)) } else { show(tables) }
      let different = tables.filter { !$0.isEqual }.map(\.table)
      guard different.isEmpty else {
        throw CallFailure("these tables differ, and no server opens the target: \(different.joined(separator: ", "))")
      }
      let audit = try await Journal(target).verifyAudit()
      guard audit.isIntact else {
        throw CallFailure("the audit chain is broken, in the source as well: \(audit.violations.first ?? "")")
      }
      try await copy.finish()
      if !json { Terminal.say("equal; the audit chain is intact: \(audit.entries) entries") }
    }

    private func show(_ tables: [TableComparison]) {
      Table("TABLE", "ROWS", "SHA-256 HERE", "SHA-256 THERE", "EQUAL", of: tables) {
        [
          $0.table, "\($0.source.rows)", "\($0.source.hash.prefix(16))", "\($0.target.hash.prefix(16))",
          $0.isEqual ? "yes" : "no: \($0.target.rows) rows",
        ]
      }.show("table")
    }
  }

  struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Brings a store to this version's tables, as a role that owns them.")
    @Option(help: "A file, or the address of a PostgreSQL database without its password.") var to: String
    @Option(help: "A file with the password of the PostgreSQL database.") var passwordFile: String?

    func run() async throws {
      let place = StorePlace(to, passwordFile)
      try await place.with(try await place.open(PaymentAdministration.migrations)) { _ in
        Terminal.say("the store has the tables of this version")
      }
    }
  }
}

/// A store as it is named at the command line: a file or the address of a database.
private struct StorePlace {
  private let name: String
  private let passwordFile: String?

  init(_ name: String, _ passwordFile: String?) { (self.name, self.passwordFile) = (name, passwordFile) }

  private var isDatabase: Bool { name.hasPrefix("postgres://") || name.hasPrefix("postgresql://") }

  /// - Throws: ``MistakenCall`` when there is no such file.
  func openUnchanged() async throws -> Database {
    guard isDatabase || FileManager.default.fileExists(atPath: name) else {
      throw MistakenCall("there is no store at \(name)")
    }
    return try await open([])
  }

  func openForCopy() async throws -> Database {
    try await Database.targetOfCopy(PaymentAdministration.migrations, open: open)
  }

  func open(_ migrations: [Migration]) async throws -> Database {
    guard isDatabase else { return try await Database.sqlite(path: name, migrations: migrations) }
    var settings = PostgresSettings(address: name)
    settings.applicationName = "tender-store-\(ProcessInfo.processInfo.processIdentifier)"
    settings.passwordFile = passwordFile
    settings.connections = 1
    settings.patience = .seconds(60)
    settings.statementLimit = .seconds(60)
    return try await Database.postgres(settings, migrations: migrations)
  }

  /// Closes the store afterwards, also after an error.
  func with(_ store: Database, _ body: (Database) async throws -> Void) async throws {
    do { try await body(store) } catch {
      await store.close()
      throw error
    }
    await store.close()
  }
}
