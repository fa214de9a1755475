import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import TenderPayments

/// How the server ends without refusing a call: load balancers learn of it first, then the listeners stop accepting, and
/// calls under way are answered.
package final class Draining: Sendable {
  private let begun = Atomic(false)
  private let listeners = Mutex<[(channel: any Channel, isInherited: Bool)]>([])

  package init() {}

  /// Whether the server is about to end. From then on a response is the last one of its connection.
  package var isUnderWay: Bool { begun.load(ordering: .acquiring) }

  package func begin() { begun.store(true, ordering: .releasing) }

  /// Notes a channel that accepts connections.
  func add(_ listener: any Channel, isInherited: Bool) {
    listeners.withLock { $0.append((listener, isInherited)) }
  }

  /// Returns when no connection is accepted any more, and every accepted one has its handlers: a listener that closes
  /// earlier drops it, and swift-nio ends the process for a connection that was set up and is dropped.
  func stopAccepting() async {
    for (channel, isInherited) in listeners.withLock(\.self) {
      if isInherited {
        try? await channel.close()
      } else {
        try? await channel.setOption(.autoRead, value: false).get()
      }
    }
    // A connection is set up on its own event loop and then added on the listener's.
    for group in [MultiThreadedEventLoopGroup.singleton, SeparateListener.loops] {
      for _ in 0..<2 {
        for loop in group.makeIterator() { try? await loop.submit {}.get() }
      }
    }
  }
}

/// Drains the server when it is told to end. The last of the server's services: it is shut down first.
struct DrainService: Service {
  let draining: Draining
  /// For how long the listeners accept connections after `/readyz` is answered 503.
  let pause: Duration
  let scheduler: Scheduler
  let logger: Logger

  /// How long calls under way may take to end.
  static let limit: Duration = .seconds(45)

  func run() async throws {
    try await gracefulShutdown()
    draining.begin()
    logger.notice("the server ends", metadata: ["accepts for": "\(pause)"])
    if pause > .zero { try await scheduler.sleep(pause) }
    await draining.stopAccepting()
  }
}
