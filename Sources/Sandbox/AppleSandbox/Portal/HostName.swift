/// The host of a shop as it is registered: `shop.example.com`, or on this machine `shop.localhost:8401`.
struct HostName: Sendable, Hashable {
  /// Lowercase.
  let host: String
  /// Only on loopback: a shop in the world has port 443.
  let port: Int?

  /// nil when the text is no host name: a scheme, a path, a port that only loopback may have.
  init?(_ text: String) {
    let parts = text.lowercased().split(separator: ":", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), Self.isHost(parts[0]) else { return nil }
    host = String(parts[0])
    port = parts.count == 2 ? Int(parts[1]).flatMap { (1...65_535).contains($0) ? $0 : nil } : nil
    guard parts.count == 1 || (port != nil && isLoopback) else { return nil }
    guard isLoopback || host.contains(".") else { return nil }
  }

  var isLoopback: Bool { host == "localhost" || host.hasSuffix(".localhost") || host == "127.0.0.1" }

  /// Where the verifier looks. On loopback plain HTTP will do, because a browser trusts such an origin too.
  var associationURL: String {
    let origin = isLoopback ? "http://\(host)" : "https://\(host)"
    return origin + (port.map { ":\($0)" } ?? "") + "/.well-known/apple-developer-merchantid-domain-association.txt"
  }

  /// Labels of letters, digits and inner hyphens (RFC 1123 §2.1).
  private static func isHost(_ text: Substring) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= 253
      && labels.allSatisfy { label in
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
      }
  }
}
