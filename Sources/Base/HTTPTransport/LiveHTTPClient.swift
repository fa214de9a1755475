import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

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
    var configuration = try LiveHTTPClient.tls(self, .system)
    // The system's roots take forty times as long to read as the identity.
    configuration.trustRoots = .certificates([])
    _ = try NIOSSLContext(configuration: configuration)
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
/// TLS 1.2 or later with Apple's six suites, no redirects, no proxy, no decompression. The owner calls ``shutdown()``;
/// a client that is dropped without it, as after a failed start, shuts down when its last sender is released.
package final class LiveHTTPClient: Sendable {
  private let client: HTTPClient
  private let maximumResponseBytes: Int
  private let connections: OutboundConnections?

  /// - Parameters:
  ///   - maximumResponseBytes: a longer body is ``TransportError/responseTooLarge``.
  ///   - maximumConnections: to one host at a time; further requests wait. An acquirer that answers in one second needs
  ///     one connection per payment per second.
  ///   - seconds: for a connection and its TLS handshake.
  ///   - connections: what it and others may have open together.
  ///   - pinned: the address of a host, used instead of the resolver's. Certificates are still checked against the
  ///     host's name.
  package init(
    identity: ClientIdentity? = nil, trust: TrustedRoots = .system, maximumResponseBytes: Int = 65_536,
    maximumConnections: Int = 512, connectingWithin seconds: Int64 = 5, within connections: OutboundConnections? = nil,
    pinned: [String: String] = [:]
  ) throws {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.dnsOverride = pinned
    configuration.tlsConfiguration = try Self.tls(identity, trust)
    configuration.timeout = .init(connect: .seconds(seconds))
    configuration.connectionPool.idleTimeout = .seconds(5)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maximumConnections
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    configuration.http1_1ConnectionDebugInitializer = { channel in
      connections?.add(channel)
      return channel.eventLoop.submit { try PromptClose.add(to: channel) }
    }
    self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    (self.maximumResponseBytes, self.connections) = (maximumResponseBytes, connections)
  }

  package func shutdown() async throws { try await client.shutdown() }

  // A second shutdown returns an error, which is harmless.
  deinit { client.shutdown { _ in } }

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
    do { return try await exchange(request, timeout) } catch { throw Self.classify(error) }
  }

  private func exchange(_ request: OutboundRequest, _ timeout: Duration) async throws -> InboundResponse {
    var outbound = HTTPClientRequest(url: request.url)
    outbound.method = HTTPMethod(rawValue: request.method)
    for field in request.headers { outbound.headers.add(name: field.name, value: field.value) }
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

  fileprivate static func tls(_ identity: ClientIdentity?, _ trust: TrustedRoots) throws -> TLSConfiguration {
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

  /// HTTP over a Unix socket, which the command line uses to reach a server on the same machine.
  private static let socketScheme = "http+unix://"
  private static let schemes = ["https://", "http://", socketScheme]

  private static let neverSent: [HTTPClientError] = [
    .connectTimeout, .invalidURL, .emptyHost, .emptyScheme, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout,
  ]
}
