import Foundation
import Storage
import TenderPayments
import TenderTesting
import Testing

private let schema = [
  Migration(
    "test-1",
    """
    CREATE TABLE accounts (
      id TEXT PRIMARY KEY NOT NULL,
      held BIGINT NOT NULL CHECK (held >= 0),
      note TEXT,
      raw BYTEA
    );
    """)
]

@Suite struct `A store` {
  private let file: TemporaryStore
  private var path: String { file.path }

  init() throws { file = try TemporaryStore() }

  private func open() async throws -> Database { try await Database.sqlite(path: path, migrations: schema) }

  @Test func `keeps what was written, with its types`() async throws {
    let database = try await open()
    try await database.write { store in
      try store.run("INSERT INTO accounts VALUES ($1, $2, $3, $4)", .text("a"), .integer(.max), .null, .blob([0, 255]))
    }
    let row = try #require(try await database.read { try $0.row("SELECT * FROM accounts WHERE id = $1", .text("a")) })
    #expect(try row.integer("held") == .max)
    #expect(try row.textOrNil("note") == nil)
    #expect(try row.blob("raw") == [0, 255])
    #expect(throws: StorageError.column("nothing")) { try row.text("nothing") }
    await database.close()
  }

  @Test func `has a file that only its owner can read`() async throws {
    let database = try await open()
    try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ('a', 1)") }
    for file in [path, path + "-wal", path + "-shm", path + ".lock"] {
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600, "\(file)")
    }
    await database.close()
  }

  @Test func `keeps the mode of an existing file`() async throws {
    try await open().close()
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    let database = try await open()
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o640)
    await database.close()
  }

  @Test func `names the constraint that failed`() async throws {
    let database = try await open()
    try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ('a', 1)") }
    await #expect(throws: StorageError.unique(constraint: "accounts.id")) {
      try await database.write { try $0.run("INSERT INTO accounts (id, held) VALUES ('a', 1)") }
    }
    await #expect(throws: StorageError.check(constraint: "held >= 0")) {
      try await database.write { try $0.run("UPDATE accounts SET held = -1") }
    }
    await #expect(throws: StorageError.self) {
      try await database.write { try $0.run("UPDATE accounts SET held = 'many'") }
    }
    await database.close()
  }

  @Test func `rolls back a failed write with its own commit and accepts the next`() async throws {
    let database = try await open()
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
    await database.close()
    let again = try await open()
    let ids = try await again.read { try $0.rows("SELECT id FROM accounts").map { try $0.text("id") } }
    #expect(ids == ["b"])
    await again.close()
  }

  @Test func `rolls back one failed write and keeps the others of the same commit`() async throws {
    let database = try await open()
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
    await database.close()
  }

  @Test func `refuses a second opener and a changed migration`() async throws {
    let database = try await open()
    await #expect(throws: StorageError.busy) { try await Database.sqlite(path: path, migrations: schema) }
    await database.close()
    let rewritten = [Migration("test-1", "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL);\n")]
    let copy = path + ".copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    await #expect(throws: StorageError.migrationChanged("test-1")) {
      try await Database.sqlite(path: copy, migrations: rewritten)
    }
  }

  @Test func `refuses a file that a newer version has written and does not change it`() async throws {
    let newer = Migration("test-2", "CREATE TABLE limits (id TEXT PRIMARY KEY NOT NULL);\n")
    await (try Database.sqlite(path: path, migrations: schema + [newer])).close()
    let renamed = [Migration("test-3", "DROP TABLE accounts;\n")]
    await #expect(throws: StorageError.migrationUnknown("test-2")) { try await open() }
    await #expect(throws: StorageError.migrationUnknown("test-1")) {
      try await Database.sqlite(path: path, migrations: renamed + [newer])
    }
    let again = try await Database.sqlite(path: path, migrations: schema + [newer])
    #expect(try await again.read { try $0.rows("SELECT id FROM accounts") }.isEmpty)
    await again.close()
  }

  @Test func `opens a file unchanged when no migrations are given`() async throws {
    try await open().close()
    let database = try await Database.sqlite(path: path, migrations: [])
    #expect(try await database.read { try $0.rows("SELECT id FROM accounts") }.isEmpty)
    await database.close()
  }

  @Test func `can be opened again only after it is closed`() async throws {
    let database = try await open()
    await database.close()
    let successor = try await open()
    await #expect(throws: StorageError.busy) { try await open() }
    await successor.close()
  }

  @Test func `is flushed at every commit`() async throws {
    let database = try await open()
    let synchronous = try await database.write { try $0.row("PRAGMA synchronous")?.integer("synchronous") }
    #expect(synchronous == 2)
    await database.close()
  }
}
