import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// The client certificate and key that a connection presents.
package struct ClientIdentity: Sendable {
  package let certificateChainPEM: String
  let privateKeyPEM: String

  package init(certificateChainPEM: String, privateKeyPEM: String) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  /// - Throws: where no connection could present it. The TLS library reads less than others do.
  package func check() throws {
    var configuration = try LiveHTTPClient.tls(self, .system, beside: nil)
    // The system's roots take forty times as long to read as the identity.
    configuration.trustRoots = .certificates([])
    _ = try NIOSSLContext(configuration: configuration)
  }
}

extension Egress {
  /// - Throws: where the authorities cannot be read.
  package func checkRoots() throws {
    if let rootsPEM { _ = try NIOSSLCertificate.fromPEMBytes(Array(rootsPEM.utf8)) }
  }
}

/// Whose certificates a connection accepts.
package enum TrustedRoots: Sendable, Hashable {
  case system
  /// Exactly these, PEM.
  case pem(String)
}

/// HTTP over the network, with or without mutual TLS: one connection pool for one identity.
///
/// TLS 1.2 or later with Apple's six suites, no redirects, no decompression. The owner calls ``shutdown()``;
/// a client that is dropped without it, as after a failed start, shuts down when its last sender is released.
package final class LiveHTTPClient: Sendable {
  private let client: HTTPClient
  /// For what goes through the proxy; nil without one.
  private let tunnel: HTTPClient?
  private let egress: Egress
  private let pinned: [String: String]
  private let written = WrittenRequests()
  private let maximumResponseBytes: Int
  private let connections: OutboundConnections?

  /// - Parameters:
  ///   - maximumResponseBytes: a longer body is ``TransportError/responseTooLarge``.
  ///   - maximumConnections: to one host at a time; further requests wait. An acquirer that answers in one second needs
  ///     one connection per payment per second.
  ///   - seconds: for a connection and its TLS handshake.
  ///   - connections: what it and others may have open together.
  ///   - pinned: the address of a host, used instead of the resolver's. Certificates are still checked against the
  ///     host's name. A proxy is asked for this address, and never resolves the name.
  package init(
    identity: ClientIdentity? = nil, trust: TrustedRoots = .system, egress: Egress = .direct,
    maximumResponseBytes: Int = 65_536, maximumConnections: Int = 512, connectingWithin seconds: Int64 = 5,
    within connections: OutboundConnections? = nil,
    pinned: [String: String] = [:]
  ) throws {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.dnsOverride = pinned
    configuration.tlsConfiguration = try Self.tls(identity, trust, beside: egress.rootsPEM)
    configuration.timeout = .init(connect: .seconds(seconds))
    configuration.connectionPool.idleTimeout = .seconds(5)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maximumConnections
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    configuration.http1_1ConnectionDebugInitializer = { channel in
      connections?.add(channel)
      return channel.eventLoop.submit { try PromptClose.add(to: channel) }
    }
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    tunnel = egress.proxy.map { [written] proxy in
      configuration.proxy = .server(host: proxy.host, port: proxy.port, authorization: proxy.authorization)
      configuration.http1_1ConnectionDebugInitializer = { channel in
        connections?.add(channel)
        return channel.eventLoop.submit {
          try PromptClose.add(to: channel)
          try written.watch(channel)
        }
      }
      return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
    (self.egress, self.pinned) = (egress, pinned)
    (self.maximumResponseBytes, self.connections) = (maximumResponseBytes, connections)
  }

  package func shutdown() async throws {
    try await client.shutdown()
    try await tunnel?.shutdown()
  }

  // A second shutdown returns an error, which is harmless.
  deinit {
    client.shutdown { _ in }
    tunnel?.shutdown { _ in }
  }

  package var sender: HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      guard Self.schemes.contains(where: request.url.hasPrefix) else { throw .notSent("not HTTP") }
      guard let connections = self.connections else { return try await self.answer(request, timeout) }
      return try await connections.call { () throws(TransportError) in try await self.answer(request, timeout) }
    }
  }

  private func answer(
    _ request: OutboundRequest, _ timeout: Duration
  ) async throws(TransportError) -> InboundResponse {
    guard let tunnel, let proxy = proxy(for: request.url) else {
      do { return try await exchange(request, timeout, over: client) } catch { throw Self.classify(error) }
    }
    // The TLS library would compare the certificate with the proxy's own address.
    guard !Self.isBareAddress(request.url) else {
      throw .notSent("a certificate for an address cannot be checked through the proxy")
    }
    let mark = written.mark()
    defer { written.forget(mark) }
    do { return try await exchange(request, timeout, over: tunnel, mark) } catch {
      throw Self.classify(error, through: proxy, isWritten: written.contains(mark))
    }
  }

  private func proxy(for address: String) -> Egress.Proxy? {
    guard egress.proxy != nil, let url = URL(string: address), let host = Self.host(of: url) else { return nil }
    return egress.proxy(to: host, port: url.port ?? (url.scheme == "http" ? 80 : 443), at: pinned[host])
  }

  private static func isBareAddress(_ address: String) -> Bool {
    guard let url = URL(string: address), url.scheme == "https", let host = host(of: url) else { return false }
    return NetworkAddress(host) != nil
  }

  /// Without the brackets of an IPv6 address.
  private static func host(of url: URL) -> String? { url.host?.trimmingCharacters(in: ["[", "]"]) }

  private func exchange(
    _ request: OutboundRequest, _ timeout: Duration, over client: HTTPClient, _ mark: HTTPField? = nil
  ) async throws -> InboundResponse {
    var outbound = HTTPClientRequest(url: request.url)
    outbound.method = HTTPMethod(rawValue: request.method)
    for field in request.headers { outbound.headers.add(name: field.name, value: field.value) }
    if let mark { outbound.headers.add(name: mark.name, value: mark.value) }
    // The client takes the host from the address, and a socket's has none.
    if request.url.hasPrefix(Self.socketScheme) { outbound.headers.add(name: "Host", value: "localhost") }
    if !request.body.isEmpty { outbound.body = .bytes(ByteBuffer(bytes: request.body)) }
    let end = ContinuousClock.now.advanced(by: timeout)
    let answer = try await client.execute(outbound, timeout: TimeAmount(timeout))
    let body = try await collect(answer.body, until: end)
    return InboundResponse(
      status: Int(answer.status.code),
      headers: answer.headers.map { HTTPField($0.name, $0.value) },
      body: Array(body.readableBytesView))
  }

  /// Applies the deadline to the body too: the client's own deadline covers only the response head, and a payment's
  /// lease is held meanwhile.
  private func collect(
    _ body: HTTPClientResponse.Body, until end: ContinuousClock.Instant
  ) async throws -> ByteBuffer {
    let limit = TimeLimit(ContinuousClock.now.duration(to: end), on: client.eventLoopGroup.any())
    return try await limit.run(late: TransportError.timedOut) { [maximumResponseBytes] in
      let bytes = try await body.collect(upTo: maximumResponseBytes)
      // A cancelled read ends early and looks like a complete body.
      try Task.checkCancellation()
      return bytes
    }
  }

  /// - Parameter roots: trusted beside the system's.
  fileprivate static func tls(
    _ identity: ClientIdentity?, _ trust: TrustedRoots, beside roots: String?
  ) throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    tls.cipherSuiteValues = [
      .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384,
      .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ]
    if case .pem(let text) = trust {
      tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(text.utf8)))
    }
    if let roots, trust == .system {
      tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMBytes(Array(roots.utf8)))]
    }
    if let identity {
      tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(identity.certificateChainPEM.utf8))
        .map { .certificate($0) }
      tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem))
    }
    return tls
  }

  /// Errors not known to precede the first byte count as possibly arrived. That includes TLS errors after the
  /// handshake: in TLS 1.3 a server may refuse a client certificate after the client has sent data.
  private static func classify(_ error: any Error) -> TransportError {
    switch error {
    case let error as TransportError: error
    case is NIOTooManyBytesError: .responseTooLarge
    case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout: .timedOut
    case let error as HTTPClientError where neverSent.contains(error): .notSent("\(error)")
    case let error as IOError where error.errnoCode == ECONNREFUSED: .notSent("connection refused")
    case NIOSSLError.handshakeFailed: .notSent("TLS handshake failed: \(error)")
    case is NIOConnectionError, is NIOSSLExtraError: .notSent("\(error)")
    default: .interrupted("\(error)")
    }
  }

  /// Where the request was not written to a connection, nothing but a lack of time, or a call that is given up, leaves it open whether it may be.
  private static func classify(
    _ error: any Error, through proxy: Egress.Proxy, isWritten: Bool
  ) -> TransportError {
    guard !isWritten else { return classify(error) }
    return switch error {
    case let error as HTTPClientError where error == .proxyAuthenticationRequired: .notSent(proxy.refusal(407))
    case let error as HTTPClientError where error == .invalidProxyResponse: .notSent(proxy.refusal(nil))
    case let error as HTTPClientError where error == .httpProxyHandshakeTimeout || error == .connectTimeout:
      .notSent("the proxy did not connect in time")
    case let error as HTTPClientError where error == .remoteConnectionClosed:
      .notSent("the proxy closed the connection")
    case is NIOConnectionError, is IOError: .notSent("the proxy cannot be reached")
    // The request may be written a moment later.
    case is CancellationError: classify(error)
    case let error as HTTPClientError where error == .cancelled: classify(error)
    default:
      switch classify(error) {
      case .interrupted(let words): .notSent(words)
      case let other: other
      }
    }
  }

  /// HTTP over a Unix socket, which the command line uses to reach a server on the same machine.
  private static let socketScheme = "http+unix://"
  private static let schemes = ["https://", "http://", socketScheme]

  private static let neverSent: [HTTPClientError] = [
    .connectTimeout, .invalidURL, .emptyHost, .emptyScheme, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout,
  ]
}

