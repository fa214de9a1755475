import Dispatch
import Foundation
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

private let schema = [
  Migration("test-1", "CREATE TABLE lines (id BIGINT PRIMARY KEY NOT NULL, text TEXT NOT NULL);\n")
]

/// Faults that only a database of another process has. Run by `scripts/with-postgres swift test`.
@Suite(.enabled(if: PostgresUnderTest.isPresent)) struct `A store on PostgreSQL` {
  private func open(_ change: (inout PostgresSettings) -> Void = { _ in }) async throws -> Database {
    let place = try await EmptyDatabase(.postgres)
    return try await Database.postgres(try place.settings(change), migrations: schema)
  }

  private func insert(_ id: Int64, _ database: Database) async throws {
    try await database.write { try $0.run("INSERT INTO lines (id, text) VALUES ($1, 'x')", .integer(id)) }
  }

  private func ids(_ database: Database) async throws -> [Int64] {
    try await database.read { try $0.rows("SELECT id FROM lines ORDER BY id").map { try $0.integer("id") } }
  }

  /// A transaction that has run `body` and stays open.
  private func hold(
    _ database: Database, until gate: DispatchSemaphore, _ body: @escaping @Sendable (Transaction) throws -> Void
  ) async -> Task<Void, any Error> {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let held = Task {
      defer { begin.finish() }
      try await database.write { store in
        try body(store)
        begin.finish()
        gate.wait()
      }
    }
    for await _ in begun {}
    return held
  }

  /// Ends the connection during the next commit that has inserted a line.
  private func endConnectionsInCommits(_ database: Database) async throws {
    try await database.write { store in
      try store.run(
        """
        CREATE FUNCTION hang_up() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'
        """)
      try store.run(
        """
        CREATE CONSTRAINT TRIGGER hang_up AFTER INSERT ON lines DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION hang_up()
        """)
    }
  }

  @Test func `says that the outcome of a commit is unknown when the connection ends in it`() async throws {
    let database = try await open()
    try await endConnectionsInCommits(database)
    await #expect(throws: StorageError.outcomeUnknown) { try await insert(1, database) }
    try await database.write { try $0.run("DROP TRIGGER hang_up ON lines") }
    try await insert(2, database)
    #expect(try await ids(database) == [2])
    await database.close()
  }

  @Test func `runs a transaction again whose connection ended before the commit`() async throws {
    let database = try await open()
    let runs = Counter()
    try await database.write { store in
      try store.run("INSERT INTO lines (id, text) VALUES (1, 'x')")
      if runs.next() == 1 { _ = try store.rows("SELECT pg_terminate_backend(pg_backend_pid())") }
    }
    #expect(runs.value == 2)
    #expect(try await ids(database) == [1])
    await database.close()
  }

  @Test
  func
    `runs a transaction again whose connection the server ended before it came to the statements that go with the commit`()
    async throws
  {
    let database = try await open { $0.connections = 1 }
    // Its statements are prepared from here on.
    try await insert(0, database)
    let runs = Counter()
    try await database.write { store in
      let pid = try #require(try store.row("SELECT pg_backend_pid() AS pid")).integer("pid")
      if runs.next() == 1 { end(pid) }
      try store.run("INSERT INTO lines (id, text) VALUES ($1, 'x')", .integer(1))
    }
    #expect(runs.value == 2)
    #expect(try await ids(database) == [0, 1])
    await database.close()
  }

  @Test func `says that the outcome is unknown when the server falls silent on the way to a commit`() async throws {
    let database = try await open {
      $0.statementLimit = .seconds(1)
      $0.connections = 1
    }
    // Its statements are prepared from here on.
    try await insert(0, database)
    let stopped = Mutex<pid_t>(0)
    await #expect(throws: StorageError.outcomeUnknown) {
      try await database.write { store in
        let pid = pid_t(try #require(try store.row("SELECT pg_backend_pid() AS pid")).integer("pid"))
        try store.run("INSERT INTO lines (id, text) VALUES ($1, 'x')", .integer(1))
        stopped.withLock { $0 = pid }
        kill(pid, SIGSTOP)
      }
    }
    stopped.withLock { _ = kill($0, SIGCONT) }
    await database.close()
  }

  @Test func `waits once for a server that falls silent, not for each statement on the way to it`() async throws {
    let database = try await open {
      $0.statementLimit = .seconds(1)
      $0.patience = .seconds(1)
      $0.connections = 1
    }
    // Its statements are prepared from here on.
    try await insert(0, database)
    let stopped = Mutex<pid_t>(0)
    let begin = ContinuousClock.now
    await #expect(throws: StorageError.connection("the database did not answer in time")) {
      try await database.write { store in
        let process = "SELECT pg_backend_pid() AS pid"
        let pid = pid_t(try #require(try store.row(process)).integer("pid"))
        stopped.withLock { $0 = pid }
        kill(pid, SIGSTOP)
        for id in Int64(1)...16 { try store.run("INSERT INTO lines (id, text) VALUES ($1, 'x')", .integer(id)) }
        _ = try store.rows(process)
      }
    }
    // Two seconds and the limit of a statement, once; not sixteen times.
    #expect(.now - begin < .seconds(20))
    stopped.withLock { _ = kill($0, SIGCONT) }
    await database.close()
  }

  /// Ends a connection and returns when its server process has ended, for 5 s at most.
  private func end(_ pid: Int64) {
    kill(pid_t(pid), SIGTERM)
    for _ in 0..<500 where kill(pid_t(pid), 0) == 0 { usleep(10_000) }
  }

  @Test func `goes on when every connection was ended while it was idle`() async throws {
    let name = "idle-\(UUID().uuidString)"
    let database = try await open { $0.applicationName = name }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in Int64(0)..<32 { group.addTask { try await insert(id, database) } }
      try await group.waitForAll()
    }
    let pids = try await database.read { store in
      try store.rows("SELECT pid FROM pg_stat_activity WHERE starts_with(application_name, $1)", .text(name))
        .map { try $0.integer("pid") }
    }
    let other = try await open()
    try await other.write { store in
      for pid in pids { _ = try store.rows("SELECT pg_terminate_backend(CAST($1 AS INTEGER))", .integer(pid)) }
    }
    #expect(pids.count == 4)
    for id in Int64(32)..<64 { try await insert(id, database) }
    #expect(try await ids(database).count == 64)
    await other.close()
    await database.close()
  }

  @Test func `runs one of two transactions again that lock the same rows in opposite order`() async throws {
    let database = try await open()
    for id in Int64(1)...2 { try await insert(id, database) }
    let runs = Counter()
    let both = Barrier()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for order in [[Int64(1), 2], [2, 1]] {
        group.addTask {
          try await database.write { store in
            let isFirst = runs.next() <= 2
            _ = try store.lockedRow("SELECT id FROM lines WHERE id = $1", .integer(order[0]))
            if isFirst { both.wait() }
            _ = try store.lockedRow("SELECT id FROM lines WHERE id = $1", .integer(order[1]))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(runs.value == 3)
    await database.close()
  }

  @Test func `refuses a transaction for which no connection becomes free in time`() async throws {
    let database = try await open {
      $0.connections = 1
      $0.patience = .milliseconds(200)
    }
    let gate = DispatchSemaphore(value: 0)
    let held = await hold(database, until: gate) { _ in }
    await #expect(throws: StorageError.overloaded) { try await insert(1, database) }
    gate.signal()
    try await held.value
    try await insert(2, database)
    #expect(try await ids(database) == [2])
    await database.close()
  }

  @Test func `refuses a transaction when too many wait already`() async throws {
    let database = try await open {
      $0.connections = 1
      $0.queue = 1
    }
    let gate = DispatchSemaphore(value: 0)
    let held = await hold(database, until: gate) { _ in }
    async let second: Void = insert(1, database)
    while database.waiting < 1 { await Task.yield() }
    await #expect(throws: StorageError.overloaded) { try await insert(2, database) }
    gate.signal()
    try await held.value
    try await second
    await database.close()
  }

  @Test func `gives up a lock that another transaction keeps for too long, and a statement that takes too long`()
    async throws
  {
    let database = try await open {
      $0.lockLimit = .milliseconds(100)
      $0.statementLimit = .milliseconds(500)
    }
    try await insert(1, database)
    let gate = DispatchSemaphore(value: 0)
    let held = await hold(database, until: gate) { _ = try $0.lockedRow("SELECT id FROM lines WHERE id = 1") }
    await #expect(throws: StorageError.busy) { try await database.write { try $0.run("UPDATE lines SET text = 'y'") } }
    gate.signal()
    try await held.value
    await #expect(throws: StorageError.busy) {
      try await database.read { try $0.rows("SELECT 1 AS n FROM pg_sleep(5)") }
    }
    await database.close()
  }

  @Test func `ends a transaction that holds a lock and does nothing, and commits none of it`() async throws {
    let database = try await open {
      $0.idleLimit = .milliseconds(200)
      $0.patience = .seconds(1)
    }
    try await insert(1, database)
    let runs = Counter()
    try await database.write { store in
      _ = try store.lockedRow("SELECT id FROM lines WHERE id = 1")
      if runs.next() == 1 { Thread.sleep(forTimeInterval: 0.6) }
      try store.run("UPDATE lines SET text = 'y'")
    }
    #expect(runs.value == 2)
    await database.close()
  }

  @Test func `has the database's time, one for a transaction`() async throws {
    let database = try await open()
    let times = try await database.write { store in
      let row = try #require(
        try store.row("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now"))
      return (store.now, try row.time("now"))
    }
    #expect(times.0 <= times.1 && times.1.microseconds - times.0.microseconds < 1_000_000)
    await database.close()
  }

  @Test func `adds its time to values that are counted from it, in the first trip`() async throws {
    let database = try await open { $0.connections = 1 }
    let before = try #require(database.pool?.trips)
    let (now, times) = try await database.write { store in
      let insertion = SQLStatement(
        "INSERT INTO lines (id, text) VALUES ($1, $2 || '-' || $1) RETURNING id, text", .integer(-5_000_000),
        .integer(0)
      ).fromNow(1, 2)
      let row = try #require(try store.row(insertion))
      return (store.now, (try row.time("id"), try row.text("text")))
    }
    #expect(times.0 == now.adding(.seconds(-5)))
    #expect(times.1 == "\(now.microseconds)-\(now.microseconds - 5_000_000)")
    #expect(try #require(database.pool?.trips) - before == 2)
    await database.close()
  }

  @Test func `knows about the time without a question, once it has been answered`() async throws {
    let database = try await open { $0.connections = 1 }
    let first = try await database.write { ($0.approximateNow, $0.now) }
    #expect(first.0 == first.1)
    let before = try #require(database.pool?.trips)
    let (about, exactly) = try await database.write { store in
      let about = store.approximateNow
      _ = try store.row("SELECT 1 AS one")
      return (about, store.now)
    }
    #expect(try #require(database.pool?.trips) - before == 2)
    #expect(abs(exactly.microseconds - about.microseconds) < 1_000_000)
    await database.close()
  }

  @Test func `brings the answers to what was asked together with the next`() async throws {
    let database = try await open { $0.connections = 1 }
    try await insert(1, database)
    let before = try #require(database.pool?.trips)
    let texts = try await database.write { store in
      let asked = try store.ask([
        SQLStatement("SELECT text FROM lines WHERE id = 1", locking: .waiting),
        SQLStatement("SELECT text FROM lines WHERE id = 2"),
      ])
      let changed = try store.row(SQLStatement("UPDATE lines SET text = 'later' RETURNING text"))
      let alone = try store.ask([SQLStatement("SELECT text FROM lines WHERE id = 1")])
      return try (store.answers(to: asked) + [changed] + store.answers(to: alone)).map { try $0?.text("text") }
    }
    #expect(texts == ["x", nil, "later", "later"])
    #expect(try #require(database.pool?.trips) - before == 3)
    await database.close()
  }

  @Test func `has the database's time, also where that is another one than the machine's`() async throws {
    let place = try await EmptyDatabase(.postgres)
    let setUp = try await Database.postgres(place.settings(), migrations: schema)
    try await setUp.write { store in
      try store.run(
        """
        CREATE FUNCTION now() RETURNS timestamptz LANGUAGE sql AS
          $$ SELECT pg_catalog.now() + interval '1 hour' $$
        """)
    }
    await setUp.close()
    // The functions of its schema come before PostgreSQL's own.
    let address = try place.address + "%2Cpg_catalog"
    let database = try await Database.postgres(PostgresSettings(address: address), migrations: [])
    let time = try await database.write { $0.now }
    #expect(time.since(WallClock.system.now()) > .seconds(3_500))
    await database.close()
  }

  @Test func `locks what one of several queries locks, before it answers the next`() async throws {
    let database = try await open { $0.connections = 3 }
    try await insert(1, database)
    let gate = DispatchSemaphore(value: 0)
    let all = SQLStatement("SELECT id, text FROM lines", locking: .waiting)
    let held = await hold(database, until: gate) { store in
      _ = try store.firstRows(of: [all, SQLStatement("SELECT 1 AS one")])
      try store.run("UPDATE lines SET text = 'later'")
    }
    #expect(try await database.write { try $0.unclaimedRows("SELECT id FROM lines") }.isEmpty)
    async let second = database.write { store in
      try store.firstRows(of: [all, SQLStatement("SELECT text FROM lines")])
    }
    try await Task.sleep(for: .milliseconds(50))
    gate.signal()
    try await held.value
    #expect(try await second.map { try $0?.text("text") } == ["later", "later"])
    await database.close()
  }

  @Test func `waits for the server once for statements that go together`() async throws {
    let database = try await open { $0.connections = 1 }
    try await insert(1, database)
    var before = try #require(database.pool?.trips)
    func trips() -> Int {
      defer { before = database.pool?.trips ?? 0 }
      return (database.pool?.trips ?? 0) - before
    }
    let ids = SQLStatement("SELECT id FROM lines")
    _ = try await database.firstRows(of: [ids, ids, ids])
    #expect(trips() == 1)
    _ = try await database.read { try $0.firstRows(of: [ids, ids, ids]) }
    #expect(trips() == 2)
    let change = SQLStatement("UPDATE lines SET text = text || 'y' RETURNING id")
    try await database.write { store in
      _ = try store.firstRows(of: [change, change])
      for _ in 0..<3 { try store.run("UPDATE lines SET text = text || 'y'") }
    }
    #expect(trips() == 2)
    try await database.write { store in
      _ = try store.row(ids)
      try store.changeOne("UPDATE lines SET text = text || 'y'", orThrow: CancellationError())
    }
    #expect(trips() == 2)
    await database.close()
  }

  @Test func `reads one snapshot in one trip, and changes nothing there`() async throws {
    let database = try await open { $0.connections = 2 }
    try await insert(1, database)
    let count = SQLStatement("SELECT CAST(count(*) AS BIGINT) AS n FROM lines")
    let pause = SQLStatement("SELECT 1 AS n FROM (SELECT pg_sleep(1)) AS pause")
    async let counts = database.firstRows(of: [count, pause, count])
    let pauses = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    var pausing: Row?
    for _ in 0..<200 where pausing == nil {
      pausing = try await database.read { try $0.row(pauses) }
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(pausing != nil)
    try await insert(2, database)
    #expect(try await counts.map { try $0?.integer("n") } == [1, 1, 1])
    #expect(try await database.firstRows(of: [count])[0]?.integer("n") == 2)
    await #expect(throws: StorageError.self) {
      try await database.firstRows(of: [SQLStatement("DELETE FROM lines RETURNING id")])
    }
    #expect(try await database.firstRows(of: [count])[0]?.integer("n") == 2)
    await database.close()
  }

  @Test func `takes neighbouring statements as one if each reads and changes a table of its own`() async throws {
    let database = try await open { $0.connections = 1 }
    try await database.write { store in
      for table in ["a", "b", "c"] { try store.run("CREATE TABLE \(table) (x BIGINT, y BIGINT)") }
    }
    let alone = [
      "INSERT INTO a (x) VALUES (1)", "INSERT INTO a (x) VALUES (2) ON CONFLICT DO NOTHING",
      "INSERT INTO a (x) SELECT MAX(x) + 1 FROM a WHERE y = 1",
      "UPDATE a SET x = 1 WHERE y = (SELECT MAX(y) FROM a WHERE x = 2)",
    ]
    let others = [
      "INSERT INTO a (x) SELECT x FROM b WHERE y = 1", "UPDATE a SET x = 1 FROM b WHERE a.x = b.x",
      "INSERT INTO a (x) SELECT a.x FROM a, b WHERE a.y = 1", "UPDATE a SET x = 1 WHERE y IS DISTINCT FROM 2",
      "DELETE FROM a WHERE x = 1", "UPDATE c SET x = 3",
    ]
    for sql in alone + others {
      try await database.write { store in
        _ = try store.row("SELECT 1 AS one")
        try store.run(sql)
        try store.run("INSERT INTO c (x, y) VALUES ($1, $2)", .integer(1), .integer(2))
      }
    }
    let prepared = try await database.read { store in
      try store.rows("SELECT statement FROM pg_prepared_statements").map { try $0.text("statement") }
    }
    let joined = prepared.filter { $0.contains("INSERT INTO c") && $0.hasPrefix("WITH ") }
    #expect(alone.allSatisfy { sql in joined.contains { $0.contains(sql) } } && joined.count == alone.count)
    await database.close()
  }

  @Test func `counts its connections, the waits for them and what was run again`() async throws {
    let database = try await open { $0.connections = 1 }
    let gate = DispatchSemaphore(value: 0)
    let held = await hold(database, until: gate) { _ in }
    #expect(database.pool?.connections == 1 && database.pool?.inUse == 1 && database.pool?.waits == 0)
    async let second: Void = insert(1, database)
    while database.waiting < 1 { await Task.yield() }
    try await Task.sleep(for: .milliseconds(50))
    gate.signal()
    try await held.value
    try await second
    let runs = Counter()
    try await database.write { store in
      if runs.next() == 1 { _ = try store.rows("SELECT pg_terminate_backend(pg_backend_pid())") }
    }
    try await endConnectionsInCommits(database)
    await #expect(throws: StorageError.outcomeUnknown) { try await insert(2, database) }
    let pool = try #require(database.pool)
    #expect(pool.waits == 1 && pool.waited > .milliseconds(40) && pool.waited < .seconds(30))
    #expect(pool.retries == [.connection: 1] && pool.unknownOutcomes == 1)
    await database.close()
    #expect(database.pool?.inUse == 0)
  }

  @Test func `tells what its server says of itself, and names settings that lose what was confirmed`() async throws {
    let place = try await EmptyDatabase(.postgres)
    for (options, isUnsafe) in [("", false), ("%20-c%20synchronous_commit%3Doff", true)] {
      let settings = PostgresSettings(address: try place.address + options)
      let database = try await Database.postgres(settings, migrations: [])
      let facts = try #require(try await database.serverFacts())
      #expect(facts.unsafeSettings.contains("synchronous_commit = off") == isUnsafe, "\(facts)")
      #expect(facts.version >= 130_000 && facts.isLocal && !facts.isEncrypted && facts.mayChangeTables)
      #expect(facts.standbys == 0 && facts.lagBytes == nil && facts.oldestTransactionMilliseconds >= 0)
      await database.close()
    }
  }

  @Test func `keeps the check of a column as its type, and that of several columns in its table`() async throws {
    let place = try await EmptyDatabase(.postgres)
    let database = try await place.open([
      Migration(
        "test-1",
        """
        CREATE TABLE holds (
          id TEXT PRIMARY KEY NOT NULL,
          id_kind TEXT DEFAULT 'id' CHECK (id_kind IN ('id',
            'a "name", (it''s)')),
          amount BIGINT NOT NULL CHECK (amount >= 0 AND (amount < 10 OR amount > 20)),
          taken BIGINT NOT NULL CHECK (taken <= amount)
        );
        """ + "\n")
    ])
    func write(_ sql: String) async throws { try await database.write { try $0.run(sql) } }
    try await write("INSERT INTO holds (id, amount, taken) VALUES ('a', 5, 5)")
    try await write("INSERT INTO holds (id, id_kind, amount, taken) VALUES ('b', NULL, 25, 5)")
    try await write("UPDATE holds SET id_kind = 'a \"name\", (it''s)' WHERE id = 'b'")
    for (set, check) in [
      ("id_kind = 'other'", "holds_id_kind_check"), ("amount = -1", "holds_amount_check"),
      ("amount = 15", "holds_amount_check"), ("taken = 6", "holds_check"),
    ] {
      await #expect(throws: StorageError.check(constraint: check)) {
        try await write("UPDATE holds SET \(set) WHERE id = 'a'")
      }
    }
    await #expect(throws: StorageError.notNull(column: "amount")) { try await write("UPDATE holds SET amount = NULL") }
    let domains = try await database.read {
      try $0.rows("SELECT typname FROM pg_type WHERE typtype = 'd' AND typnamespace = current_schema()::regnamespace")
    }
    #expect(domains.count == 2)
    #expect(
      try await database.read { try $0.rows("SELECT * FROM holds WHERE amount = 5 AND id_kind = 'id'") }.count == 1)
    await database.close()
  }

  @Test func `is migrated once by nodes that start at the same time`() async throws {
    let place = try await EmptyDatabase(.postgres)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { try await place.open(schema).close() } }
      try await group.waitForAll()
    }
    let database = try await place.open(schema)
    #expect(try await database.read { try $0.rows("SELECT name FROM migrations") }.count == 1)
    await database.close()
  }

  @Test func `refuses a server on another machine whose certificate is not verified`() async throws {
    for mode in ["disable", "prefer", "require", "verify-ca"] {
      let settings = PostgresSettings(address: "postgres://tender@db.example:5432/tender?sslmode=\(mode)")
      await #expect(throws: StorageError.connection("sslmode must be verify-full for a database on another machine")) {
        try await Database.postgres(settings, migrations: schema)
      }
    }
  }

  @Test func `says that it cannot be reached, for as long as it cannot`() async throws {
    var settings = PostgresSettings(address: "postgres://tender@127.0.0.1:1/tender")
    settings.patience = .milliseconds(300)
    await #expect(throws: StorageError.self) { try await Database.postgres(settings, migrations: schema) }
    let database = try await Database.postgres(settings, migrations: [])
    for _ in 0..<3 {
      let error = await #expect(throws: StorageError.self) { try await insert(1, database) }
      guard case .connection = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    await database.close()
  }

  @Test func `finds the host that takes writes among those that do not answer`() async throws {
    let place = try await EmptyDatabase(.postgres)
    let address = try place.address
    let host = try #require(address.firstMatch(of: /@([^\/]+)/)?.output.1)
    for hosts in ["127.0.0.1:1,\(host)", "\(host),127.0.0.1:1", "127.0.0.1:1,127.0.0.1:2,\(host)"] {
      var settings = PostgresSettings(address: address.replacingOccurrences(of: "@\(host)", with: "@\(hosts)"))
      settings.patience = .milliseconds(500)
      let database = try await Database.postgres(settings, migrations: schema)
      // A connection that is lost is made anew, and begins with another host.
      await #expect(throws: StorageError.self) {
        try await database.write { try $0.run("SELECT pg_terminate_backend(pg_backend_pid())") }
      }
      #expect(try await ids(database).isEmpty, "\(hosts)")
      await database.close()
    }
  }

  @Test func `refuses an address that leaves its host to a service file`() async throws {
    let settings = PostgresSettings(address: "postgres:///tender?service=elsewhere")
    let refused = StorageError.connection("the database's address must name its host itself, not a service")
    await #expect(throws: refused) { try await Database.postgres(settings, migrations: schema) }
  }

  @Test func `never shows its address, which may hold a password`() async throws {
    let settings = PostgresSettings(address: "postgres://tender:5up3r5ecret@127.0.0.1:1/tender?unknown=1")
    var dumped = ""
    dump(settings, to: &dumped)
    #expect(!"\(settings) \(String(reflecting: settings)) \(dumped)".contains("5up3r5ecret"))
    for address in [settings.address, "host=127.0.0.1 password=5up3r5ecret 5up3r5ecret"] {
      let error = await #expect(throws: StorageError.self) {
        try await Database.postgres(PostgresSettings(address: address), migrations: schema)
      }
      #expect(!"\(String(describing: error))".contains("5up3r5ecret"))
    }
  }

  @Test func `refuses NUL in a text, which PostgreSQL cannot keep`() async throws {
    let database = try await open()
    await #expect(throws: StorageError.self) {
      try await database.write { try $0.run("INSERT INTO lines (id, text) VALUES (1, $1)", .text("a\0b")) }
    }
    #expect(try await ids(database).isEmpty)
    await database.close()
  }

  @Test func `is closed when what was begun is answered`() async throws {
    let database = try await open()
    async let written: Void = insert(1, database)
    while database.commits == 0 { await Task.yield() }
    await database.close()
    try await written
    await #expect(throws: StorageError.self) { try await insert(2, database) }
  }
}

