import Administration
import BackOffice
import HTTPServing
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
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
      configuration: try address(.http, configuration.host, configuration.port, parts.connections),
      onServerRunning: { [onRunning, administrationOpened, limit = parts.connections] opened in
        let channel = await accept(.http, opened, on: MultiThreadedEventLoopGroup.singleton, limit)
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

  /// Where Hummingbird listens: at the listener's address, or where nobody comes when ``accept(_:_:on:_:)`` accepts from
  /// a socket that the process was started with.
  private func address(
    _ name: InheritedSockets.Name, _ host: String, _ port: Int, _ limit: ConnectionLimit
  ) throws -> ApplicationConfiguration {
    guard parts.runtime.sockets[name] != nil else {
      return .init(
        address: .hostname(host, port: port), serverName: nil,
        availableConnectionsDelegate: LimitedConnections(limit: limit))
    }
    try unreachable(name).prepare()
    return .init(address: .unixDomainSocket(path: unreachable(name).boundPath), serverName: nil)
  }

  private func unreachable(_ name: InheritedSockets.Name) -> PrivateSocket {
    PrivateSocket("\(parts.configuration.adminSocketPath)-\(name)")
  }

  /// Called when Hummingbird listens.
  ///
  /// - Returns: the channel that accepts, which is another one than Hummingbird's for a socket that the process was started
  ///   with.
  private func accept(
    _ name: InheritedSockets.Name, _ opened: any Channel, on connections: any EventLoopGroup, _ limit: ConnectionLimit
  ) async -> any Channel {
    var channel = opened
    if let descriptor = parts.runtime.sockets[name] {
      unreachable(name).discard()
      do { channel = try await InheritedListener.open(descriptor, for: opened, on: connections, limit) } catch {
        parts.runtime.logger.critical("a socket cannot be used", metadata: ["name": "\(name)", "error": "\(error)"])
        opened.close(promise: nil)
      }
    }
    await guardAccepting(channel, limit)
    parts.draining.add(channel, isInherited: channel !== opened)
    return channel
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
      outer: { [times = parts.configuration.connectionTimes, draining = parts.draining] in
        [ConnectionHandler(limit, times, draining: draining, onLate: onLate)]
      },
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
          parts.draining.add(channel, isInherited: false)
          do { try socket.open() } catch {
            logger.error("the administration socket cannot be opened", metadata: ["error": .string("\(error)")])
          }
          administrationOpened.continuation.finish()
        }, eventLoopGroupProvider: .shared(connections), logger: logger)
    }
  }

  /// The operators' pages, where the configuration names a port for them.
  func office() throws -> [any Service] {
    guard let port = parts.configuration.office.port else { return [] }
    let limit = ConnectionLimit(files: parts.budget.office)
    let address = try address(.office, parts.configuration.office.host, port, limit)
    let listener = SeparateListener { [parts, office = routes.office, server = strictServer(limit)] connections in
      Application(
        router: office.router(), server: server, configuration: address,
        onServerRunning: { _ = await accept(.office, $0, on: connections, limit) },
        eventLoopGroupProvider: .shared(connections), logger: parts.runtime.logger)
    }
    return [listener]
  }

  /// `GET /metrics` alone, where the configuration names a port for it.
  func metrics() throws -> [any Service] {
    guard let port = parts.configuration.metricsPort else { return [] }
    let limit = ConnectionLimit(files: parts.budget.metrics)
    let application = Application(
      router: routes.metricsRouter(), server: strictServer(limit),
      configuration: try address(.metrics, parts.configuration.metricsHost, port, limit),
      onServerRunning: { _ = await accept(.metrics, $0, on: MultiThreadedEventLoopGroup.singleton, limit) },
      logger: parts.runtime.logger)
    return [application]
  }
}
