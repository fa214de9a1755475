import Foundation
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A store in a file` {
  private let file: TemporaryStore
  private var path: String { file.path }

  init() throws { file = try TemporaryStore() }

  private func open() async throws -> Database { try await Database.sqlite(path: path, migrations: Accounts.schema) }

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

  @Test func `refuses a second opener and a changed migration`() async throws {
    let database = try await open()
    await #expect(throws: StorageError.busy) { try await Database.sqlite(path: path, migrations: Accounts.schema) }
    await database.close()
    let rewritten = [Migration("test-1", "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL);\n")]
    let copy = path + ".copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    await #expect(throws: StorageError.migrationChanged("test-1")) {
      try await Database.sqlite(path: copy, migrations: rewritten)
    }
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
