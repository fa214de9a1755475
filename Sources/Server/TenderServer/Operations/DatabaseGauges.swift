import Storage
import Telemetry

extension Gauge {
  /// The connections to PostgreSQL and what its server says of itself; none where the store is a file.
  static func all(of database: Database) async throws -> [Gauge] {
    guard let pool = database.pool, let facts = try await database.serverFacts() else { return [] }
    return connections(pool) + troubles(pool) + server(facts)
  }

  private static func connections(_ pool: PoolFigures) -> [Gauge] {
    [
      Gauge(
        name: "tender_store_connections", help: "Connections to the database that this node may have.", labels: [:],
        value: Int64(pool.connections)),
      Gauge(
        name: "tender_store_connections_in_use", help: "Connections that run a transaction now.", labels: [:],
        value: Int64(pool.inUse)),
      Gauge(
        name: "tender_store_waits_total", help: "Transactions that had to wait for a connection.", labels: [:],
        value: Int64(pool.waits), kind: .counter),
      Gauge(
        name: "tender_store_wait_seconds_total", help: "How long they waited, all together.", time: pool.waited,
        kind: .counter),
      Gauge(
        name: "tender_store_trips_total", help: "How often a transaction waited for the database's answer.",
        labels: [:], value: Int64(pool.trips), kind: .counter),
    ]
  }

  private static func troubles(_ pool: PoolFigures) -> [Gauge] {
    RetryReason.allCases.map { reason in
      Gauge(
        name: "tender_store_retries_total", help: "Transactions that were run again, by reason.",
        labels: ["reason": reason.rawValue], value: Int64(pool.retries[reason] ?? 0), kind: .counter)
    } + [
      Gauge(
        name: "tender_store_commits_in_doubt_total",
        help: "Commits of which the database did not say whether they happened.", labels: [:],
        value: Int64(pool.unknownOutcomes), kind: .counter)
    ]
  }

  private static func server(_ facts: DatabaseFacts) -> [Gauge] {
    let lag = facts.lagMilliseconds.map {
      Gauge(
        name: "tender_database_replication_lag_seconds", help: "How far the last standby is behind.",
        time: .milliseconds($0))
    }
    let bytes = facts.lagBytes.map {
      Gauge(
        name: "tender_database_replication_lag_bytes", help: "The log that the last standby has not replayed.",
        labels: [:], value: $0)
    }
    return [
      Gauge(
        name: "tender_database_standbys", help: "Standbys that are connected to the primary.", labels: [:],
        value: facts.standbys),
      Gauge(
        name: "tender_database_oldest_transaction_seconds", help: "Age of the oldest open transaction.",
        time: .milliseconds(facts.oldestTransactionMilliseconds)),
    ] + [lag, bytes].compactMap(\.self)
  }
}
