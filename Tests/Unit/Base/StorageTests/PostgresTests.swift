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

  /// The same with limits of time that are to strike. They do not apply while the tables are made.
  private func limited(_ limits: (inout PostgresSettings) -> Void) async throws -> Database {
    let place = try await EmptyDatabase(.postgres)
    try await place.open(schema).close()
    return try await Database.postgres(try place.settings(limits), migrations: [])
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
      try await admitted {
        try await database.write { store in
          try body(store)
          begin.finish()
          gate.wait()
        }
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
      if runs.next() == 1 {
        kill(pid_t(pid), SIGTERM)
        waitForEnd(of: pid)
      }
      try store.run("INSERT INTO lines (id, text) VALUES ($1, 'x')", .integer(1))
    }
    #expect(runs.value == 2)
    #expect(try await ids(database) == [0, 1])
    await database.close()
  }

  @Test func `says that the outcome is unknown when the server falls silent on the way to a commit`() async throws {
    let error = try await errorOfSilence { store, stop in
      try store.run("INSERT INTO lines (id, text) VALUES ($1, 'x')", .integer(1))
      stop()
    }
    #expect(error == .outcomeUnknown)
  }

  @Test func `waits once for a server that falls silent, not for each statement on the way to it`() async throws {
    // With a limit that is long enough for the machine one wait is shorter than eight. Sixteen never are.
    let error = try await errorOfSilence(within: 8) { store, stop in
      stop()
      for id in Int64(1)...16 { try store.run("INSERT INTO lines (id, text) VALUES ($1, 'x')", .integer(id)) }
      _ = try store.rows("SELECT pg_backend_pid() AS pid")
    }
    #expect(error == .connection("the database did not answer in time"))
  }

  /// What a transaction throws that stops its server process. A statement may take a second, and longer where the
  /// machine is too slow for what comes before the stop.
  ///
  /// - Parameter waits: in fewer waits for an answer than this the transaction has to end; nil for any time.
  private func errorOfSilence(
    within waits: Int? = nil, _ body: @escaping @Sendable (Transaction, _ stop: () -> Void) throws -> Void
  ) async throws -> StorageError? {
    var limit = Duration.milliseconds(500)
    let found = try await waitFor(
      "a transaction whose server falls silent",
      { () async throws -> Silence? in
        limit *= 2
        return try await silence(limit, body)
      }
    ) { silence in
      guard let silence else { return false }
      // A connection waits two seconds longer than a statement may take.
      return waits.map { silence.took < (limit + .seconds(2)) * $0 } ?? true
    }
    return found?.error
  }

  /// What became of a transaction whose server process was stopped.
  private struct Silence {
    let error: StorageError?
    let took: Duration
  }

  /// Nil when a limit has struck before the stop.
  private func silence(
    _ limit: Duration, _ body: @escaping @Sendable (Transaction, _ stop: () -> Void) throws -> Void
  ) async throws -> Silence? {
    let database = try await limited { ($0.statementLimit, $0.timeout, $0.connections) = (limit, limit, 1) }
    let runs = Counter()
    let stopped = Mutex<pid_t?>(nil)
    var error: (any Error)?
    var begin = ContinuousClock.now
    do {
      // Its statements are prepared from here on.
      try await insert(0, database)
      begin = .now
      try await database.write { store in
        // What runs again has lost its connection before the stop.
        guard runs.next() == 1 else { throw CancellationError() }
        let pid = pid_t(try #require(try store.row("SELECT pg_backend_pid() AS pid")).integer("pid"))
        try body(store) {
          stopped.withLock { $0 = pid }
          kill(pid, SIGSTOP)
        }
      }
    } catch let thrown {
      error = thrown
    }
    let took = ContinuousClock.now - begin
    let process = stopped.withLock { $0 }
    if let process { kill(process, SIGCONT) }
    await database.close()
    return process == nil || runs.value > 1 ? nil : Silence(error: error as? StorageError, took: took)
  }

  /// Returns when a server process has ended, or the run of the tests.
  private func waitForEnd(of pid: Int64) {
    while kill(pid_t(pid), 0) == 0, !TestRun.isOver { usleep(1_000) }
  }

  @Test func `goes on when every connection was ended while it was idle`() async throws {
    let name = "idle-\(UUID().uuidString)"
    let database = try await open { $0.applicationName = name }
    // All four are in use at once, so that each is made.
    let gate = DispatchSemaphore(value: 0)
    var held: [Task<Void, any Error>] = []
    for _ in 0..<4 { held.append(await hold(database, until: gate) { _ = try $0.row("SELECT 1 AS one") }) }
    for _ in held { gate.signal() }
    for transaction in held { try await transaction.value }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in Int64(0)..<32 { group.addTask { try await insert(id, database) } }
      try await group.waitForAll()
    }
    @Sendable func connected(_ store: Transaction) throws -> [Int64] {
      try store.rows("SELECT pid FROM pg_stat_activity WHERE starts_with(application_name, $1)", .text(name))
        .map { try $0.integer("pid") }
    }
    // The connection that made the tables leaves the list a moment after it is closed.
    let pids = try await waitFor("four connections", { try await database.read(connected) }) { $0.count == 4 }
    let other = try await open()
    try await other.write { store in
      for pid in pids { _ = try store.rows("SELECT pg_terminate_backend(CAST($1 AS INTEGER))", .integer(pid)) }
    }
    try await waitUntil("the connections to end") { try await other.read(connected).isEmpty }
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
          defer { both.open() }
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
    // Where the two meet again, once more.
    #expect(runs.value >= 3)
    await database.close()
  }

  @Test func `refuses a transaction for which no connection becomes free in time`() async throws {
    let database = try await limited {
      $0.connections = 1
      $0.timeout = .milliseconds(200)
    }
    let gate = DispatchSemaphore(value: 0)
    let held = await hold(database, until: gate) { _ in }
    await #expect(throws: StorageError.overloaded) { try await insert(1, database) }
    gate.signal()
    try await held.value
    try await admitted { try await insert(2, database) }
    #expect(try await admitted { try await ids(database) } == [2])
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
    do {
      defer { gate.signal() }
      try await waitUntil("a transaction that waits") { database.waiting == 1 }
      await #expect(throws: StorageError.overloaded) { try await insert(2, database) }
    }
    try await held.value
    try await second
    await database.close()
  }

  @Test func `gives up a lock that another transaction keeps for too long, and a statement that takes too long`()
    async throws
  {
    let place = try await EmptyDatabase(.postgres)
    let patient = try await place.open(schema)
    let locking = try await Database.postgres(
      try place.settings { $0.lockLimit = .milliseconds(100) }, migrations: [])
    let stating = try await Database.postgres(
      try place.settings { $0.statementLimit = .milliseconds(500) }, migrations: [])
    try await insert(1, patient)
    let gate = DispatchSemaphore(value: 0)
    let held = await hold(patient, until: gate) { _ = try $0.lockedRow("SELECT id FROM lines WHERE id = 1") }
    await #expect(throws: StorageError.busy) { try await locking.write { try $0.run("UPDATE lines SET text = 'y'") } }
    gate.signal()
    try await held.value
    await #expect(throws: StorageError.busy) {
      try await stating.read { try $0.rows("SELECT 1 AS n FROM pg_sleep(5)") }
    }
    for database in [patient, locking, stating] { await database.close() }
  }

  @Test func `ends a transaction that holds a lock and does nothing, and commits none of it`() async throws {
    let place = try await EmptyDatabase(.postgres)
    let patient = try await place.open(schema)
    let database = try await Database.postgres(
      try place.settings { ($0.idleLimit, $0.timeout) = (.milliseconds(200), TestRun.whole) }, migrations: [])
    try await insert(1, patient)
    let runs = Counter()
    try await database.write { store in
      let isFirst = runs.next() == 1
      // On a slow machine the second run may be idle for as long.
      if !isFirst { try store.run("SET LOCAL idle_in_transaction_session_timeout = 0") }
      let row = try #require(try store.lockedRow("SELECT pg_backend_pid() AS pid FROM lines WHERE id = 1"))
      let pid = try row.integer("pid")
      if isFirst { waitForEnd(of: pid) }
      try store.run("UPDATE lines SET text = 'y'")
    }
    #expect(runs.value == 2)
    await database.close()
    await patient.close()
  }

  @Test func `has the database's time, one for a transaction`() async throws {
    let database = try await open()
    let clock = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now"
    let before = try await database.read { try #require(try $0.row(clock)).time("now") }
    let times = try await database.write { store in
      let row = try #require(try store.row(clock))
      return (store.now, try row.time("now"))
    }
    #expect(before <= times.0 && times.0 <= times.1)
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
      let row = try #require(try store.first(Query(insertion)))
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
    // The time since the first answer is in it, and none that has not passed yet.
    #expect(first.1 <= about && about <= exactly)
    await database.close()
  }

  @Test func `brings the answers to what was asked together with the next`() async throws {
    let database = try await open { $0.connections = 1 }
    try await insert(1, database)
    let before = try #require(database.pool?.trips)
    let texts = try await database.write { store in
      func text(_ sql: String, locking: RowLock = .none) -> Query<String> {
        Query(SQLStatement(sql, locking: locking)) { try $0.text("text") }
      }
      let asked = try store.ask(
        text("SELECT text FROM lines WHERE id = 1", locking: .waiting), text("SELECT text FROM lines WHERE id = 2"))
      let changed = try store.first(text("UPDATE lines SET text = 'later' RETURNING text"))
      let alone = try store.ask(text("SELECT text FROM lines WHERE id = 1"))
      let (first, second) = try store.answers(to: asked)
      return [first, second, changed, try store.answers(to: alone)]
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
    let database = try await Database.postgres(.patient(address), migrations: [])
    let before = WallClock.system.now()
    let time = try await database.write { $0.now }
    #expect(time.since(before) >= .seconds(3_600))
    await database.close()
  }

  @Test func `locks what one of several queries locks, before it answers the next`() async throws {
    let name = "locks-\(UUID().uuidString)"
    let database = try await open { ($0.connections, $0.applicationName) = (3, name) }
    try await insert(1, database)
    let gate = DispatchSemaphore(value: 0)
    let all = SQLStatement("SELECT id, text FROM lines", locking: .waiting)
    let held = await hold(database, until: gate) { store in
      _ = try store.firstRows(of: [all, SQLStatement("SELECT 1 AS one")])
      try store.run("UPDATE lines SET text = 'later'")
    }
    async let second = database.write { store in
      try store.firstRows(of: [all, SQLStatement("SELECT text FROM lines")])
    }
    do {
      defer { gate.signal() }
      #expect(try await database.write { try $0.unclaimedRows("SELECT id FROM lines") }.isEmpty)
      try await waitUntil("a transaction that waits for the lock") {
        try await database.read { store in
          try store.row(
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND starts_with(application_name, $1)",
            .text(name)) != nil
        }
      }
    }
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
      _ = try store.first(Query(ids))
      try store.changeOne("UPDATE lines SET text = text || 'y'", orThrow: CancellationError())
    }
    #expect(trips() == 2)
    await database.close()
  }

  @Test func `reads one snapshot in one trip, and changes nothing there`() async throws {
    let place = try await EmptyDatabase(.postgres)
    let database = try await Database.postgres(try place.settings { $0.connections = 3 }, migrations: schema)
    try await insert(1, database)
    let (gate, number) = (DispatchSemaphore(value: 0), Int64.random(in: 1...Int64(Int32.max)))
    let held = await hold(database, until: gate) { store in
      _ = try store.rows("SELECT 1 AS locked FROM (SELECT pg_advisory_xact_lock(\(number))) AS gate")
    }
    let count = SQLStatement("SELECT CAST(count(*) AS BIGINT) AS n FROM lines")
    let pause = SQLStatement("SELECT 1 AS n FROM (SELECT pg_advisory_xact_lock_shared(\(number))) AS pause")
    async let counts = database.firstRows(of: [count, pause, count])
    do {
      defer { gate.signal() }
      let pausing =
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND CAST(objid AS BIGINT) = $1"
      try await waitUntil("a read that pauses") {
        try await database.read { try $0.row(pausing, .integer(number)) != nil }
      }
      try await insert(2, database)
    }
    try await held.value
    #expect(try await counts.map { try $0?.integer("n") } == [1, 1, 1])
    #expect(try await database.firstRows(of: [count])[0]?.integer("n") == 2)
    // A server that only reads may be a standby: another is looked for as long as a caller waits.
    let impatient = try await Database.postgres(
      try place.settings { $0.timeout = .milliseconds(200) }, migrations: [])
    await #expect(throws: StorageError.self) {
      try await impatient.firstRows(of: [SQLStatement("DELETE FROM lines RETURNING id")])
    }
    await impatient.close()
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
    let start = ContinuousClock.now
    async let second: Void = insert(1, database)
    let least: Duration
    do {
      defer { gate.signal() }
      try await waitUntil("a transaction that waits") { database.waiting == 1 }
      let seen = ContinuousClock.now
      // This time is what is counted.
      try await Task.sleep(for: .milliseconds(20))
      least = .now - seen
    }
    try await held.value
    try await second
    let most = ContinuousClock.now - start
    let runs = Counter()
    try await database.write { store in
      if runs.next() == 1 { _ = try store.rows("SELECT pg_terminate_backend(pg_backend_pid())") }
    }
    try await endConnectionsInCommits(database)
    await #expect(throws: StorageError.outcomeUnknown) { try await insert(2, database) }
    let pool = try #require(database.pool)
    #expect(pool.waits == 1 && pool.waited >= least && pool.waited <= most)
    #expect(pool.retries == [.connection: 1] && pool.unknownOutcomes == 1)
    await database.close()
    #expect(database.pool?.inUse == 0)
  }

  @Test func `tells what its server says of itself, and names settings that lose what was confirmed`() async throws {
    let place = try await EmptyDatabase(.postgres)
    for (options, isUnsafe) in [("", false), ("%20-c%20synchronous_commit%3Doff", true)] {
      let database = try await Database.postgres(.patient(try place.address + options), migrations: [])
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
    settings.timeout = .milliseconds(300)
    await #expect(throws: StorageError.self) { try await Database.postgres(settings, migrations: schema) }
    let database = try await Database.postgres(settings, migrations: [])
    for _ in 0..<3 {
      let error = await #expect(throws: StorageError.self) { try await admitted { try await insert(1, database) } }
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
      var settings = PostgresSettings.patient(address.replacingOccurrences(of: "@\(host)", with: "@\(hosts)"))
      try await Database.postgres(settings, migrations: schema).close()
      // What is lost again and again is given up.
      settings.timeout = .milliseconds(500)
      let database = try await Database.postgres(settings, migrations: [])
      // A connection that is lost is made anew, and begins with another host.
      await #expect(throws: StorageError.self) {
        try await database.write { try $0.run("SELECT pg_terminate_backend(pg_backend_pid())") }
      }
      #expect(try await admitted { try await ids(database) }.isEmpty, "\(hosts)")
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
    try await waitUntil("a commit") { database.commits == 1 }
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
    var settings = PostgresSettings.patient(try place.address)
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
    // There is no other host, so it is looked for until it is given up.
    settings.timeout = .milliseconds(300)
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
        try await admitted { try await isReading ? database.read(body) : database.write(body) }
      }
      #expect(error == .connection("another host was promoted in place of this one"))
      await database.close()
    }
  }
}

