package import HTTPTransport
import Synchronization
package import Webhooks

/// The network as the server uses it: one plain client, and one with each merchant's own certificate.
package struct Network: Sendable {
  package let plain: HTTPSender
  /// Calls of Apple's gateway without a certificate.
  package let apple: HTTPSender
  /// Calls of the provider at which operators sign in.
  package let signIn: HTTPSender
  package let identified: @Sendable (ClientIdentity, TrustedRoots) throws -> HTTPSender
  package let webhooks: DeliveryNetwork
  /// To the collector of traces and metrics.
  package let telemetry: HTTPSender
  /// For other calls to addresses that merchants name.
  let merchants: DeliveryNetwork
  /// What a TLS server shows; nil for the real one.
  package var handshake: (@Sendable (_ host: String, _ port: Int) async throws -> TLSHandshake)?
  /// The way to what merchants name.
  package let egress: Egress
  /// Releases the connections.
  package let close: @Sendable () async -> Void

  /// Tests hand in their own and count what leaves.
  package init(
    plain: HTTPSender, apple: HTTPSender? = nil, signIn: HTTPSender? = nil,
    identified: @escaping @Sendable (ClientIdentity, TrustedRoots) throws -> HTTPSender,
    webhooks: DeliveryNetwork = .live(), merchants: DeliveryNetwork? = nil, telemetry: HTTPSender? = nil,
    egress: Egress = .direct,
    close: @escaping @Sendable () async -> Void = {}
  ) {
    (self.plain, self.apple, self.egress) = (plain, apple ?? plain, egress)
    self.signIn = signIn ?? plain
    (self.webhooks, self.telemetry) = (webhooks, telemetry ?? plain)
    self.merchants = merchants ?? webhooks
    self.identified = identified
    self.close = close
  }

  /// Calls addresses that merchants name, as far as the operator lets them.
  package func sender(guardedBy destinations: DestinationGuard) -> HTTPSender { destinations.sender(over: merchants) }

  /// The most bytes of a provider's answer: a page of a listing.
  private static let longestListing = 4 << 20

  /// The most bytes of an answer about a sign-in: a provider's keys are some thousand.
  private static let longestSignInAnswer = 256 << 10

  /// The real one.
  ///
  /// - Parameter budget: limits the connections of a server; nil for a program that serves nobody.
  package static func live(
    _ outbound: OutboundConfiguration = OutboundConfiguration(), within budget: DescriptorBudget? = nil
  ) throws -> Network {
    func limit(_ share: KeyPath<DescriptorBudget, Int>) -> OutboundConnections? {
      budget.map { OutboundConnections(maximum: $0[keyPath: share]) }
    }
    let toApple = try outbound.egress(to: .apple)
    let plain = try LiveHTTPClient(
      egress: try outbound.egress(to: .providers), maximumResponseBytes: longestListing, within: limit(\.acquirers))
    let apple = try LiveHTTPClient(egress: toApple)
    let telemetry = try LiveHTTPClient(egress: try outbound.egress(to: .telemetry), maximumConnections: 2)
    let signIn = try LiveHTTPClient(
      egress: try outbound.egress(to: .signIn), maximumResponseBytes: longestSignInAnswer, maximumConnections: 4)
    let clients = IdentifiedClients(egress: toApple, within: limit(\.apple))
    let toMerchants = try outbound.egress(to: .merchants)
    return Network(
      plain: plain.sender, apple: apple.sender, signIn: signIn.sender,
      identified: { try clients.client($0, $1).sender },
      webhooks: .live(egress: try outbound.egress(to: .webhooks), within: limit(\.webhooks)),
      merchants: .live(egress: toMerchants, within: limit(\.merchants)), telemetry: telemetry.sender,
      egress: toMerchants,
      close: {
        try? await plain.shutdown()
        try? await apple.shutdown()
        try? await telemetry.shutdown()
        try? await signIn.shutdown()
        await clients.shutdown()
      })
  }
}

/// One client for each identity and set of roots, for as long as a sender of it is in use: merchants are read again at
/// every change, and a client holds connections and a TLS context.
private final class IdentifiedClients: Sendable {
  /// A certificate tells which key belongs to it.
  private struct Name: Hashable {
    let certificate: String
    let trust: TrustedRoots
  }

  private struct Client: Sendable {
    weak let live: LiveHTTPClient?
  }

  private let clients = Mutex<[Name: Client]>([:])
  private let egress: Egress
  private let connections: OutboundConnections?

  init(egress: Egress, within connections: OutboundConnections?) {
    (self.egress, self.connections) = (egress, connections)
  }

  func client(_ identity: ClientIdentity, _ trust: TrustedRoots) throws -> LiveHTTPClient {
    let name = Name(certificate: identity.certificateChainPEM, trust: trust)
    return try clients.withLock { clients in
      if let known = clients[name]?.live { return known }
      clients = clients.filter { $0.value.live != nil }
      let client = try LiveHTTPClient(identity: identity, trust: trust, egress: egress, within: connections)
      clients[name] = Client(live: client)
      return client
    }
  }

  func shutdown() async {
    for client in clients.withLock({ $0.values.compactMap(\.live) }) { try? await client.shutdown() }
  }
}

/// What a server showed in a TLS handshake.
package struct TLSHandshake: Sendable {
  /// `TLSv1.2`, `TLSv1.3`.
  package let version: String
  /// DER, the server's own first.
  package let chain: [[UInt8]]
  /// Why the system's roots do not vouch for it; nil where they do.
  package let trustProblem: String?

  package init(version: String, chain: [[UInt8]], trustProblem: String?) {
    (self.version, self.chain, self.trustProblem) = (version, chain, trustProblem)
  }
}
