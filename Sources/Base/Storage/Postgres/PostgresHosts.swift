import Synchronization

/// The hosts of a database, in the order in which one worker asks them.
///
/// libpq would always begin with the first host. After a failover that may be the old primary, stopped or revived, which
/// still takes connections.
struct PostgresHosts {
  private let addresses: [PostgresAddress]
  private let statementLimit: Duration
  private let timelines: PostgresTimelines
  /// The place of the host that is asked first.
  private(set) var first: Int

  init(_ settings: PostgresSettings, timelines: PostgresTimelines, first: Int) throws {
    addresses = try PostgresAddress(settings).ofEachHost
    statementLimit = settings.statementLimit
    self.timelines = timelines
    self.first = first % addresses.count
  }

  /// Connects to the first host that takes writes and is not known to be replaced.
  ///
  /// - Throws: ``PostgresError`` when there is none.
  mutating func connect() throws -> PostgresConnection {
    var failure: any Error = PostgresError(lost: "the database's address names no host")
    for place in addresses.indices {
      let host = (first + place) % addresses.count
      do {
        let connection = try open(addresses[host])
        first = host
        return connection
      } catch { failure = error }
    }
    throw failure
  }

  private func open(_ address: PostgresAddress) throws -> PostgresConnection {
    let connection = try PostgresConnection(address, statementLimit: statementLimit)
    guard timelines.admit(connection) else { throw PostgresError(lost: "this host was replaced as the primary") }
    return connection
  }
}

/// The newest timeline that the connections of a process have seen.
///
/// A promotion begins a new timeline. A primary of an older one that was taken for dead and goes on would answer reads with
/// what was true before the promotion.
final class PostgresTimelines: Sendable {
  private let newest = Mutex<UInt32>(0)

  /// Whether a connection may be used: no other one has seen a newer timeline. A database that does not tell its timeline,
  /// as some services do not, is always admitted.
  func admit(_ connection: PostgresConnection) -> Bool {
    guard let timeline = connection.timeline else { return true }
    return newest.withLock { newest in
      newest = max(newest, timeline)
      return timeline == newest
    }
  }
}
