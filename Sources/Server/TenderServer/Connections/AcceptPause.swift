import Foundation
package import Logging
package import NIOCore

/// Pauses the listener when the system gives out no more file descriptors or memory for a connection. Without it the
/// event loop would try again at once, and for ever. Closes every new connection while the listener must take none.
///
/// It must be the first handler of the listening channel.
package final class AcceptPause: ChannelInboundHandler {
  package typealias InboundIn = Channel

  /// How long the listener waits before it accepts again.
  private static let pause: TimeAmount = .milliseconds(250)
  /// How long it logs no second line.
  private static let silence: TimeAmount = .seconds(60)

  private let limit: ConnectionLimit
  private let logger: Logger
  private let takesNone: @Sendable () -> Bool
  private var silentUntil: NIODeadline?

  package init(_ limit: ConnectionLimit, logger: Logger, takesNone: @escaping @Sendable () -> Bool = { false }) {
    (self.limit, self.logger, self.takesNone) = (limit, logger, takesNone)
  }

  /// Adds it to a channel that listens.
  package static func add(
    to channel: any Channel, _ limit: ConnectionLimit, logger: Logger, takesNone: @escaping @Sendable () -> Bool
  ) async {
    let added = channel.eventLoop.submit {
      try channel.pipeline.syncOperations.addHandler(
        AcceptPause(limit, logger: logger, takesNone: takesNone), position: .first)
    }
    do { try await added.get() } catch {
      logger.error("the listener has no pause", metadata: ["error": .string("\(error)")])
    }
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard takesNone() else { return context.fireChannelRead(data) }
    unwrapInboundIn(data).close(promise: nil)
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? IOError, Self.passes(error) else { return context.fireErrorCaught(error) }
    log(error, at: context.eventLoop.now)
    limit.evictOne()
    let channel = context.channel
    try? channel.syncOptions?.setOption(.autoRead, value: false)
    channel.eventLoop.scheduleTask(in: Self.pause) { try channel.syncOptions?.setOption(.autoRead, value: true) }
  }

  /// Whether the error goes away by itself.
  private static func passes(_ error: IOError) -> Bool {
    [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode)
  }

  private func log(_ error: IOError, at now: NIODeadline) {
    guard silentUntil.map({ $0 < now }) ?? true else { return }
    silentUntil = now + Self.silence
    logger.warning(
      "accepts no connections for a moment; raise the limit of open files (ulimit -n, LimitNOFILE)",
      metadata: ["error": .string("\(error)")])
  }
}
