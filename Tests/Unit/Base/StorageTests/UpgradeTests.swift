import Foundation
import Storage
import TenderTesting
import Testing

/// Two versions of a program: the second gives accounts a column, and removes one that it does not need any more.
private enum Version {
  static let first = Accounts.schema
  static let second =
    Accounts.schema + [
      Migration("test-2", "ALTER TABLE accounts ADD COLUMN owner TEXT;\nCREATE INDEX by_owner ON accounts (owner);\n"),
      Migration(contracting: "test-3", "ALTER TABLE accounts DROP COLUMN note;\n"),
    ]
}

@Suite struct `An upgrade` {
  /// With what the names of a test's nodes begin.
  private let family = "upgrade-\(UUID().uuidString.prefix(8))"

  /// Opens a database as a node of a version.
  private func node(
    _ place: EmptyDatabase, _ engine: StoreEngineUnderTest, _ migrations: [Migration], contracts: Bool = false
  ) async throws -> Database {
    guard engine == .postgres else { return try await place.open(migrations, contracts: contracts) }
    let settings = try place.settings {
      $0.family = family
      $0.applicationName = "\(family)-\(UUID().uuidString.prefix(8))"
    }
    return try await Database.postgres(settings, migrations: migrations, contracts: contracts)
  }

  private func insert(_ id: String, _ database: Database) async throws {
    try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ($1, 1)", .text(id)) }
  }

  private func held(_ database: Database) async throws -> [Int64] {
    try await database.read { try $0.rows("SELECT * FROM accounts ORDER BY id").map { try $0.integer("held") } }
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `only adds at first, so that the version before starts and serves again`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    for (id, version) in [("a", Version.first), ("b", Version.second), ("c", Version.first), ("d", Version.second)] {
      let database = try await node(place, engine, version)
      try await insert(id, database)
      _ = try await held(database)
      await database.close()
    }
    let database = try await node(place, engine, Version.second)
    #expect(try await held(database) == [1, 1, 1, 1])
    #expect(try await database.lacking(Version.second) == (expanding: [], contracting: ["test-3"]))
    await database.close()
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `is planned with the tables that it changes, and the plan changes nothing`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await node(place, engine, Version.first)
    for id in ["a", "b"] { try await insert(id, database) }
    let plan = try await database.plan(Version.second, contracts: false)
    #expect(plan.steps.map(\.migration) == ["test-2", "test-3"])
    #expect(plan.steps.map(\.waits) == [false, true])
    #expect(plan.steps.map { $0.tables.map(\.table) } == [["accounts"], ["accounts"]])
    if engine != .postgres { #expect(plan.steps.map { $0.tables.map(\.rows) } == [[2], [2]]) }
    #expect(try await database.lacking(Version.second) == (expanding: ["test-2"], contracting: ["test-3"]))
    await database.close()
  }

  @Test func `is measured on a copy of the file, while a server has the file`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "plan-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "store.db").path
    let database = try await Database.sqlite(path: path, migrations: Version.first)
    try await insert("a", database)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for contracts in [false, true] {
      let plan = try await Database.plan(Version.second, contracts: contracts, ofFile: path)
      #expect(plan.due.map(\.migration) == (contracts ? ["test-2", "test-3"] : ["test-2"]))
      #expect(plan.milliseconds != nil && plan.notMeasured == nil)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == files)
    #expect(try await database.lacking(Version.second) == (expanding: ["test-2"], contracting: ["test-3"]))
    #expect(try await held(database) == [1])
    await database.close()
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `removes when it is asked to, and then refuses the version before`(_ engine: StoreEngineUnderTest) async throws {
    let place = try await EmptyDatabase(engine)
    for version in [Version.first, Version.second] {
      let database = try await node(place, engine, version)
      try await database.write { try $0.run("UPDATE accounts SET note = 'still there'") }
      await database.close()
    }
    let database = try await contracted(place, engine)
    #expect(try await database.lacking(Version.second) == (expanding: [], contracting: []))
    await #expect(throws: StorageError.self) { try await database.read { try $0.rows("SELECT note FROM accounts") } }
    await database.close()
    await #expect(throws: StorageError.migrationUnknown("test-3")) { try await node(place, engine, Version.first) }
    try await node(place, engine, Version.second).close()
  }

  /// Connections that were closed leave PostgreSQL's list a moment later.
  private func contracted(_ place: EmptyDatabase, _ engine: StoreEngineUnderTest) async throws -> Database {
    let opened = try await waitFor(
      "the nodes of the version before to leave PostgreSQL's list",
      { () async throws -> Database? in
        do { return try await node(place, engine, Version.second, contracts: true) } catch StorageError.otherVersions {
          return nil
        }
      }
    ) { $0 != nil }
    return try #require(opened)
  }

  @Test(arguments: StoreEngineUnderTest.present) func `makes a new store whole`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await node(place, engine, Version.second)
    #expect(try await database.lacking(Version.second) == (expanding: [], contracting: []))
    await database.close()
  }

  @Test(.enabled(if: PostgresUnderTest.isPresent))
  func `lets nodes of both versions serve side by side, and removes nothing while one of the version before is left`()
    async throws
  {
    let place = try await EmptyDatabase(.postgres)
    let old = try await node(place, .postgres, Version.first)
    // It has prepared its statements, also `SELECT *`, before the new version adds a column.
    for number in 0..<16 { try await insert("old-\(number)", old) }
    for _ in 0..<16 { _ = try await held(old) }
    let new = try await node(place, .postgres, Version.second)
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<64 {
        let database = number.isMultiple(of: 2) ? old : new
        group.addTask {
          try await insert("both-\(number)", database)
          return try await held(database).count
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts.max() == 80)
    #expect(old.pool?.retries[.changedTable] ?? 0 > 0)
    let refusal = await #expect(throws: StorageError.self) {
      try await node(place, .postgres, Version.second, contracts: true)
    }
    guard case .otherVersions = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    await old.close()
    try await contracted(place, .postgres).close()
    try await insert("after", new)
    #expect(try await held(new).count == 81)
    await new.close()
  }

  @Test(arguments: [
    ("CREATE TABLE more (id TEXT PRIMARY KEY NOT NULL);\nCREATE UNIQUE INDEX one ON more (id);\n", true),
    ("CREATE INDEX by_note ON accounts (note);\n", true), ("CREATE UNIQUE INDEX one ON accounts (note);\n", false),
    ("ALTER TABLE accounts ADD COLUMN owner TEXT;\n", true),
    ("ALTER TABLE accounts ADD COLUMN owner TEXT NOT NULL DEFAULT '';\n", true),
    ("ALTER TABLE accounts ADD COLUMN owner TEXT NOT NULL;\n", false),
    ("ALTER TABLE accounts DROP COLUMN note;\n", false), ("DROP TABLE accounts;\n", false),
    ("UPDATE accounts SET held = 0;\n", false),
  ])
  func `is known by its text to add only`(_ sql: String, _ adds: Bool) {
    #expect(Migration("test-2", sql).keepsItsPromise == adds)
    #expect(Migration(contracting: "test-2", sql).keepsItsPromise)
  }
}
