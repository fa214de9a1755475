import Administration
import Crypto
import Logging
import Storage
import Synchronization
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `The tables of a server` {
  @Test(arguments: StoreEngineUnderTest.present) func `can be made on every engine, and are kept when it starts again`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    for _ in 0..<2 {
      let database = try await place.open(ServerStore.migrations)
      let names = try await database.read { try $0.rows("SELECT name FROM migrations") }
      #expect(names.count == ServerStore.migrations.count)
      await place.close(database)
    }
  }

  @Test func `are made by migrations that the version before can live with, or that are said to remove`() {
    let broken = ServerStore.migrations.filter { !$0.keepsItsPromise }
    #expect(broken.map(\.name) == [])
  }

  /// A store keeps the text of its migrations, and a server that has another text refuses it.
  @Test func `are made by migrations that have not changed since they were released`() throws {
    let released = try Repository.text("Tests/migrations.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }
    let present = ServerStore.migrations.map { migration in
      let hash = Hex.encode(Array(SHA256.hash(data: Array(migration.sql.utf8))))
      return "\(migration.name) \(migration.step.rawValue) \(hash)"
    }
    let changed = released.filter { !present.contains(String($0)) }
    #expect(changed == [], "a released migration is never changed: add another one")
    let missing = present.filter { !released.contains(Substring($0)) }
    #expect(missing == [], "add these lines to Tests/migrations.txt before the release that has them")
  }
}

@Suite struct `A disk that has failed to keep a commit` {
  private let migration = Migration("lines", "CREATE TABLE lines (id BIGINT PRIMARY KEY NOT NULL);")

  private func database() throws -> Database {
    let hooks = CommitHooks(inside: { _ in throw CommitHooks.FlushFailed() })
    return try MemoryStore().open([migration], clock: .system, hooks: hooks)
  }

  private func fail(_ database: Database) async {
    await #expect(throws: StorageError.outcomeUnknown) {
      try await database.write { try $0.run("INSERT INTO lines VALUES (1)") }
    }
  }

  @Test func `ends the process a second later`() async throws {
    let database = try database()
    let steps = Mutex<[String]>([])
    let scheduler = Scheduler(
      uptime: { .zero }, sleep: { pause in steps.withLock { $0.append("\(pause)") } }, finish: Scheduler.system.finish)
    let monitor = StoreMonitor(database: database, scheduler: scheduler, logger: Logger(label: "store")) {
      steps.withLock { $0.append("end") }
    }
    let end = Task { try await monitor.run() }
    await fail(database)
    let failure = await #expect(throws: StorageError.self) { try await end.value }
    #expect(failure == database.failure && failure != nil)
    #expect(steps.withLock(\.self) == ["\(Duration.seconds(1))", "end"])
  }

  @Test func `ends the process also when another service has ended the others because of it`() async throws {
    let database = try database()
    let ends = Mutex(0)
    await fail(database)
    let monitor = StoreMonitor(database: database, scheduler: .system, logger: Logger(label: "store")) {
      ends.withLock { $0 += 1 }
    }
    let end = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await monitor.run()
    }
    await #expect(throws: StorageError.self) { try await end.value }
    #expect(ends.withLock(\.self) == 1)
  }
}
