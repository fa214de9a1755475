import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Ledger
import Settings
import Storage
import TenderServer

/// `tender store`
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "The store itself: copies it, brings it to the newest tables, grants rights on them.",
    subcommands: [Copy.self, Migrate.self, Grants.self, Vacuum.self])

  struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "copy",
      abstract: "Copies a store, such as a file to PostgreSQL, and proves that both are equal.",
      discussion: """
        No server may run on either. A copy that was stopped continues when the same command runs again; until it has \
        ended, no server opens the target. The key files (secrets.keyFile, contacts.keyFile) are no part of the store: \
        take them along. Root works as the user whose folder the stores are in.
        """)
    @Option(help: "A file, or the address of a PostgreSQL database without its password.") var from: String
    @Option(help: "A new file, or the address of an empty PostgreSQL database without its password.") var to: String
    @Option(help: "A file with the password of the PostgreSQL database.") var passwordFile: String?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      guard from != to else { throw MistakenCall("--from and --to name the same store") }
      let (source, target) = (
        StorePlace(from, passwordFile: passwordFile), StorePlace(to, passwordFile: passwordFile)
      )
      try requireOneOwner([source, target].compactMap(\.path))
      try await FolderOwner.asOwner(besides: target.path ?? source.path) {
        try await source.openUnchanged().during { source in
          try await target.openForCopy().during { target in try await copy(from: source, to: target) }
        }
      }
    }

    /// Root works as the user whose folder a store is in, and both stores are open at once.
    private func requireOneOwner(_ paths: [String]) throws {
      let folders = paths.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
      let users = try folders.map { try FolderOwner(of: $0)?.user ?? 0 }
      guard Set(users).count > 1 else { return }
      throw CallFailure(
        "\(folders[0]) is of user \(users[0]) and \(folders[1]) of \(users[1]): name two folders of one user, and move the "
          + "copy afterwards")
    }

    private func copy(from source: Database, to target: Database) async throws {
      try await refuseServers(at: [source, target])
      let copy = try await StoreCopy(from: source, to: target)
      // One that connected before the copy was marked as unfinished.
      try await refuseServers(at: [target])
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
      try await refuseServers(at: [source])
      try await copy.finish()
      if !json { Terminal.say("equal; the audit chain is intact: \(audit.entries) entries") }
    }

    private func refuseServers(at stores: [Database]) async throws {
      for store in stores where try await store.connections(named: "tender") > 0 {
        throw CallFailure("a server, or another command, is connected to the database: end it, and copy again")
      }
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

  struct Vacuum: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "vacuum",
      abstract: "Writes an SQLite store anew, so that nothing is left in the file of what was deleted.",
      discussion: """
        No server may run on it, and the disk needs room for it twice. On PostgreSQL, VACUUM FULL as the owner of the \
        tables does it.
        """)
    @Option(help: "The store's file.") var store: String

    func run() async throws {
      guard let path = StorePlace(store).path else {
        throw MistakenCall("--store names a PostgreSQL database: run VACUUM FULL there, as the owner of the tables")
      }
      try StoreFile.check(path)
      do { try await FolderOwner.asOwner(besides: path) { try await Database.vacuum(path: path) } } catch StorageError
        .busy
      {
        throw CallFailure("a server uses \(path): stop it first")
      }
      Terminal.say("\(path) is written anew")
    }
  }

  struct Grants: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "grants",
      abstract: "Prints the SQL that gives a server's role its rights on a PostgreSQL database's tables.",
      discussion: """
        Run it as the role that owns the tables, after `tender store migrate`, and let psql execute what it prints. With \
        these rights alone a server can neither change a table nor delete from the journal.
        """)
    @Option(help: "The role with which servers connect.") var role: String
    @Option(help: "The address of the PostgreSQL database without its password.") var on: String
    @Option(help: "A file with the password of the PostgreSQL database.") var passwordFile: String?
    @Flag(help: "Also the right to delete old fingerprints of payment tokens, for retention.tokenDays.")
    var forgetTokens = false

    func run() async throws {
      let place = StorePlace(on, passwordFile: passwordFile)
      guard case .postgres = place else { throw MistakenCall("--on must be the address of a PostgreSQL database") }
      try await place.openUnchanged().during { database in
        let tables = try await database.tableNames()
        guard tables.contains("migrations") else {
          throw CallFailure("the database has no tables yet: run tender store migrate first")
        }
        for statement in StoreGrants.statements(to: role, on: tables, forgetsTokens: forgetTokens) {
          Terminal.say(statement + ";")
        }
      }
    }
  }

  struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "migrate",
      abstract: "Brings a store to this version's tables, as a role that owns them.",
      discussion: """
        Without --contract it only adds, and servers of the version before go on. What they alone need is removed with \
        --contract, which is refused while one of them is connected. --plan changes nothing and may run beside a server: it \
        says what would be done, on which tables with how many rows. For a file it says how long, measured on a copy \
        beside it, which it removes.
        """)
    @Option(help: "A file, or the address of a PostgreSQL database without its password.") var to: String
    @Option(help: "A file with the password of the PostgreSQL database.") var passwordFile: String?
    @Flag(help: "Also remove what only the version before needs.") var contract = false
    @Flag(help: "Say what would be done and how long it takes, and change nothing.") var plan = false
    @Flag(help: "Print JSON, with --plan.") var json = false

    func run() async throws {
      guard plan || !json else { throw ValidationError("--json belongs to --plan.") }
      if plan { return try await showPlan() }
      let (place, migrations) = (StorePlace(to, passwordFile: passwordFile), ServerStore.migrations)
      try await FolderOwner.asOwner(besides: place.path) {
        try await Database.open(place, migrations: migrations, contracts: contract).during { database in
          let waiting = try await database.lacking(migrations).contracting
          Terminal.say("the store has the tables of this version")
          guard !waiting.isEmpty else { return }
          Terminal.say(
            "once no server of the version before runs, --contract applies \(waiting.joined(separator: ", "))")
        }
      }
    }

    private func showPlan() async throws {
      let plan = try await StorePlace(to, passwordFile: passwordFile).plan(contracts: contract)
      guard !json else { return Terminal.say(try Terminal.json(plan)) }
      guard !plan.steps.isEmpty else { return Terminal.say("the store has the tables of this version") }
      Table("MIGRATION", "KIND", "TABLES", of: plan.steps) { step in
        [step.migration, step.kind.rawValue + (step.waits ? ", waits for --contract" : ""), Self.text(step.tables)]
      }.show("migration")
      if let milliseconds = plan.milliseconds { Terminal.say("took \(milliseconds) ms on a copy, which is removed") }
      if let reason = plan.notMeasured { Terminal.say("not measured: \(reason)") }
      Terminal.say("nothing was changed")
    }

    private static func text(_ tables: [MigrationPlan.Affected]) -> String {
      tables.map { table in
        let rows = table.rows.map { "\(table.isEstimate ? "about " : "")\($0) rows" }
        return "\(table.table) (\(rows ?? (table.isEstimate ? "rows not counted" : "new")))"
      }.joined(separator: ", ")
    }
  }
}

