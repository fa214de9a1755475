import Foundation
import HTTPTransport

/// The address of a service, to which paths are joined: `scheme://host[:port]`, with or without a path.
package struct ServiceAddress: Sendable, Hashable {
  /// Without a slash at the end.
  let text: String
  let isHTTPS: Bool
  /// Without the brackets of an IPv6 address.
  let host: String

  /// - Returns: nil for what is not `http` or `https` with a host, and for what holds a user, a query or a fragment.
  init?(_ text: String) {
    guard let url = URLComponents(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
      let host = url.host, !host.isEmpty, url.user == nil, url.password == nil, url.query == nil, url.fragment == nil,
      url.port.map({ (1...65_535).contains($0) }) ?? true
    else { return nil }
    self.text = text.hasSuffix("/") ? String(text.dropLast()) : text
    isHTTPS = scheme == "https"
    self.host = host.trimmingCharacters(in: ["[", "]"])
  }

  var isLoopback: Bool { Self.isLoopback(host) }

  /// Whether it is scheme, host and port alone, of characters that a page's policy may hold.
  var isOrigin: Bool { text.wholeMatch(of: /https?:\/\/[A-Za-z0-9.-]+(:[0-9]{1,5})?/) != nil }

  /// Whether connections to `host` stay on this machine.
  package static func isLoopback(_ host: String) -> Bool { NetworkAddress.isLoopback(host) }
}
