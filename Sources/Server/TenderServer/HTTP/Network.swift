package import HTTPTransport
import Synchronization
package import Webhooks

/// The network as the server uses it: one plain client, and one with each merchant's own certificate.
package struct Network: Sendable {
  let plain: HTTPSender
  let identified: @Sendable (ClientIdentity, TrustedRoots) throws -> HTTPSender
  let webhooks: DeliveryNetwork
  /// What a TLS server shows; nil for the real one.
  package var handshake: (@Sendable (_ host: String, _ port: Int) async throws -> TLSHandshake)?
  /// Releases the connections.
  package let close: @Sendable () async -> Void

  /// Tests hand in their own and count what leaves.
  package init(
    plain: HTTPSender, identified: @escaping @Sendable (ClientIdentity, TrustedRoots) throws -> HTTPSender,
    webhooks: DeliveryNetwork = .live(), close: @escaping @Sendable () async -> Void = {}
  ) {
    self.plain = plain
    self.webhooks = webhooks
    self.identified = identified
    self.close = close
  }

  /// Calls addresses that merchants name, as far as the operator lets them.
  func sender(guardedBy destinations: DestinationGuard) -> HTTPSender { destinations.sender(over: webhooks) }

  /// The real one.
  package static func live() throws -> Network {
    let clients = OpenClients()
    let plain = try LiveHTTPClient()
    clients.keep(plain)
    return Network(
      plain: plain.sender,
      identified: { identity, trust in
        let client = try LiveHTTPClient(identity: identity, trust: trust)
        clients.keep(client)
        return client.sender
      },
      close: { await clients.close() })
  }
}

/// The clients that must be shut down at the end.
private final class OpenClients: Sendable {
  private let clients = Mutex<[LiveHTTPClient]>([])

  func keep(_ client: LiveHTTPClient) { clients.withLock { $0.append(client) } }

  func close() async {
    for client in clients.withLock({ $0 }) { try? await client.shutdown() }
  }
}
