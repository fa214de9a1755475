import Storage
import TenderTesting
import Testing

@Suite(.enabled(if: PostgresUnderTest.isPresent)) struct `A copy of a store` {
  private static let schema = [
    Migration(
      "copy-1",
      """
      CREATE TABLE a_lines (holder TEXT NOT NULL REFERENCES z_holders (id), "at" BIGINT NOT NULL, raw BYTEA, note TEXT,
        PRIMARY KEY (holder, "at"));
      """)
  ]
  private static let holders = [
    Migration("copy-0", "CREATE TABLE z_holders (id TEXT PRIMARY KEY NOT NULL, amount BIGINT);\n")
  ]
  private static let migrations = holders + schema

  /// More than two batches of lines, with NULL, empty and negative values.
  private func filled(_ engine: StoreEngineUnderTest) async throws -> (EmptyDatabase, Database) {
    let place = try await EmptyDatabase(engine)
    let store = try await place.open(Self.migrations)
    try await store.write { store in
      for name in ["é", "z", "A", "", "a b"] {
        try store.run(
          "INSERT INTO z_holders VALUES ($1, $2)", .text(name), name == "A" ? .absent(.integer) : .integer(-3))
        for line in -150..<150 {
          try store.run(
            "INSERT INTO a_lines VALUES ($1, $2, $3, $4)", .text(name), .integer(Int64(line)),
            line % 3 == 0 ? .absent(.blob) : .blob(line % 3 == 1 ? [] : [0, 255]),
            line % 2 == 0 ? .absent(.text) : .text(""))
        }
      }
    }
    return (place, store)
  }

  private func target(_ place: EmptyDatabase) async throws -> Database {
    try await Database.targetOfCopy(Self.migrations) { try await place.open($0) }
  }

  @Test(arguments: [(StoreEngineUnderTest.sqlite, StoreEngineUnderTest.postgres), (.postgres, .sqlite)])
  func `continues where it was stopped, refuses servers meanwhile, and is equal`(
    _ from: StoreEngineUnderTest, _ to: StoreEngineUnderTest
  ) async throws {
    let (home, source) = try await filled(from)
    let place = try await EmptyDatabase(to)
    for batches in [0, 2] {
      let store = try await target(place)
      let isWhole = try await StoreCopy(from: source, to: store).run(atMost: batches)
      #expect(!isWhole)
      await store.close()
      await #expect(throws: StorageError.copyUnfinished) { try await place.open(Self.migrations) }
    }
    let store = try await target(place)
    let copy = try await StoreCopy(from: source, to: store)
    #expect(try await copy.compare().contains { !$0.isEqual })
    #expect(try await copy.run())
    let tables = try await copy.compare()
    #expect(tables.map(\.isEqual) == [true, true])
    #expect(tables.map(\.source.rows) == [1_500, 5])
    try await copy.finish()
    await store.close()
    try await place.close(place.open(Self.migrations))
    await home.close(source)
  }

  @Test(arguments: [
    "UPDATE a_lines SET raw = NULL WHERE raw = $1", "UPDATE a_lines SET note = NULL WHERE note = '' AND raw = $1",
    "DELETE FROM a_lines WHERE raw = $1", "UPDATE a_lines SET \"at\" = \"at\" + 1000 WHERE raw = $1",
  ]) func `with a changed row is not equal`(_ change: String) async throws {
    let (home, source) = try await filled(.sqlite)
    let place = try await EmptyDatabase(.postgres)
    let store = try await target(place)
    let copy = try await StoreCopy(from: source, to: store)
    try await copy.run()
    #expect(try await store.write { try $0.changes(change, .blob([])) } > 0)
    #expect(try await copy.compare().filter { !$0.isEqual }.map(\.table) == ["a_lines"])
    await store.close()
    await home.close(source)
  }

  @Test func `is refused into a store that is used, and into one of another copy`() async throws {
    let (used, store) = try await filled(.postgres)
    let (home, source) = try await filled(.sqlite)
    let (otherHome, other) = try await filled(.sqlite)
    await #expect(throws: CopyRefusal.notEmpty) { try await StoreCopy(from: source, to: store) }
    try await used.close(used.open(Self.migrations))
    let place = try await EmptyDatabase(.postgres)
    let begun = try await target(place)
    try await StoreCopy(from: source, to: begun).run(atMost: 1)
    await #expect(throws: CopyRefusal.otherSource) { try await StoreCopy(from: other, to: begun) }
    await #expect(throws: CopyRefusal.unfinishedSource) { try await StoreCopy(from: begun, to: store) }
    await home.close(source)
    await otherHome.close(other)
    for database in [store, begun] { await database.close() }
  }

  @Test func `finds servers by the names of their connections`() async throws {
    let place = try await EmptyDatabase(.postgres)
    let server = try await Database.postgres(
      place.settings {
        $0.applicationName = "copied-1"
        $0.connections = 1
      }, migrations: [])
    _ = try await server.read { try $0.rows("SELECT 1 AS one") }
    #expect(try await server.connections(named: "copied-") == 0)
    let other = try await Database.postgres(place.settings { $0.applicationName = "copied-2" }, migrations: [])
    #expect(try await other.connections(named: "copied-1") == 1)
    await server.close()
    await other.close()
  }
}
