import Logging
package import NIOCore
import NIOPosix
package import NIOSSL
import ServiceLifecycle
import Synchronization

/// Listens for mail on this machine, as an SMTP server with STARTTLS does.
package struct MailboxListener: Service {
  private let host: String
  private let port: Int
  private let mailbox: Mailbox
  private let tls: NIOSSLContext
  private let onListening: @Sendable (any Channel) async -> Void

  private static let maximumConnections = 32
  private static let idleTime: TimeAmount = .seconds(60)

  package init(
    host: String, port: Int, mailbox: Mailbox, tls: NIOSSLContext,
    onListening: @escaping @Sendable (any Channel) async -> Void
  ) {
    (self.host, self.port, self.mailbox, self.tls) = (host, port, mailbox, tls)
    self.onListening = onListening
  }

  package func run() async throws {
    let channel = try await bootstrap().bind(host: host, port: port).get()
    await onListening(channel)
    try await cancelWhenGracefulShutdown {
      try await withTaskCancellationHandler {
        try await channel.closeFuture.get()
      } onCancel: {
        channel.close(promise: nil)
      }
    }
  }

  private func bootstrap() -> ServerBootstrap {
    let connections = OpenConnections()
    return ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { [mailbox, tls] channel in
        guard connections.enter(atMost: Self.maximumConnections) else { return channel.close() }
        channel.closeFuture.whenComplete { _ in connections.leave() }
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            IdleStateHandler(readTimeout: Self.idleTime), MailboxHandler(mailbox, tls),
          ])
        }
      }
  }
}

private final class OpenConnections: Sendable {
  private let count = Mutex(0)

  func enter(atMost maximum: Int) -> Bool {
    count.withLock { count in
      guard count < maximum else { return false }
      count += 1
      return true
    }
  }

  func leave() { count.withLock { $0 -= 1 } }
}