extension StorePlace {
  /// A store as it is named at the command line: a file or the address of a database, which one command uses alone and
  /// may keep busy for long.
  fileprivate init(_ text: String, passwordFile: String?) {
    self = StorePlace(text)
    guard case .postgres(var settings) = self else { return }
    settings.applicationName = "tender-store-\(ProcessInfo.processInfo.processIdentifier)"
    settings.passwordFile = passwordFile
    (settings.connections, settings.timeout, settings.statementLimit) = (1, .seconds(60), .seconds(60))
    self = .postgres(settings)
  }

  /// - Throws: ``MistakenCall`` when there is no such file.
  fileprivate func openUnchanged() async throws -> Database {
    if let path, !FileManager.default.fileExists(atPath: path) { throw MistakenCall("there is no store at \(path)") }
    return try await Database.open(self, migrations: [])
  }

  /// What this version's migrations will do to the store.
  fileprivate func plan(contracts: Bool) async throws -> MigrationPlan {
    let migrations = ServerStore.migrations
    guard let path else {
      let database = try await openUnchanged()
      do {
        let plan = try await database.plan(migrations, contracts: contracts)
        await database.close()
        return plan
      } catch {
        await database.close()
        throw error
      }
    }
    guard FileManager.default.fileExists(atPath: path) else { throw MistakenCall("there is no store at \(path)") }
    return try await FolderOwner.asOwner(besides: path) {
      try await Database.plan(migrations, contracts: contracts, ofFile: path)
    }
  }

  fileprivate func openForCopy() async throws -> Database {
    try await Database.targetOfCopy(ServerStore.migrations) { try await Database.open(self, migrations: $0) }
  }
}

extension Database {
  /// Closes the store afterwards, also after an error.
  fileprivate func during(_ body: (Database) async throws -> Void) async throws {
    do { try await body(self) } catch {
      await close()
      throw error
    }
    await close()
  }
}
