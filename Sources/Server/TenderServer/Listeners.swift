import Administration
import BackOffice
import HTTPServing
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import Settings
import Storage

/// The sockets that the server listens on, each with its limits and its router.
struct Listeners: Sendable {
  let parts: Composition
  let routes: Routes
  /// Called with the public port once both sockets accept connections: who waits for the server may then use either.
  let onRunning: @Sendable (_ port: Int) async -> Void
  private let administrationOpened = AsyncStream<Void>.makeStream()

  init(parts: Composition, routes: Routes, onRunning: @escaping @Sendable (_ port: Int) async -> Void) {
    (self.parts, self.routes, self.onRunning) = (parts, routes, onRunning)
  }

  /// `host:port`: every API but the administration.
  func publicListener() throws -> any Service {
    let (configuration, logger) = (parts.configuration, parts.runtime.logger)
    return Application(
      router: routes.publicRouter(), server: try publicServer(),
      configuration: .init(
        address: .hostname(configuration.host, port: configuration.port), serverName: nil,
        availableConnectionsDelegate: LimitedConnections(limit: parts.connections)),
      onServerRunning: { [onRunning, administrationOpened, limit = parts.connections] channel in
        await guardAccepting(channel, limit)
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
    let late = parts.metrics.lateConnections
    let plain = strictServer(parts.connections, onLate: { late.count(["with": $0.rawValue]) }) { [parts, routes] in
      let refusal = PaymentRefusal(
        admission: parts.admission, middlewares: routes.middlewares, logger: parts.runtime.logger)
      return [PaymentAdmissionHandler(refusal)]
    }
    guard let files = parts.configuration.tls else { return plain }
    var tls = try TLSConfiguration.modern(files)
    // A renewed certificate is the next connection's, once it is read.
    tls.sslContextCallback = { [secrets = parts.secrets] _, promise in promise.succeed(secrets.tls) }
    return try .tls(plain, tlsConfiguration: tls)
  }

  /// After a failed flush of the store a listener takes no new connection.
  private func guardAccepting(_ channel: any Channel, _ limit: ConnectionLimit) async {
    await AcceptPause.add(to: channel, limit, logger: parts.runtime.logger) { [database = parts.database] in
      database.failure != nil
    }
  }

  /// With the limits of a listener that the network reaches, and with the refusals of all.
  private func strictServer(
    _ limit: ConnectionLimit, onLate: @escaping @Sendable (ConnectionHandler.Lateness) -> Void = { _ in },
    inner: @escaping @Sendable () -> [any RemovableChannelHandler] = { [] }
  ) -> HTTPServerBuilder {
    .strict(
      refusal: refusal.answer,
      outer: { [times = parts.configuration.connectionTimes] in [ConnectionHandler(limit, times, onLate: onLate)] },
      inner: inner)
  }

  private var refusal: RequestHeadRefusal {
    RequestHeadRefusal(
      recorder: routes.middlewares.recorder, securityHeaders: routes.middlewares.securityHeaders,
      logger: parts.runtime.logger)
  }

  /// The administration, on a socket that only the server's own user can open. What the command line asks for may take long.
  func administration() throws -> any Service {
    let socket = PrivateSocket(parts.configuration.adminSocketPath)
    try socket.prepare()
    let logger = parts.runtime.logger
    let limit = ConnectionLimit(files: parts.budget.administration)
    return SeparateListener { [routes, administrationOpened, server = strictServer(limit)] connections in
      Application(
        router: routes.administrationRouter(), server: server,
        configuration: .init(
          address: .unixDomainSocket(path: socket.boundPath), serverName: nil,
          availableConnectionsDelegate: LimitedConnections(limit: limit)),
        onServerRunning: { channel in
          await guardAccepting(channel, limit)
          do { try socket.open() } catch {
            logger.error("the administration socket cannot be opened", metadata: ["error": .string("\(error)")])
          }
          administrationOpened.continuation.finish()
        }, eventLoopGroupProvider: .shared(connections), logger: logger)
    }
  }

  /// The operators' pages, where the configuration names a port for them.
  func office() -> [any Service] {
    guard let port = parts.configuration.office.port else { return [] }
    let limit = ConnectionLimit(files: parts.budget.office)
    let listener = SeparateListener { [parts, office = routes.office, server = strictServer(limit)] connections in
      Application(
        router: office.router(), server: server,
        configuration: .init(
          address: .hostname(parts.configuration.office.host, port: port), serverName: nil,
          availableConnectionsDelegate: LimitedConnections(limit: limit)),
        onServerRunning: { await guardAccepting($0, limit) },
        eventLoopGroupProvider: .shared(connections), logger: parts.runtime.logger)
    }
    return [listener]
  }

  /// `GET /metrics` alone, where the configuration names a port for it.
  func metrics() -> [any Service] {
    guard let port = parts.configuration.metricsPort else { return [] }
    let limit = ConnectionLimit(files: parts.budget.metrics)
    let application = Application(
      router: routes.metricsRouter(), server: strictServer(limit),
      configuration: .init(
        address: .hostname(parts.configuration.metricsHost, port: port), serverName: nil,
        availableConnectionsDelegate: LimitedConnections(limit: limit)),
      onServerRunning: { await guardAccepting($0, limit) },
      logger: parts.runtime.logger)
    return [application]
  }
}
