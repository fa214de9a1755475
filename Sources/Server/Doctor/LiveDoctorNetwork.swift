import HTTPTransport
import NIOCore
import NIOSSL
import NIOTLS
package import Settings
import Synchronization
package import Webhooks

extension DoctorNetwork {
  /// The real network.
  package static func live(_ network: Network, _ destinations: DestinationGuard) -> DoctorNetwork {
    DoctorNetwork(
      resolve: { host in
        let found = (try? await DestinationGuard.system(host)) ?? []
        return found.map { ResolvedAddress($0.text, isPublic: $0.address.isPublic) }
      },
      handshake: network.handshake ?? { host, port in
        let name = host.contains(":") ? "[\(host)]" : host
        let destination = try await destinations.destination("https://\(name):\(port)/")
        // Connected to the address that was checked, as ``DeliveryNetwork`` does.
        let isProxied = network.egress.proxy(to: host, port: port, at: destination.address) != nil
        guard destination.address != nil || isProxied else { throw DestinationRefusal.unresolvable(host) }
        let address = isProxied && destination.isNamedToProxy ? nil : destination.address
        return try await TLSProbe(host: host, address: address, port: port, egress: network.egress).run()
      },
      proxy: { proxy, host, port in
        do throws(ProxyRefusal) {
          let channel = try await proxy.connect(to: host, port: port)
          try? await channel.close()
          return nil
        } catch { return error }
      },
      plain: network.plain, apple: network.apple, guarded: network.sender(guardedBy: destinations),
      signIn: network.signIn,
      identified: network.identified)
  }
}

/// One handshake that accepts whatever it is shown, and one that demands what browsers demand.
private struct TLSProbe: Sendable {
  let host: String
  /// Where it is connected to; nil where a proxy resolves the name.
  let address: String?
  let port: Int
  let egress: Egress
  /// Nil for an address: the extension names hosts alone.
  private var serverName: String? { NetworkAddress(host) == nil ? host : nil }

  func run() async throws -> TLSHandshake {
    let chain = SeenChain()
    let version = try await handshake(.noHostnameVerification) { context in
      try NIOSSLClientHandler(context: context, serverHostname: serverName) { certificates, accept in
        chain.put(certificates.compactMap { try? $0.toDERBytes() })
        accept.succeed(.certificateVerified)
      }
    }
    let seen = chain.certificates
    do {
      _ = try await handshake(.fullVerification) { try NIOSSLClientHandler(context: $0, serverHostname: serverName) }
      return TLSHandshake(version: version, chain: seen, trustProblem: nil)
    } catch {
      return TLSHandshake(version: version, chain: seen, trustProblem: CertificateTrust.words("\(error)") ?? "\(error)")
    }
  }

  /// - Returns: the version.
  private func handshake(
    _ verification: CertificateVerification,
    _ handler: @escaping @Sendable (NIOSSLContext) throws -> NIOSSLClientHandler
  ) async throws -> String {
    var tls = TLSConfiguration.makeClientConfiguration()
    // Older ones are offered too, so that a server that speaks nothing else is named.
    tls.minimumTLSVersion = .tlsv1
    tls.certificateVerification = verification
    let context = try NIOSSLContext(configuration: tls)
    let channel = try await egress.connect(to: host, port: port, at: address)
    let done = channel.eventLoop.makePromise(of: String.self)
    let late = channel.eventLoop.scheduleTask(in: .seconds(10)) { done.fail(ChannelError.connectTimeout(.seconds(10))) }
    defer {
      late.cancel()
      // Ignored where it is complete.
      done.fail(ChannelError.eof)
      channel.close(promise: nil)
    }
    try await channel.eventLoop.submit {
      try channel.pipeline.syncOperations.addHandlers([try handler(context), HandshakeReader(done)])
    }.get()
    return try await done.futureResult.get()
  }
}

/// The certificates that a server sent.
private final class SeenChain: Sendable {
  private let sent = Mutex<[[UInt8]]>([])

  func put(_ certificates: [[UInt8]]) { sent.withLock { $0 = certificates } }
  var certificates: [[UInt8]] { sent.withLock(\.self) }
}

/// Reports the version when the handshake is complete, or why it failed.
private final class HandshakeReader: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let done: EventLoopPromise<String>

  init(_ done: EventLoopPromise<String>) { self.done = done }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .handshakeCompleted? = event as? TLSUserEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
    done.succeed(Self.name(handler?.tlsVersion))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    done.fail(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) { done.fail(ChannelError.eof) }

  private static func name(_ version: TLSVersion?) -> String {
    switch version {
    case .tlsv13: "TLSv1.3"
    case .tlsv12: "TLSv1.2"
    case .tlsv11: "TLSv1.1"
    default: "TLSv1.0"
    }
  }
}