extension PostgresSettings {
  /// Without limits of time.
  fileprivate static func patient(_ address: String) -> PostgresSettings {
    var settings = PostgresSettings(address: address)
    (settings.timeout, settings.statementLimit, settings.lockLimit) = (TestRun.whole, TestRun.whole, TestRun.whole)
    (settings.idleLimit, settings.commitLimit) = (TestRun.whole, TestRun.whole)
    return settings
  }
}

/// Runs a transaction again that is refused because no connection took it in time, as on a slow machine. Nothing of it
/// has begun.
private func admitted<R>(_ transaction: () async throws -> R) async throws -> R {
  let result = try await waitFor(
    "a connection that takes the transaction in time",
    { () async throws -> R? in
      do { return try await transaction() } catch StorageError.overloaded { return nil }
    }
  ) { $0 != nil }
  return try #require(result)
}

/// Lets two threads go on when both are here, or when it is opened.
private final class Barrier: Sendable {
  private let first = DispatchSemaphore(value: 0)
  private let second = DispatchSemaphore(value: 0)
  private let count = Counter()

  func wait() {
    let isFirst = count.next() == 1
    (isFirst ? second : first).signal()
    (isFirst ? first : second).wait()
  }

  func open() {
    first.signal()
    second.signal()
  }
}
