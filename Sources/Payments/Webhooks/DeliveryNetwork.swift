package import HTTPTransport

/// How webhooks are sent: a connection to one destination, open as long as there is something to send.
package struct DeliveryNetwork: Sendable {
  /// A connection that the caller has to close.
  package struct Line: Sendable {
    let sender: HTTPSender
    let close: @Sendable () async -> Void

    package init(_ sender: HTTPSender, close: @escaping @Sendable () async -> Void = {}) {
      self.sender = sender
      self.close = close
    }
  }

  let open: @Sendable (Destination) throws -> Line

  package init(open: @escaping @Sendable (Destination) throws -> Line) { self.open = open }

  /// Over the network: certificates verified against the name, the connection made to the pinned address, no redirect
  /// followed, at most 64 KiB of answer read. A proxy is asked for the pinned address too, or, where the destination says
  /// so, for the name.
  ///
  /// - Parameter connections: how many may be open together.
  package static func live(
    trust: TrustedRoots = .system, egress: Egress = .direct, within connections: OutboundConnections? = nil
  ) -> DeliveryNetwork {
    DeliveryNetwork { destination in
      let (host, address) = (destination.host, destination.address)
      let isProxied = egress.proxy(to: host, port: destination.port, at: address) != nil
      guard let pin = address ?? (isProxied ? host : nil) else { throw DestinationRefusal.unresolvable(host) }
      let client = try LiveHTTPClient(
        trust: trust, egress: egress, within: connections,
        pinned: isProxied && destination.isNamedToProxy ? [:] : [host: pin])
      return Line(client.sender) { try? await client.shutdown() }
    }
  }
}
