import Synchronization

/// The hosts of a database, as one worker asks them.
///
/// libpq would always begin with the first host. After a failover that may be the old primary, stopped or revived, which
/// still takes connections.
struct PostgresHosts {
  private let settings: PostgresSettings
  private let timelines: PostgresTimelines
  /// The place of the host that is asked first.
  private var first = 0

  init(_ settings: PostgresSettings, timelines: PostgresTimelines) {
    self.settings = settings
    self.timelines = timelines
  }

  /// Connects to the first host that takes writes and is not known to be replaced.
  ///
  /// - Throws: ``PostgresError`` with the reason of every host when there is none.
  mutating func connect() throws -> PostgresConnection {
    // Read anew, because the password may have changed in its file.
    let addresses = try PostgresAddress(settings).ofEachHost
    var reasons: [String] = []
    for place in first..<first + addresses.count {
      do {
        let connection = try open(addresses[place % addresses.count])
        first = place % addresses.count
        return connection
      } catch let error as PostgresError { reasons.append(error.message) }
    }
    throw PostgresError(lost: reasons.joined(separator: "; "))
  }

  private func open(_ address: PostgresAddress) throws -> PostgresConnection {
    let connection = try PostgresConnection(address, settings)
    try check(connection)
    return connection
  }

  /// Also after a read: a host that was stopped, and taken for dead, answers from before the promotion once it goes on.
  ///
  /// - Throws: ``PostgresError`` when another host is known to have been promoted in place of the connection's.
  func check(_ connection: PostgresConnection) throws {
    guard admits(connection) else { throw PostgresError(lost: "another host was promoted in place of this one") }
  }

  /// Whether a connection may still be used: no host is known to have been promoted in place of its own.
  func admits(_ connection: PostgresConnection) -> Bool { timelines.admits(connection.timeline) }

  /// Begins with the next host: the one of now may be stopped, and would be waited for.
  mutating func skip() { first += 1 }
}

/// A promotion begins a new timeline. A primary of an older one that was taken for dead and goes on would answer reads with
/// what was true before the promotion.
package struct PostgresTimeline: Sendable {
  /// Names a cluster with its standbys. A new cluster, as after `pg_upgrade`, begins with timeline 1 again.
  let systemIdentifier: String
  let number: UInt32

  package init(systemIdentifier: String, number: UInt32) {
    (self.systemIdentifier, self.number) = (systemIdentifier, number)
  }
}

/// The newest timeline of each cluster that the connections of a process have seen.
package final class PostgresTimelines: Sendable {
  private let newest = Mutex<[String: UInt32]>([:])

  package init() {}

  /// Whether none newer was seen. A database that does not tell its timeline, as some services do not, is always
  /// admitted.
  package func admits(_ timeline: PostgresTimeline?) -> Bool {
    guard let timeline else { return true }
    return newest.withLock { newest in
      let known = max(newest[timeline.systemIdentifier] ?? 0, timeline.number)
      newest[timeline.systemIdentifier] = known
      return timeline.number == known
    }
  }
}
