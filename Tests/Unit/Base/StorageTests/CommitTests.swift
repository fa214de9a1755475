import Foundation
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

private let schema = [
  Migration("test-1", "CREATE TABLE lines (id BIGINT PRIMARY KEY NOT NULL, text TEXT NOT NULL);\n")
]

@Suite struct `Commits` {
  private let file: TemporaryStore
  private var path: String { file.path }

  init() throws { file = try TemporaryStore() }

  private func insert(_ id: Int, _ database: Database) async throws {
    try await database.write { try $0.run("INSERT INTO lines (id, text) VALUES ($1, 'x')", .integer(Int64(id))) }
  }

  /// Writes that arrive while the writer is blocked share the next commits.
  @Test func `under load are far fewer than writes`() async throws {
    let database = try await Database.sqlite(path: path, migrations: schema)
    let before = database.commits
    let gate = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (held, hold) = AsyncStream.makeStream(of: Void.self)
      group.addTask {
        try await database.write { _ in
          hold.finish()
          gate.wait()
        }
      }
      for await _ in held {}
      for id in 0..<640 { group.addTask { try await insert(id, database) } }
      do {
        defer { gate.signal() }
        try await waitUntil("640 writes that wait") { database.waiting == 640 }
      }
      try await group.waitForAll()
    }
    let count = try await database.read { try $0.row("SELECT count(*) AS n FROM lines")?.integer("n") }
    #expect(count == 640)
    #expect(database.commits - before <= 12)
    await database.close()
  }

  @Test func `one after the other are counted one each`() async throws {
    let database = try await Database.sqlite(path: path, migrations: schema)
    let before = database.commits
    for id in 0..<5 { try await insert(id, database) }
    #expect(database.commits - before == 5)
    await database.close()
  }
}

@Suite struct `A store in memory` {
  private struct Died: Error {}

  private func lines(_ database: Database) async throws -> Int64? {
    try await database.read { try $0.row("SELECT count(*) AS n FROM lines")?.integer("n") }
  }

  @Test func `outlives the databases that are opened on it`() async throws {
    let store = try MemoryStore()
    let first = try store.open(schema, clock: .system)
    try await first.write { try $0.run("INSERT INTO lines (id, text) VALUES (1, 'x')") }
    #expect(try await lines(store.open(schema, clock: .system)) == 1)
  }

  @Test func `has nothing written after a crash before a commit, and everything after one behind it`() async throws {
    let store = try MemoryStore()
    let before = try store.open(schema, clock: .system, hooks: CommitHooks(before: { throw Died() }))
    await #expect(throws: Died.self) { try await before.write { try $0.run("INSERT INTO lines VALUES (1, 'x')") } }
    #expect(try await lines(before) == 0)
    let after = try store.open(schema, clock: .system, hooks: CommitHooks(after: { throw Died() }))
    await #expect(throws: Died.self) { try await after.write { try $0.run("INSERT INTO lines VALUES (2, 'x')") } }
    #expect(try await lines(after) == 1)
  }

  @Test func `rolls back what its transaction threw`() async throws {
    let database = try MemoryStore().open(schema, clock: .system)
    await #expect(throws: Died.self) {
      try await database.write { store in
        try store.run("INSERT INTO lines VALUES (1, 'x')")
        throw Died()
      }
    }
    #expect(try await lines(database) == 0)
  }

  /// Queues so many writes, of which every third fails, and lets the store commit them at once.
  ///
  /// - Returns: how many were acknowledged.
  private func write(_ count: Int, inside: @escaping @Sendable (SharedCommit) throws -> Void) async throws -> (
    acknowledged: Int, database: Database
  ) {
    let (held, gate) = AsyncStream.makeStream(of: Void.self)
    let hooks = CommitHooks(before: { for await _ in held {} }, inside: inside)
    let database = try MemoryStore().open(schema, clock: .system, hooks: hooks)
    let acknowledged = try await withThrowingTaskGroup(of: Bool.self) { group in
      for id in 0..<count { group.addTask { await insert(id, database) } }
      do {
        defer { gate.finish() }
        try await waitUntil("\(count) writes that wait") { database.waiting == count }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    return (acknowledged, database)
  }

  private func insert(_ id: Int, _ database: Database) async -> Bool {
    let written: Void? = try? await database.write { store in
      try store.run("INSERT INTO lines VALUES ($1, 'x')", .integer(Int64(id)))
      if id.isMultiple(of: 3) { throw Died() }
    }
    return written != nil
  }

  @Test func `lets writes share a commit, from which a failed one is rolled back alone`() async throws {
    let seen = Mutex<[SharedCommit]>([])
    let (acknowledged, database) = try await write(9) { commit in seen.withLock { $0.append(commit) } }
    #expect(acknowledged == 6)
    #expect(try await lines(database) == 6)
    #expect(database.commits == 1)
    #expect(seen.withLock { $0.map(\.writes) } == [Array(repeating: ["lines"], count: 6)])
    #expect(seen.withLock { $0.map(\.failed) } == [3])
  }

  @Test func `keeps none of the writes of a failed commit and fails each caller`() async throws {
    let (acknowledged, database) = try await write(9) { _ in throw Died() }
    #expect(acknowledged == 0)
    #expect(try await lines(database) == 0)
  }

  @Test func `whose flush fails ends the store at once: its writers do not know, and nothing is written after it`()
    async throws
  {
    let isBroken = Mutex(true)
    let hooks = CommitHooks(inside: { _ in
      if isBroken.withLock({ $0 }) { throw CommitHooks.FlushFailed() }
    })
    let database = try MemoryStore().open(schema, clock: .system, hooks: hooks)
    async let failure = database.awaitFailure()
    await #expect(throws: StorageError.outcomeUnknown) {
      try await database.write { try $0.run("INSERT INTO lines VALUES (1, 'x')") }
    }
    #expect(await failure == database.failure && database.failure != nil)
    isBroken.withLock { $0 = false }
    await #expect(throws: StorageError.outcomeUnknown) {
      try await database.write { try $0.run("INSERT INTO lines VALUES (2, 'x')") }
    }
    #expect(database.commits == 0)
  }

  @Test func `on a disk that ignores flushes loses the writes of a commit without an error`() async throws {
    let (acknowledged, database) = try await write(9) { _ in throw CommitHooks.Forgotten() }
    #expect(acknowledged == 6)
    #expect(try await lines(database) == 0)
  }
}
