import Foundation
import Storage
import TenderPayments
import TenderTesting
import Testing

private let schema = [
  Migration(
    "test-1",
    """
    CREATE TABLE lines (
      id BIGINT PRIMARY KEY NOT NULL,
      text TEXT NOT NULL,
      raw BYTEA,
      kind TEXT NOT NULL DEFAULT 'plain' CHECK (kind IN ('plain', 'bold',
        'broken'))
    );
    """)
]

@Suite struct `Reads` {
  private let file: TemporaryStore
  private var path: String { file.path }

  init() throws { file = try TemporaryStore() }

  private struct Wrong: Error {}

  private func open() async throws -> Database { try await Database.sqlite(path: path, migrations: schema) }

  private func insert(_ id: Int, _ database: Database) async throws {
    try await database.write { try $0.run("INSERT INTO lines (id, text) VALUES ($1, 'x')", .integer(Int64(id))) }
  }

  /// Many at once, so that most find a busy reader, whose older snapshot must not be used.
  @Test func `see every write that was answered before them`() async throws {
    let database = try await open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<32 {
        group.addTask {
          for step in 0..<40 {
            let id = worker * 1_000 + step
            try await insert(id, database)
            let found = try await database.read {
              try $0.row("SELECT id FROM lines WHERE id = $1", .integer(Int64(id)))
            }
            #expect(found != nil, "\(id)")
          }
        }
      }
      try await group.waitForAll()
    }
    await database.close()
  }

  /// Each counts twice while a writer adds rows.
  @Test func `see one snapshot each, regardless of writes`() async throws {
    let database = try await open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for id in 0..<400 { try await insert(id, database) } }
      for _ in 0..<16 {
        group.addTask {
          for _ in 0..<40 {
            try await database.read { store in
              let first = try store.row("SELECT count(*) AS n FROM lines")?.integer("n")
              usleep(200)
              #expect(try store.row("SELECT count(*) AS n FROM lines")?.integer("n") == first)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    await database.close()
  }

  @Test func `are not delayed by a long one`() async throws {
    let database = try await open()
    let gate = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (held, hold) = AsyncStream.makeStream(of: Void.self)
      group.addTask {
        try await database.read { _ in
          hold.finish()
          // It waits for the other reads: if it delayed them, the test would not end.
          gate.wait()
        }
      }
      for await _ in held {}
      do {
        defer { gate.signal() }
        for _ in 0..<200 { _ = try await database.read { try $0.row("SELECT count(*) AS n FROM lines") } }
      }
      try await group.waitForAll()
    }
    await database.close()
  }

  /// Twelve are held up. If they had every connection, the other reads would not end.
  @Test func `of who has some places leave the others free`() async throws {
    let database = try await open()
    let (limited, gate) = (database.limited(to: 2), DispatchSemaphore(value: 0))
    let begun = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<12 {
        group.addTask {
          try await limited.read { _ in
            begun.next()
            gate.wait()
          }
        }
      }
      try await waitUntil("two that are held up") { begun.value == 2 }
      for _ in 0..<200 { _ = try await database.read { try $0.row("SELECT count(*) AS n FROM lines") } }
      try await insert(1, database)
      #expect(begun.value == 2)
      for _ in 0..<12 { gate.signal() }
      try await group.waitForAll()
    }
    #expect(begun.value == 12)
    #expect(try await limited.read { try $0.row("SELECT count(*) AS n FROM lines")?.integer("n") } == 1)
    await database.close()
  }

  @Test func `of who has some places end where they would not, and fail alone`() async throws {
    let database = try await open()
    let limited = database.limited(to: 1, steps: 1_000_000)
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n"
    for _ in 0..<8 {
      await #expect(throws: StorageError.busy) { _ = try await limited.read { try $0.row(endless) } }
      _ = try await limited.read { try $0.row("SELECT count(*) AS n FROM lines") }
    }
    // The limit stays with its caller, on whichever connection.
    let long = endless.replacing("SELECT i + 1 FROM n", with: "SELECT i + 1 FROM n WHERE i < 200000")
    for _ in 0..<8 {
      #expect(try await database.read { try $0.row(long)?.integer("n") } == 200_000)
    }
    await database.close()
  }

  private func fails(_ number: Int, _ database: Database) async -> Bool {
    do {
      try await database.read { store in
        if number % 3 == 0 { throw Wrong() }
        if number % 3 == 1 { _ = try store.rows("SELECT nothing FROM nowhere") }
      }
      return false
    } catch {
      return true
    }
  }

  @Test func `fail alone`() async throws {
    let database = try await open()
    let failures = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<200 { group.addTask { await fails(number, database) } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failures == 134)
    await database.close()
  }

  @Test func `of a store that was closed are refused`() async throws {
    let database = try await open()
    await database.close()
    await #expect(throws: (any Error).self) { _ = try await database.read { try $0.row("SELECT 1 AS n") } }
  }
}

