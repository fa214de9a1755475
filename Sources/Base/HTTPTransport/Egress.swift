import AsyncHTTPClient

/// The way out of the operator's network to some destinations: straight or through a proxy, and which certificate
/// authorities are trusted beside the system's.
///
/// A proxy is asked with CONNECT for every connection, also for plain HTTP: what is sent inside, the proxy does not read.
package struct Egress: Sendable, Hashable {
  /// Whom the calls are for. Each may have a way of its own.
  package enum Destination: String, Sendable, Hashable, CaseIterable {
    /// Apple's gateway.
    case apple
    /// Acquirers and payment providers.
    case providers
    case webhooks
    /// Merchants' own servers: prices, baskets, icons, and domains that are checked.
    case merchants
    case mail
    /// The collector of traces and metrics.
    case telemetry
    /// The provider at which operators sign in.
    case signIn
  }

  /// Nil where everything is reached straight.
  package let proxy: Proxy?
  /// What is reached without the proxy.
  package let exceptions: [Exception]
  /// Certificate authorities that are trusted beside the system's, PEM.
  package let rootsPEM: String?

  package init(proxy: Proxy? = nil, exceptions: [Exception] = [], rootsPEM: String? = nil) {
    (self.proxy, self.exceptions, self.rootsPEM) = (proxy, exceptions, rootsPEM)
  }

  package static let direct = Egress()

  /// The proxy for a connection; nil where it is made straight. This machine is never reached through a proxy.
  ///
  /// - Parameters:
  ///   - host: a name, or an address with brackets or without.
  ///   - address: where the name leads to, if that is known.
  package func proxy(to host: String, port: Int, at address: String? = nil) -> Proxy? {
    let places = [host] + (address.map { [$0] } ?? [])
    guard let proxy, !places.contains(where: NetworkAddress.isLoopback),
      !places.contains(where: { place in exceptions.contains { $0.covers(place, port) } })
    else { return nil }
    return proxy
  }
}

extension Egress {
  /// An HTTP proxy, which is reached without TLS.
  package struct Proxy: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    package let host: String
    package let port: Int
    let user: String?
    let password: String?

    package init(host: String, port: Int, user: String? = nil, password: String? = nil) {
      (self.host, self.port, self.user, self.password) = (host, port, user, password)
    }

    /// `proxy.example.com:3128`, without the user.
    package var description: String { NetworkAddress.authority(host, port) }
    package var customMirror: Mirror { Mirror(self, children: []) }

    package var credentials: (user: String, password: String)? { user.map { ($0, password ?? "") } }

    var authorization: HTTPClient.Authorization? {
      credentials.map { .basic(username: $0.user, password: $0.password) }
    }

    /// Why there is no connection. Merchants read it too, so it does not name the proxy.
    func refusal(_ status: Int?) -> String {
      switch status {
      case nil: "the proxy refuses the connection"
      case 407 where user == nil: "the proxy wants a user and a password: status 407"
      case 407: "the proxy refuses the user or the password: status 407"
      case .some(let status): "the proxy refuses the connection: status \(status)"
      }
    }
  }

  /// A destination that is reached without the proxy: `example.com` with all names below it, `.example.com` for those
  /// alone, `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`; each but a range with a port or without: `example.com:8443`,
  /// `[fd00::7]:8443`.
  package struct Exception: Sendable, Hashable {
    package let text: String
    private let name: String
    private let range: NetworkRange?
    private let port: Int?

    /// - Returns: nil for what is none of these.
    package init?(_ text: String) {
      self.text = text
      if let range = NetworkRange(text) {
        (name, self.range, port) = ("", range, nil)
        return
      }
      let colon = text.lastIndex(of: ":")
      let host = String(text[..<(colon ?? text.endIndex)]).lowercased()
      let port = colon.map { Int(text[text.index(after: $0)...]) ?? 0 }
      guard port.map({ (1...65_535).contains($0) }) ?? true else { return nil }
      range = host.contains("/") ? nil : NetworkRange(host)
      let name = host.hasPrefix("*.") ? String(host.dropFirst()) : host
      let isName = name.wholeMatch(of: /\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*/) != nil
      guard range != nil || isName, colon == nil || !host.contains(":") || host.hasPrefix("[") else { return nil }
      (self.name, self.port) = (name, port)
    }

    func covers(_ host: String, _ port: Int) -> Bool {
      guard self.port == nil || self.port == port else { return false }
      if let range { return NetworkAddress(host).map(range.contains) ?? false }
      let host = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
      let suffix = name.hasPrefix(".") ? name : "." + name
      return host.hasSuffix(suffix) || host.utf8.elementsEqual(name.utf8)
    }
  }
}
