import NIOCore
import NIOSSL
import Synchronization

/// Limits the connections to others that some clients have open together, so that they leave file descriptors to the rest
/// of the process.
///
/// A call counts while it runs, because it may open a connection; a connection counts until its descriptor is closed, also
/// when its call has ended. So at least half as many calls as ``maximum`` may be under way.
package final class OutboundConnections: Sendable {
  static let refusal = TransportError.notSent("too many connections are open; raise the limit of open files")

  package let maximum: Int
  private let count = Mutex(0)

  package init(maximum: Int) { self.maximum = maximum }

  /// Runs a call.
  ///
  /// - Throws: ``refusal`` at the limit.
  func call<R: Sendable>(_ body: () async throws(TransportError) -> R) async throws(TransportError) -> R {
    let hasRoom = count.withLock { count in
      guard count < maximum else { return false }
      count += 1
      return true
    }
    guard hasRoom else { throw Self.refusal }
    defer { end() }
    return try await body()
  }

  /// Counts a connection until it is closed.
  func add(_ channel: any Channel) {
    count.withLock { $0 += 1 }
    channel.closeFuture.whenComplete { [self] _ in end() }
  }

  private func end() { count.withLock { $0 -= 1 } }
}

/// Closes a TLS connection behind its `close_notify`, without a wait for the other side's, as RFC 8446, section 6.1, allows:
/// a server that sends none would keep the descriptor for seconds.
final class PromptClose: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  /// Adds it to a connection; one without TLS needs none.
  static func add(to channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    guard let tls = try? pipeline.handler(type: NIOSSLClientHandler.self) else { return }
    try pipeline.addHandler(PromptClose(), position: .after(tls))
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    context.close(mode: mode, promise: promise)
    guard mode == .all else { return }
    try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self).close(promise: nil)
  }
}