@Suite struct `The timelines of a database` {
  private func at(_ number: UInt32, of cluster: String = "7301") -> PostgresTimeline {
    PostgresTimeline(systemIdentifier: cluster, number: number)
  }

  @Test func `rule out a primary in whose place another was promoted`() {
    let timelines = PostgresTimelines()
    #expect(timelines.admits(at(3)) && timelines.admits(at(3)))
    #expect(timelines.admits(at(4)))
    #expect(!timelines.admits(at(3)))
    #expect(timelines.admits(at(4)) && timelines.admits(at(5)))
  }

  @Test func `begin anew with another cluster, and rule out nothing that does not tell its own`() {
    let timelines = PostgresTimelines()
    #expect(timelines.admits(at(9)))
    #expect(timelines.admits(at(1, of: "after pg_upgrade")) && !timelines.admits(at(8)))
    #expect(timelines.admits(nil))
  }

  /// The process learns of a promotion while a transaction is under way on the host that was replaced.
  @Test func `drop what a host answers that is replaced meanwhile`() async throws {
    let place = try await EmptyDatabase(.postgres)
    let timelines = PostgresTimelines()
    var settings = PostgresSettings(address: try place.address)
    settings.patience = .milliseconds(300)
    let database = try await Database.postgres(settings, migrations: [], timelines: timelines)
    let identifier = "SELECT CAST(system_identifier AS TEXT) AS id FROM pg_control_system()"
    let cluster = try #require(try await database.read { try $0.row(identifier)?.text("id") })
    let promotion = at(1_000, of: cluster)
    await #expect(throws: StorageError.outcomeUnknown) {
      try await database.write { store in
        try store.run("CREATE TABLE lines (id BIGINT PRIMARY KEY)")
        _ = timelines.admits(promotion)
      }
    }
    await place.close(database)
    for isReading in [true, false] {
      let timelines = PostgresTimelines()
      let database = try await Database.postgres(settings, migrations: [], timelines: timelines)
      let body: @Sendable (Transaction) throws -> Row? = { store in
        let row = try store.row("SELECT 1 AS one")
        _ = timelines.admits(promotion)
        if isReading { return row }
        throw CancellationError()
      }
      let error = await #expect(throws: StorageError.self) {
        try await isReading ? database.read(body) : database.write(body)
      }
      #expect(error == .connection("another host was promoted in place of this one"))
      await database.close()
    }
  }
}

/// Lets two threads go on when both are here; each waits for 5 s at most.
private final class Barrier: Sendable {
  private let first = DispatchSemaphore(value: 0)
  private let second = DispatchSemaphore(value: 0)
  private let count = Counter()

  func wait() {
    let isFirst = count.next() == 1
    (isFirst ? second : first).signal()
    _ = (isFirst ? first : second).wait(timeout: .now() + 5)
  }
}

/// Counts from 1.
private final class Counter: Sendable {
  private let count = Mutex(0)

  var value: Int { count.withLock { $0 } }

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
