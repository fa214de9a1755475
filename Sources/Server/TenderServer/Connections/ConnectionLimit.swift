import HummingbirdCore
import Settings
import Synchronization

/// Limits how many connections a listener has open, so that the process keeps file descriptors for its store, its own
/// requests and its log.
///
/// At the limit the next connection takes the place of one on which no complete request has arrived for the longest
/// time, approximately. If every connection waits for a response, the next one waits in the system's queue. So callers
/// that open connections and send nothing do not keep others out.
package final class ConnectionLimit: Sendable {
  package let maximum: Int
  /// Closing connections still hold descriptors, so their number is limited.
  private let maximumEvicted: Int
  /// Whether a caller waits in the system's queue: the next connection that becomes idle is closed for it.
  private let isWaiting = Atomic(false)
  private let state = Mutex(State())

  fileprivate struct State {
    /// Accepted and not yet closed.
    var accepted = 0
    /// Those that are set up, in the order in which they are looked at.
    var line = Line()
    /// Connections that are closing.
    var evicted = 0
  }

  package init(maximum: Int, closing maximumEvicted: Int = DescriptorBudget.closing) {
    (self.maximum, self.maximumEvicted) = (maximum, maximumEvicted)
  }

  /// A limit that needs no more descriptors than these.
  convenience init(files: Int) {
    let closing = min(DescriptorBudget.closing, files / 4)
    self.init(maximum: files - closing, closing: closing)
  }

  /// How many connections are open.
  package var open: Int { state.withLock { $0.accepted } }

  package func accept() { state.withLock { $0.accepted += 1 } }
  package func release() { state.withLock { $0.accepted -= 1 } }

  /// Whether a connection that becomes idle now shall close.
  package var wantsRoom: Bool { isWaiting.load(ordering: .sequentiallyConsistent) }

  /// Adds a connection that was accepted. If a caller waits in the system's queue, an idle connection is closed: there
  /// may have been none when the caller came.
  ///
  /// - Parameter evict: closes it, if it is idle still; otherwise it calls ``keep(_:)``.
  package func add(evict: @escaping @Sendable () -> Void) -> Connection {
    let (connection, victims) = state.withLock { state in
      let connection = Connection(evict: evict)
      state.line.append(connection)
      return (connection, wantsRoom ? state.makeRoom(below: maximum, closing: maximumEvicted).victims : [])
    }
    for victim in victims { victim.evict() }
    return connection
  }

  package func remove(_ connection: Connection) {
    state.withLock { state in
      if connection.isEvicted { state.evicted -= 1 }
      state.line.remove(connection)
    }
  }

  /// The connection has a complete request, after all.
  package func keep(_ connection: Connection) {
    state.withLock { state in
      guard connection.isEvicted else { return }
      connection.isEvicted = false
      state.evicted -= 1
    }
  }

  /// Whether another connection can be accepted. At the limit this closes idle ones.
  package func makeRoom() -> Bool {
    // Set before the connections are looked at, so that one that becomes idle meanwhile is not overlooked.
    isWaiting.store(true, ordering: .sequentiallyConsistent)
    let (victims, hasRoom) = state.withLock { state in
      let found = state.makeRoom(below: maximum, closing: maximumEvicted)
      if found.hasRoom { isWaiting.store(false, ordering: .sequentiallyConsistent) }
      return found
    }
    for victim in victims { victim.evict() }
    return hasRoom
  }

  /// Closes the connection that has been idle for the longest time, approximately.
  package func evictOne() { state.withLock { $0.victim() }?.evict() }

  /// One connection, as far as the limit needs to know it.
  package final class Connection: Sendable {
    fileprivate let evict: @Sendable () -> Void
    /// Whether a complete request waits for its response.
    private let isBusy = Atomic(false)
    private let wasUsed = Atomic(true)
    /// Guarded by the limit's lock.
    private let place = Mutex<(before: Connection?, after: Connection?, isEvicted: Bool)>((nil, nil, false))

    fileprivate init(evict: @escaping @Sendable () -> Void) { self.evict = evict }

    /// Notes a change; called on the connection's event loop.
    package func setBusy(_ busy: Bool) {
      isBusy.store(busy, ordering: .sequentiallyConsistent)
      if busy { wasUsed.store(true, ordering: .relaxed) }
    }

    fileprivate var before: Connection? {
      get { place.withLock { $0.before } }
      set { place.withLock { $0.before = newValue } }
    }

    fileprivate var after: Connection? {
      get { place.withLock { $0.after } }
      set { place.withLock { $0.after = newValue } }
    }

    fileprivate var isEvicted: Bool {
      get { place.withLock { $0.isEvicted } }
      set { place.withLock { $0.isEvicted = newValue } }
    }

    fileprivate var isCandidate: Bool { !isBusy.load(ordering: .sequentiallyConsistent) && !isEvicted }
    fileprivate func losesSecondChance() -> Bool { wasUsed.exchange(false, ordering: .relaxed) }
  }
}

extension ConnectionLimit.State {
  /// While a connection that was accepted is not set up, none is closed: the only ones to choose from could be those
  /// that came last, before their requests are read.
  mutating func makeRoom(
    below maximum: Int, closing maximumEvicted: Int
  ) -> (victims: [ConnectionLimit.Connection], hasRoom: Bool) {
    var victims: [ConnectionLimit.Connection] = []
    while accepted - evicted >= maximum, evicted < maximumEvicted, line.count >= accepted, let victim = victim() {
      victims.append(victim)
    }
    return (victims, accepted - evicted < maximum && evicted < maximumEvicted)
  }

  /// The first candidate in the line that was not used since it was looked at before (second chance).
  mutating func victim() -> ConnectionLimit.Connection? {
    for _ in 0..<2 * line.count {
      guard let connection = line.first else { return nil }
      line.remove(connection)
      line.append(connection)
      guard connection.isCandidate, !connection.losesSecondChance() else { continue }
      connection.isEvicted = true
      evicted += 1
      return connection
    }
    return nil
  }
}

/// Connections that know their neighbours.
private struct Line {
  private(set) var count = 0
  private(set) var first: ConnectionLimit.Connection?
  private var last: ConnectionLimit.Connection?

  mutating func append(_ connection: ConnectionLimit.Connection) {
    connection.before = last
    if let last { last.after = connection } else { first = connection }
    last = connection
    count += 1
  }

  mutating func remove(_ connection: ConnectionLimit.Connection) {
    let (before, after) = (connection.before, connection.after)
    if let before { before.after = after } else { first = after }
    if let after { after.before = before } else { last = before }
    (connection.before, connection.after) = (nil, nil)
    count -= 1
  }
}

/// How Hummingbird asks whether it may accept.
struct LimitedConnections: AvailableConnectionsDelegate {
  let limit: ConnectionLimit

  func connectionOpened() { limit.accept() }
  func connectionClosed() { limit.release() }
  func isAcceptingNewConnections() -> Bool { limit.makeRoom() }
}
