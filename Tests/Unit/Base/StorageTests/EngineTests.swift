import Foundation
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

private let engines = StoreEngineUnderTest.present

private let families = [
  Migration(
    "test-1",
    """
    CREATE TABLE parents (id TEXT PRIMARY KEY NOT NULL, count BIGINT NOT NULL);
    CREATE TABLE children (parent TEXT NOT NULL REFERENCES parents (id), number BIGINT NOT NULL);
    """)
]

/// What callers rely on, on every engine.
@Suite struct `A store` {
  @Test(arguments: engines) func `keeps what was written, with its types`(_ engine: StoreEngineUnderTest) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    try await database.write { store in
      try store.run("INSERT INTO accounts VALUES ($1, $2, $3, $4)", .text("a"), .integer(.max), .null, .blob([0, 255]))
    }
    let row = try #require(try await database.read { try $0.row("SELECT * FROM accounts WHERE id = $1", .text("a")) })
    #expect(try row.integer("held") == .max)
    #expect(try row.textOrNil("note") == nil)
    #expect(try row.blob("raw") == [0, 255])
    #expect(throws: StorageError.column("nothing")) { try row.text("nothing") }
    await place.close(database)
  }

  @Test(arguments: engines) func `rolls back a failed write with its own commit and accepts the next`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    struct Refused: Error {}
    for _ in 0..<3 {
      await #expect(throws: Refused.self) {
        try await database.write { store in
          try store.run("INSERT INTO accounts (id, held) VALUES ('a', 0)")
          throw Refused()
        }
      }
    }
    try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ('b', 0)") }
    await place.close(database)
    let again = try await place.open(Accounts.schema)
    let ids = try await again.read { try $0.rows("SELECT id FROM accounts").map { try $0.text("id") } }
    #expect(ids == ["b"])
    await place.close(again)
  }

  @Test(arguments: engines) func `rolls back one failed write and keeps the others of the same commit`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    struct Refused: Error {}
    let kept = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<200 {
        group.addTask {
          do {
            try await database.write { store in
              try store.run("INSERT INTO accounts (id, held) VALUES ($1, 0)", .text("\(number)"))
              if number.isMultiple(of: 3) { throw Refused() }
            }
            return true
          } catch is Refused { return false }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(kept == 133)
    let count = try await database.read { try $0.row("SELECT count(*) AS n FROM accounts")?.integer("n") }
    #expect(count == 133)
    await place.close(database)
  }

  @Test(arguments: engines) func `refuses a store that a newer version has written and does not change it`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let newer = Migration(contracting: "test-2", "CREATE TABLE limits (id TEXT PRIMARY KEY NOT NULL);\n")
    try await place.close(place.open(Accounts.schema + [newer]))
    let renamed = [Migration(contracting: "test-3", "DROP TABLE accounts;\n")]
    await #expect(throws: StorageError.migrationUnknown("test-2")) { try await place.open(Accounts.schema) }
    await #expect(throws: StorageError.migrationUnknown("test-2")) { try await place.open(renamed) }
    let again = try await place.open(Accounts.schema + [newer])
    #expect(try await again.read { try $0.rows("SELECT id FROM accounts") }.isEmpty)
    await place.close(again)
  }

  @Test(arguments: engines) func `opens a store unchanged when no migrations are given`(_ engine: StoreEngineUnderTest)
    async throws
  {
    let place = try await EmptyDatabase(engine)
    try await place.close(place.open(Accounts.schema))
    let database = try await place.open([])
    #expect(try await database.read { try $0.rows("SELECT id FROM accounts") }.isEmpty)
    await place.close(database)
  }

  @Test(arguments: engines) func `compares a value that may be absent`(_ engine: StoreEngineUnderTest) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ('a', 1)") }
    let search = "SELECT id FROM accounts WHERE ($1 IS NULL OR id = $1) AND ($2 IS NULL OR held = $2)"
    let found = try await database.read { store in
      try [nil, "a", "b"].map { try store.rows(search, .text(optional: $0), .integer(optional: nil)).count }
    }
    #expect(found == [1, 1, 0])
    await place.close(database)
  }

  @Test(arguments: engines) func `names the kind of constraint that failed`(_ engine: StoreEngineUnderTest) async throws
  {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    func failure(_ sql: String) async throws -> StorageError? {
      do { try await database.write { try $0.run(sql) } } catch let error as StorageError { return error }
      return nil
    }
    #expect(try await failure("INSERT INTO accounts (id, held) VALUES ('a', 1)") == nil)
    let unique = try await failure("INSERT INTO accounts (id, held) VALUES ('a', 1)")
    let check = try await failure("UPDATE accounts SET held = -1")
    guard case .unique = unique, case .check = check else {
      Issue.record("\(String(describing: unique)), \(String(describing: check))")
      return
    }
    #expect(try await failure("INSERT INTO accounts (id) VALUES ('b')") == .notNull(column: column(engine)))
    await place.close(database)
  }

  private func column(_ engine: StoreEngineUnderTest) -> String { engine == .sqlite ? "accounts.held" : "held" }

  @Test(arguments: engines) func `commits nothing after a statement has failed, even if its error is caught`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    await #expect(throws: StorageError.self) {
      try await database.write { store in
        try store.run("INSERT INTO accounts (id, held) VALUES ('a', 1)")
        _ = try? store.run("INSERT INTO accounts (id, held) VALUES ('a', 1)")
        _ = try? store.rows("SELECT id FROM accounts")
      }
    }
    #expect(try await database.read { try $0.rows("SELECT id FROM accounts") }.isEmpty)
    await place.close(database)
  }

  @Test(arguments: engines) func `runs statements in their order, before one that returns something and the commit`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    try await database.write { store in
      for number in 0..<70 { try store.run("INSERT INTO accounts (id, held) VALUES ($1, 1)", .text("\(number)")) }
      #expect(try store.rows("SELECT id FROM accounts").count == 70)
      try store.run("UPDATE accounts SET held = held + 1")
      try store.run("UPDATE accounts SET held = held * 10 WHERE id = '7'")
      #expect(try store.changes("DELETE FROM accounts WHERE held <> 20") == 69)
      try store.run("UPDATE accounts SET held = held + 5")
    }
    #expect(try await database.read { try $0.rows("SELECT held FROM accounts").map { try $0.integer("held") } } == [25])
    await place.close(database)
  }

  @Test(arguments: engines)
  func `answers several queries at once, each by its first row or none, after what was written before`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    let held = try await database.write { store in
      for id in ["a", "b"] { try store.run("INSERT INTO accounts (id, held) VALUES ($1, 7)", .text(id)) }
      #expect(try store.firstRows(of: []).isEmpty)
      let rows = try store.firstRows(of: [
        SQLStatement("SELECT id FROM accounts ORDER BY id"),
        SQLStatement("SELECT id FROM accounts WHERE id = $1", .text("c")),
        SQLStatement("SELECT held FROM accounts WHERE id = $1", .text("b")),
      ])
      #expect(try rows[0]?.text("id") == "a" && rows[1] == nil)
      return try rows[2]?.integer("held")
    }
    #expect(held == 7)
    await #expect(throws: StorageError.self) {
      try await database.read { store in
        try store.firstRows(of: [SQLStatement("SELECT id FROM accounts"), SQLStatement("SELECT id FROM nothing")])
      }
    }
    await place.close(database)
  }

  @Test(arguments: engines) func `answers queries without a transaction of the caller's`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ('a', 7)") }
    let (known, other) = (
      SQLStatement("SELECT held FROM accounts WHERE id = $1", .text("a")),
      SQLStatement("SELECT held FROM accounts WHERE id = $1", .text("b"))
    )
    let rows = try await database.firstRows(of: [other, known])
    #expect(try rows[0] == nil && rows[1]?.integer("held") == 7)
    #expect(try await database.firstRows(of: []).isEmpty)
    await #expect(throws: StorageError.self) {
      try await database.firstRows(of: [known, SQLStatement("SELECT id FROM nothing")])
    }
    #expect(try await database.firstRows(of: [known])[0]?.integer("held") == 7)
    await place.close(database)
  }

  @Test(arguments: engines) func `answers changes that return rows together with queries`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    let rows = try await database.write { store in
      let insert = SQLStatement(
        "INSERT INTO accounts (id, held) VALUES ($1, 1) ON CONFLICT DO NOTHING RETURNING id", .text("a"))
      let other = SQLStatement("INSERT INTO accounts (id, held) VALUES ($1, 2) RETURNING held", .text("b"))
      return try store.firstRows(of: [
        insert, insert, other, SQLStatement("UPDATE accounts SET held = 3 RETURNING held"),
        SQLStatement("SELECT COUNT(*) AS held FROM accounts WHERE held = 3"),
      ])
    }
    #expect(try rows[0]?.text("id") == "a" && rows[1] == nil)
    #expect(try rows.suffix(3).map { try $0?.integer("held") } == [2, 3, 2])
    await place.close(database)
  }

  @Test(arguments: engines) func `checks the reference of a change that returns a row`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(families)
    await #expect(throws: StorageError.foreignKey) {
      try await database.write { store in
        let orphan = SQLStatement("INSERT INTO children (parent, number) VALUES ('nobody', 1) RETURNING parent")
        _ = try store.firstRows(of: [orphan])
      }
    }
    await place.close(database)
  }

  @Test(arguments: engines) func `writes several tables, and one after the other where they repeat`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(families)
    let child = "INSERT INTO children (parent, number) SELECT $1, COUNT(*) + 1 FROM children WHERE parent = $1"
    try await database.write { store in
      try store.run("INSERT INTO parents (id, count) VALUES ($1, $2)", .text("a"), .integer(5))
      try store.run(child, .text("a"))
      try store.run(child, .text("a"))
      try store.changeOne(
        "UPDATE parents SET count = count + $2 WHERE id = $1", .text("a"), .integer(10), orThrow: CancellationError())
      try store.run("UPDATE parents SET count = (SELECT MAX(number) FROM children) * 100 + count")
      try store.run("INSERT INTO children (parent, number) VALUES ($2, $1)", .integer(9), .text("a"))
    }
    let numbers = try await database.read { try $0.rows("SELECT number FROM children ORDER BY number") }
    #expect(try numbers.map { try $0.integer("number") } == [1, 2, 9])
    #expect(try await database.read { try $0.row("SELECT count FROM parents")?.integer("count") } == 215)
    await place.close(database)
  }

  @Test(arguments: engines) func `commits nothing when a statement that has to change a row changes none`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    struct NoSuchAccount: Error {}
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    for id in ["a", "b"] {
      let isKnown = id == "a"
      try await database.write { store in
        try store.run("INSERT INTO accounts (id, held) VALUES ('a', 1) ON CONFLICT (id) DO UPDATE SET held = 5")
      }
      // As the last statement, and before others, of which one answers.
      for answers in [false, true] {
        let result = await Result.of {
          try await database.write { store in
            try store.changeOne(
              "UPDATE accounts SET held = held + 1 WHERE id = $1", .text(id), orThrow: NoSuchAccount())
            guard answers else { return }
            try store.run("UPDATE accounts SET held = held + 100 WHERE id = 'a'")
            _ = try store.rows("SELECT id FROM accounts")
          }
        }
        #expect((try? result.get()) != nil || (result.failure is NoSuchAccount && !isKnown))
        #expect((try? result.get()) == nil || isKnown)
      }
    }
    #expect(try await database.read { try $0.row("SELECT held FROM accounts")?.integer("held") } == 5)
    await place.close(database)
  }

  @Test(arguments: engines) func `says of several statements which failed first, and goes on with the next transaction`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    let failure = await #expect(throws: StorageError.self) {
      try await database.write { store in
        try store.run("INSERT INTO accounts (id, held) VALUES ('a', 1)")
        try store.run("UPDATE accounts SET held = -1")
        try store.run("INSERT INTO accounts (id, held) VALUES ('a', 1)")
        try store.run("INSERT INTO accounts (id) VALUES ('b')")
      }
    }
    guard case .check = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ('a', 1)") }
    #expect(try await database.read { try $0.rows("SELECT id FROM accounts") }.count == 1)
    await place.close(database)
  }

  @Test(arguments: engines) func `lets one of 64 callers that insert the same id at once win`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    let claim = "INSERT INTO accounts (id, held) VALUES ('a', $1) ON CONFLICT DO NOTHING RETURNING id"
    let won = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<64 {
        group.addTask { try await database.write { try $0.row(claim, .integer(Int64(number))) } != nil }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(won == 1)
    await place.close(database)
  }

  @Test(arguments: engines) func `gives each unclaimed row to one of the callers that take some at once`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    try await database.write { store in
      for number in 0..<64 { try store.run("INSERT INTO accounts (id, held) VALUES ($1, 0)", .text("\(number)")) }
    }
    let taken = try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<16 { group.addTask { try await database.write { try take(4, $0) } } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(taken.count == Set(taken).count)
    let rest = try await database.read { try $0.rows("SELECT id FROM accounts WHERE held = 0") }
    #expect(taken.count + rest.count == 64)
    await place.close(database)
  }

  private func take(_ count: Int, _ store: Transaction) throws -> [String] {
    let rows = try store.unclaimedRows("SELECT id FROM accounts WHERE held = 0 ORDER BY id LIMIT \(count)")
    let ids = try rows.map { try $0.text("id") }
    for id in ids { try store.run("UPDATE accounts SET held = 1 WHERE id = $1", .text(id)) }
    return ids
  }

  @Test(arguments: engines) func `loses no addition of 64 callers that lock the same row`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ('a', 0)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<64 {
        group.addTask {
          try await database.write { store in
            let row = try #require(try store.lockedRow("SELECT held FROM accounts WHERE id = 'a'"))
            try store.run("UPDATE accounts SET held = $1", .integer(try row.integer("held") + 1))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await database.read { try $0.row("SELECT held FROM accounts")?.integer("held") } == 64)
    await place.close(database)
  }

  @Test(arguments: engines) func `finds each column of a wide row, and the first of two with one name`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open([])
    // Names of one length that differ in one letter, and more than a small table has.
    let names = (0..<90).map { "column_\($0 / 10)_\($0 % 10)_end" }
    let columns = names.enumerated().map { "\($0.offset) AS \($0.element)" } + ["7 AS twice", "8 AS twice"]
    let row = try #require(try await database.read { try $0.row("SELECT \(columns.joined(separator: ", "))") })
    #expect(try names.map { try row.integer($0) } == names.indices.map { Int64($0) })
    #expect(try row.integer("twice") == 7)
    for name in ["", "column", "column_9_0_end", "Twice"] { #expect(row.value(of: name) == nil) }
    await database.close()
  }

  @Test(arguments: engines) func `takes a list in a condition, its opposite and a list of values`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    let things = Migration(
      "things-1", "CREATE TABLE things (id BIGINT PRIMARY KEY NOT NULL, kind TEXT, size BIGINT);\n")
    let database = try await place.open([things])
    try await database.write { store in
      for (id, kind) in [(1, "a"), (2, "b, c"), (3, "d")] {
        try store.run(
          "INSERT INTO things (id, kind, size) VALUES ($1, $2, $3)", .integer(Int64(id)), .text(kind),
          .integer(Int64(id * 10)))
      }
    }
    func ids(_ condition: String, _ values: SQLValue...) async throws -> [Int64] {
      try await database.read { store in
        try store.rows("SELECT id FROM things WHERE \(condition) ORDER BY id", values).map { try $0.integer("id") }
      }
    }
    #expect(try await ids("kind IN ('a', 'd')") == [1, 3])
    #expect(try await ids("things.kind IN ('b, c') AND size IN (10, 20)") == [2])
    #expect(try await ids("kind NOT IN ('a', 'd')") == [2])
    #expect(try await ids("NOT (kind IN ('a')) OR size IN (10)") == [1, 2, 3])
    #expect(try await ids("kind IN ($1, $2)", .text("a"), .text("b, c")) == [1, 2])
    #expect(try await ids("kind IN (SELECT kind FROM things WHERE size IN (30))") == [3])
    await database.close()
  }

  @Test(arguments: engines) func `orders texts by their bytes`(_ engine: StoreEngineUnderTest) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    let names = ["b", "B", "a", "ä", "Z", "_"]
    try await database.write { store in
      for name in names { try store.run("INSERT INTO accounts (id, held) VALUES ($1, 0)", .text(name)) }
    }
    let ordered = try await database.read {
      try $0.rows("SELECT id FROM accounts ORDER BY id").map { try $0.text("id") }
    }
    #expect(ordered == names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
    await place.close(database)
  }

  @Test(arguments: engines) func `reads one snapshot`(_ engine: StoreEngineUnderTest) async throws {
    let place = try await EmptyDatabase(engine)
    let database = try await place.open(Accounts.schema)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let gate = DispatchSemaphore(value: 0)
    async let counts = database.read { store in
      let before = try store.rows("SELECT id FROM accounts").count
      begin.finish()
      gate.wait()
      return [before, try store.rows("SELECT id FROM accounts").count]
    }
    for await _ in begun {}
    do {
      defer { gate.signal() }
      try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ('a', 0)") }
    }
    #expect(try await counts == [0, 0])
    await place.close(database)
  }
}

extension Result where Failure == any Error {
  fileprivate static func of(_ work: () async throws -> Success) async -> Self {
    do { return .success(try await work()) } catch { return .failure(error) }
  }

  fileprivate var failure: (any Error)? {
    if case .failure(let error) = self { error } else { nil }
  }
}
