import BackOffice
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle

/// The sockets that the server listens on, each with its limits and its router.
struct Listeners: Sendable {
  let parts: Composition
  let routes: LiveRoutes
  /// Called with the public port once both sockets accept connections: who waits for the server may then use either.
  let onRunning: @Sendable (_ port: Int) async -> Void
  private let administrationOpened = AsyncStream<Void>.makeStream()

  init(parts: Composition, routes: LiveRoutes, onRunning: @escaping @Sendable (_ port: Int) async -> Void) {
    (self.parts, self.routes, self.onRunning) = (parts, routes, onRunning)
  }

  /// `host:port`: every API but the administration.
  func publicListener() throws -> any Service {
    let (configuration, logger) = (parts.configuration, parts.runtime.logger)
    return Application(
      responder: routes.publicCalls, server: try publicServer(),
      configuration: .init(
        address: .hostname(configuration.host, port: configuration.port), serverName: nil,
        availableConnectionsDelegate: LimitedConnections(limit: parts.connections)),
      onServerRunning: { [onRunning, administrationOpened, limit = parts.connections] channel in
        do { try await AcceptPause.add(to: channel, limit, logger: logger) } catch {
          logger.error("the listener has no pause", metadata: ["error": .string("\(error)")])
        }
        for await _ in administrationOpened.stream { break }
        let port = channel.localAddress?.port ?? configuration.port
        RunningServers().note(port, socket: configuration.adminSocketPath)
        channel.closeFuture.whenComplete { _ in
          RunningServers().forget(port, socket: configuration.adminSocketPath)
        }
        await onRunning(port)
      },
      logger: logger)
  }

  /// HTTP/1.1, over TLS where the configuration names a certificate.
  private func publicServer() throws -> HTTPServerBuilder {
    let plain = HTTPServerBuilder.http1(
      configuration: .init(
        additionalChannelHandlers: publicHandlers(), httpDecoderConfiguration: RequestHeadRules.decoderLimits))
    guard let files = parts.configuration.tls else { return plain }
    return try .tls(plain, tlsConfiguration: .modern(files))
  }

  private func publicHandlers() -> [any RemovableChannelHandler] {
    let (middlewares, logger) = (routes.middlewares, parts.runtime.logger)
    let late = parts.metrics.lateConnections
    return [
      ConnectionHandler(parts.connections, parts.configuration.connectionTimes) { late.count(["with": $0.rawValue]) },
      RequestHeadHandler(
        RequestHeadRefusal(
          recorder: middlewares.recorder, securityHeaders: middlewares.securityHeaders, logger: logger)),
      PaymentAdmissionHandler(PaymentRefusal(admission: parts.admission, middlewares: middlewares, logger: logger)),
    ]
  }

  /// The administration, on a socket that only the server's own user can open.
  func administration() throws -> any Service {
    let socket = PrivateSocket(parts.configuration.adminSocketPath)
    try socket.prepare()
    let logger = parts.runtime.logger
    return Application(
      responder: routes.administration,
      configuration: .init(address: .unixDomainSocket(path: socket.boundPath), serverName: nil),
      onServerRunning: { [administrationOpened] _ in
        do { try socket.open() } catch {
          logger.error("the administration socket cannot be opened", metadata: ["error": .string("\(error)")])
        }
        administrationOpened.continuation.finish()
      }, logger: logger)
  }

  /// The operators' pages, where the configuration names a port for them.
  func office() -> [any Service] {
    guard let port = parts.configuration.office.port, let office = routes.office else { return [] }
    let limit = ConnectionLimit(maximum: 256)
    let application = Application(
      router: office.router(),
      server: .http1(
        configuration: .init(
          additionalChannelHandlers: [ConnectionHandler(limit, parts.configuration.connectionTimes)])),
      configuration: .init(
        address: .hostname(parts.configuration.office.host, port: port), serverName: nil,
        availableConnectionsDelegate: LimitedConnections(limit: limit)),
      logger: parts.runtime.logger)
    return [application]
  }

  /// `GET /metrics` alone, where the configuration names a port for it.
  func metrics() -> [any Service] {
    guard let port = parts.configuration.metricsPort else { return [] }
    let limit = ConnectionLimit(maximum: 16)
    let application = Application(
      responder: routes.metrics,
      server: .http1(
        configuration: .init(
          additionalChannelHandlers: [ConnectionHandler(limit, parts.configuration.connectionTimes)])),
      configuration: .init(
        address: .hostname(parts.configuration.metricsHost, port: port), serverName: nil,
        availableConnectionsDelegate: LimitedConnections(limit: limit)),
      logger: parts.runtime.logger)
    return [application]
  }
}