/// Knows of each request through a proxy whether it was written to a connection. The library reports a proxy that hangs up
/// as it does a server that hangs up after the request, and only the latter may have got it.
///
/// A request carries a number in a header that does not leave the process.
private final class WrittenRequests: Sendable {
  fileprivate static let header = "tender-request-number"
  private let state = Mutex<(last: UInt64, written: Set<String>)>((0, []))

  /// The header of a new request.
  func mark() -> HTTPField {
    state.withLock { state in
      state.last += 1
      return HTTPField(Self.header, "\(state.last)")
    }
  }

  func contains(_ mark: HTTPField) -> Bool { state.withLock { $0.written.contains(mark.value) } }

  func forget(_ mark: HTTPField) { state.withLock { _ = $0.written.remove(mark.value) } }

  fileprivate func note(_ number: String) { state.withLock { _ = $0.written.insert(number) } }

  /// Watches a connection from now on.
  func watch(_ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
    try pipeline.addHandler(RequestWatch(self), position: .after(encoder))
  }
}

/// Notes each request before a byte of it is written, and takes its number off.
private final class RequestWatch: ChannelOutboundHandler {
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart
  private let requests: WrittenRequests

  init(_ requests: WrittenRequests) { self.requests = requests }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
    for number in head.headers[WrittenRequests.header] { requests.note(number) }
    head.headers.remove(name: WrittenRequests.header)
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }
}
