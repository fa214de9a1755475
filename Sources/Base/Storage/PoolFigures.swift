import Synchronization

/// What the connections of this process have done since the store was opened.
package struct PoolFigures: Sendable, Hashable {
  /// How many there can be.
  package let connections: Int
  /// How many run a transaction now.
  package internal(set) var inUse = 0
  /// Transactions that had to wait for a connection.
  package internal(set) var waits = 0
  /// How long they waited, all together.
  package internal(set) var waited: Duration = .zero
  /// How often a transaction waited for the database's answer. One answer may be that to several statements.
  package internal(set) var trips = 0
  /// Transactions that were run again, by reason.
  package internal(set) var retries: [RetryReason: Int] = [:]
  /// Commits of which the database did not say whether they happened.
  package internal(set) var unknownOutcomes = 0
}

/// Why a transaction is run again.
package enum RetryReason: String, Sendable, Hashable, CaseIterable {
  case serialization, deadlock
  /// The connection was lost before the commit.
  case connection
  /// Another node has changed a table since the statement was prepared.
  case changedTable = "changed_table"
}

/// Counts for ``PoolFigures``.
final class PoolCounter: Sendable {
  private let state: Mutex<PoolFigures>

  init(connections: Int) { state = Mutex(PoolFigures(connections: connections)) }

  var figures: PoolFigures { state.withLock { $0 } }

  /// Whether a connection is free for one more, beside so many that wait.
  func hasFree(beside waiting: Int) -> Bool { state.withLock { $0.inUse + waiting < $0.connections } }

  func begins() { state.withLock { $0.inUse += 1 } }
  func ends() { state.withLock { $0.inUse -= 1 } }

  func addWait(_ time: Duration) {
    state.withLock { figures in
      figures.waits += 1
      figures.waited += time
    }
  }

  func add(trips count: Int) { state.withLock { $0.trips += count } }
  func retries(_ reason: RetryReason) { state.withLock { $0.retries[reason, default: 0] += 1 } }
  func isInDoubt() { state.withLock { $0.unknownOutcomes += 1 } }
}