@Suite struct `A statement` {
  private let file: TemporaryStore
  private var path: String { file.path }

  init() throws { file = try TemporaryStore() }

  private func open() async throws -> Database { try await Database.sqlite(path: path, migrations: schema) }

  @Test(arguments: ["", "a\0b", "é\u{301}𝄞", String(repeating: "long ", count: 10_000)])
  func `keeps any text`(_ text: String) async throws {
    let database = try await open()
    try await database.write { try $0.run("INSERT INTO lines (id, text) VALUES (1, $1)", .text(text)) }
    #expect(try await database.read { try $0.row("SELECT text FROM lines")?.text("text") } == text)
    await database.close()
  }

  @Test(arguments: [[], [0], Array(repeating: 7, count: 100_000)] as [[UInt8]])
  func `keeps any bytes, and zero bytes are not NULL`(_ bytes: [UInt8]) async throws {
    let database = try await open()
    try await database.write { try $0.run("INSERT INTO lines (id, text, raw) VALUES (1, '', $1)", .blob(bytes)) }
    #expect(try await database.read { try $0.row("SELECT raw FROM lines")?.blobOrNil("raw") } == bytes)
    await database.close()
  }

  /// SQLite would bind missing values as NULL.
  @Test func `is refused with a value too few or too many`() async throws {
    let database = try await open()
    for values in [[], [SQLValue.integer(1), .integer(2)]] {
      await #expect(throws: StorageError.self) {
        try await database.read { store in
          _ =
            values.isEmpty
            ? try store.row("SELECT id FROM lines WHERE id = $1")
            : try store.row("SELECT id FROM lines WHERE id = $1", values[0], values[1])
        }
      }
    }
    await database.close()
  }

  @Test func `enforces a list of values in any line of the definition`() async throws {
    let database = try await open()
    for (id, kind) in ["plain", "bold", "broken"].enumerated() {
      try await database.write {
        try $0.run(
          "INSERT INTO lines (id, text, kind) VALUES ($1, 'x', $2)", .integer(Int64(id)), .text(kind))
      }
    }
    await #expect(throws: StorageError.check(constraint: "(kind = 'plain' OR kind = 'bold' OR kind = 'broken')")) {
      try await database.write { try $0.run("INSERT INTO lines (id, text, kind) VALUES (9, 'x', 'other')") }
    }
    await database.close()
  }

  @Test func `that returns rows has written them all`() async throws {
    let database = try await open()
    let returned = try await database.write { store in
      try store.rows("INSERT INTO lines (id, text) VALUES (1, 'a'), (2, 'b'), (3, 'c') RETURNING id")
    }
    #expect(try returned.map { try $0.integer("id") } == [1, 2, 3])
    #expect(try await database.read { try $0.row("SELECT count(*) AS n FROM lines")?.integer("n") } == 3)
    await database.close()
  }
}

@Suite struct `The write-ahead log` {
  private let file: TemporaryStore
  private var path: String { file.path }

  init() throws { file = try TemporaryStore() }

  private func sizeOfFile() throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }

  private func insert(_ id: Int, _ bytes: SQLValue, _ database: Database) async throws {
    try await database.write {
      try $0.run("INSERT INTO lines (id, text, raw) VALUES ($1, 'x', $2)", .integer(Int64(id)), bytes)
    }
  }

  /// The writer itself starts a checkpoint only at four times as many pages.
  @Test func `is checkpointed in parallel with the writer`() async throws {
    let database = try await Database.sqlite(path: path, migrations: schema)
    let bytes = SQLValue.blob(Array(repeating: 1, count: 3_000))
    for round in 0..<60 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for place in 0..<64 { group.addTask { try await insert(round * 64 + place, bytes, database) } }
        try await group.waitForAll()
      }
    }
    try await waitFor("a file of three million bytes", { try sizeOfFile() }) { $0 >= 3_000_000 }
    await database.close()
    let again = try await Database.sqlite(path: path, migrations: schema)
    #expect(try await again.read { try $0.row("SELECT count(*) AS n FROM lines")?.integer("n") } == 3_840)
    await again.close()
  }
}
