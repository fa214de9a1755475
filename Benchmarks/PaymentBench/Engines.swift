import Foundation
import LoadGenerator
import NIOCore
import Storage
import TenderPayments

/// The most that servers take on each engine, in turns: one server on SQLite, one on PostgreSQL, two on the same
/// PostgreSQL. Server, database, acquirer and schedule share one machine.
struct Engines: Sendable {
  private static let turns = 9

  let environment: BenchEnvironment
  let binary: String
  let database: BenchDatabase
  /// Of one measured run.
  let length: Duration

  private struct Turn {
    var rate = 0.0
    /// Seconds a payment.
    var servers = 0.0
    var backends = 0.0
    /// Bytes of the write-ahead log a payment.
    var log = 0.0
    var latencies = Latencies([])
  }

  func run() async throws {
    let file = try await ServedStore.open(environment, "file", binary: binary)
    let first = try await ServedStore.open(
      environment, "node1", binary: binary, ServerOptions(database: database.address))
    let second = try await first.another(
      environment, "node2", binary: binary, ServerOptions(database: database.address))
    let groups = [("sqlite", [file]), ("postgres", [first]), ("postgres.two", [first, second])]
    var turns: [String: [Turn]] = [:]
    for (name, stores) in groups { turns[name] = [try await turn(stores, .seconds(3), expecting: 700)] }
    for _ in 0..<Self.turns {
      for (name, stores) in groups {
        let expected = turns[name]?.last?.rate ?? 0
        turns[name]?.append(try await turn(stores, length, expecting: expected))
      }
    }
    // The first turn warms up.
    turns = turns.mapValues { Array($0.dropFirst()) }
    printResults(turns)
    for store in [file, first, second] { try await store.close() }
  }

  /// One run with as many payments under way, whatever the number of servers.
  ///
  /// - Parameter rate: of the turn before. Half as much again is prepared: what is not paid leaves its work to the turn.
  private func turn(_ stores: [ServedStore], _ length: Duration, expecting rate: Double) async throws -> Turn {
    let supply = try await PaymentSupply(environment, stores[0])
    let width = Suite.width / stores.count
    var requests: [[ByteBuffer]] = []
    for store in stores {
      requests.append(try await supply.payments(Int(length.seconds * rate * 1.5) / stores.count))
      try await store.generator.warm(width)
    }
    let before = try await reading(stores)
    let runs = try await closedLoops(stores, requests, width, length)
    let after = try await reading(stores)
    for run in runs { try Suite.check(run) }
    let count = Double(runs.reduce(0) { $0 + $1.answers.count })
    return Turn(
      rate: runs.reduce(0) { $0 + $1.rate { $0 == 200 } }, servers: (after.servers - before.servers) / count,
      backends: (after.backends - before.backends) / count, log: (after.log - before.log) / count,
      latencies: runs[0].latencies { $0 == 200 })
  }

  private func closedLoops(
    _ stores: [ServedStore], _ requests: [[ByteBuffer]], _ width: Int, _ length: Duration
  ) async throws -> [LoadReport] {
    try await withThrowingTaskGroup(of: LoadReport.self) { group in
      for (store, requests) in zip(stores, requests) {
        group.addTask { try await store.generator.closedLoop(requests, width: width, for: length) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private struct Reading {
    let servers, backends, log: Double
  }

  private func reading(_ stores: [ServedStore]) async throws -> Reading {
    Reading(
      servers: try stores.reduce(0) { $0 + (try $1.processorTime()) }, backends: try database.processorTime(),
      log: try await database.writtenLog())
  }

  /// Of each the middle turn by its rate.
  private func printResults(_ turns: [String: [Turn]]) {
    let middle = turns.mapValues { $0.sorted { $0.rate < $1.rate }[$0.count / 2] }
    for (name, turn) in middle.sorted(by: { $0.key < $1.key }) {
      report("\(name).rate", turn.rate, "payments/s")
      report("\(name).processor.servers", turn.servers * 1e6, "us")
      if name != "sqlite" {
        report("\(name).processor.backends", turn.backends * 1e6, "us")
        report("\(name).log", turn.log, "bytes a-payment")
      }
      Suite.printResults(name, turn.latencies)
    }
    report("postgres.ratio", ratio("postgres", to: "sqlite", turns), "of-sqlite", bar: .atLeast(0.5))
    report("postgres.two.ratio", ratio("postgres.two", to: "postgres", turns), "of-one-node", bar: .atLeast(0.9))
  }

  /// The middle of what one turn is of its neighbour's rate: the machine's speed changes from minute to minute.
  private func ratio(_ name: String, to other: String, _ turns: [String: [Turn]]) -> Double {
    let ratios = zip(turns[name] ?? [], turns[other] ?? []).map { $0.rate / $1.rate }.sorted()
    return ratios[ratios.count / 2]
  }
}

/// The PostgreSQL that `scripts/with-postgres` started.
struct BenchDatabase: Sendable {
  let address: String
  private let database: Database

  /// - Throws: ``BenchFailure`` without `POSTGRES_UNDER_TEST`.
  init() async throws {
    guard let address = ProcessInfo.processInfo.environment["POSTGRES_UNDER_TEST"] else {
      throw BenchFailure("run it with scripts/with-postgres")
    }
    self.address = address
    var settings = PostgresSettings(address: address)
    settings.connections = 1
    database = try await Database.postgres(settings, migrations: [])
  }

  /// Bytes of the write-ahead log since the cluster was made.
  func writtenLog() async throws -> Double {
    let position = "SELECT CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS BIGINT) AS n"
    return Double(try await database.read { try $0.row(position)?.integer("n") ?? 0 })
  }

  /// What all transactions have done, those of the server's own look for work included.
  func counts() async throws -> [String: Double] {
    let sql = """
      SELECT xact_commit AS transactions, tup_inserted + tup_updated + tup_deleted AS rows_written,
        CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS BIGINT) AS log
      FROM pg_stat_database WHERE datname = current_database()
      """
    guard let row = try await database.read({ try $0.row(sql) }) else { return [:] }
    return try ["transactions", "rows_written", "log"].reduce(into: [:]) { counts, name in
      counts[name] = Double(try row.integer(name))
    }
  }

  /// Seconds of all of its processes that run now.
  func processorTime() throws -> Double {
    let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
    return processes.filter(isBackend).reduce(0) { $0 + ((try? ProcessorTime.of($1)) ?? 0) }
  }

  private func isBackend(_ process: pid_t) -> Bool {
    (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8))?.hasPrefix("postgres: ") ?? false
  }
}
