/// A host that shows the Apple Pay button, in the one form in which it is compared: lowercase ASCII, no final dot.
///
/// `shop.example.com` and `www.shop.example.com` are two domains to Apple and to Tender. A port is part of the name
/// only on this machine (`localhost:8401`), where several shops of a developer may live side by side.
package struct Domain: Sendable, Hashable, CustomStringConvertible {
  /// The host, with the port if there is one.
  package let name: String
  /// The host alone, which Apple gets as `initiativeContext`.
  package let host: String

  package init(_ name: String) throws(MerchantIdentityError) {
    let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let host = String(parts.first ?? "")
    guard Self.isLoopback(host) || Self.isPublicName(host) else {
      throw Self.refused(name, "Write it as the address bar shows it, in lowercase ASCII (xn--… for other letters).")
    }
    if parts.count == 2 {
      guard Self.isLoopback(host), let port = UInt16(parts[1]), port > 0, String(port) == parts[1] else {
        throw Self.refused(name, "Leave the port out: only localhost may have one.")
      }
    }
    self.name = name
    self.host = host
  }

  /// What a person types or copies from an address bar: the scheme, capitals, spaces around it, and a slash or a dot at its
  /// end do not count.
  package init(typed text: String) throws(MerchantIdentityError) {
    var name = text.lowercased().drop(while: \.isWhitespace)
    while name.last?.isWhitespace == true { name.removeLast() }
    for scheme in ["https://", "http://"] where name.hasPrefix(scheme) { name.removeFirst(scheme.count) }
    for end in ["/", "."] where name.hasSuffix(end) { name.removeLast() }
    try self.init(String(name))
  }

  /// The origins a browser may name for this domain. Plain HTTP is a secure context on the own machine only.
  package var origins: [String] { isLoopback ? ["https://\(name)", "http://\(name)"] : ["https://\(name)"] }
  package var isLoopback: Bool { Self.isLoopback(host) }
  package var description: String { name }

  private static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "127.0.0.1" || (host.hasSuffix(".localhost") && labelsAreWellFormed(host))
  }

  /// At least two labels, and the last is not a number: Apple registers names, not addresses.
  private static func isPublicName(_ host: String) -> Bool {
    guard host.utf8.count <= 253, labelsAreWellFormed(host) else { return false }
    let labels = host.split(separator: ".")
    return labels.count >= 2 && labels.last?.utf8.contains { (0x61...0x7A).contains($0) } == true
  }

  private static func labelsAreWellFormed(_ host: String) -> Bool {
    host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private static func refused(_ name: String, _ advice: String) -> MerchantIdentityError {
    MerchantIdentityError(.badDomain, "“\(name.prefix(80))” is not the name of a domain.", advice: advice)
  }
}
