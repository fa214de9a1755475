package import HTTPTransport

/// The proxies in front of the listeners whose word for a caller's address is believed.
package struct TrustedProxies: Sendable, Hashable {
  /// Where a proxy appends the address that it saw.
  package enum Header: String, Sendable, Hashable, CaseIterable {
    case forwardedFor = "X-Forwarded-For"
    /// RFC 7239.
    case forwarded = "Forwarded"
  }

  package var ranges: [NetworkRange]
  /// The header that the proxies write. The other one is never read: a proxy that does not know it passes on what a
  /// stranger wrote.
  package var header: Header

  package init(_ ranges: [NetworkRange] = [], writing header: Header = .forwardedFor) {
    (self.ranges, self.header) = (ranges, header)
  }

  /// The address of the caller behind the proxies: the last one that no trusted proxy has.
  ///
  /// Everybody can send the header. Each proxy appends the address that it saw, so the list is read from its end, as long
  /// as a trusted proxy wrote the entry.
  ///
  /// - Parameters:
  ///   - peer: the address of the connection.
  ///   - values: every header of the request that ``header`` names.
  package func caller(at peer: String, said values: [String]) -> String {
    let elements = Self.elements(values)
    var caller = peer
    for entry in (header == .forwarded ? elements.map(Self.node) : elements).reversed() {
      guard isTrusted(caller), let address = Self.address(entry) else { break }
      caller = address
    }
    return caller
  }

  private func isTrusted(_ text: String) -> Bool {
    NetworkAddress(text).map { address in ranges.contains { $0.contains(address) } } ?? false
  }

  private static func elements(_ headers: [String]) -> [String] {
    // By bytes: a mark of Unicode could join an entry of a stranger's with the proxy's.
    headers.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.map { bytes in
      guard bytes.allSatisfy({ 0x20...0x7E ~= $0 || $0 == 0x09 }) else { return "" }
      return String(decoding: bytes, as: UTF8.self).trimming(while: { $0 == " " || $0 == "\t" })
    }
  }

  /// The value of `for` in an element of `Forwarded`, without its quotes; empty where there is none.
  private static func node(_ element: String) -> String {
    for pair in element.split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimming(while: { $0 == " " || $0 == "\"" }) }
      if parts.count == 2, parts[0].lowercased() == "for" { return parts[1] }
    }
    return ""
  }

  /// An address without its port and brackets; nil for `unknown` and the like.
  private static func address(_ entry: String) -> String? {
    if NetworkAddress(entry) != nil { return entry.trimming(while: { $0 == "[" || $0 == "]" }) }
    guard let colon = entry.lastIndex(of: ":") else { return nil }
    let host = String(entry[..<colon])
    guard NetworkAddress(host) != nil, !host.contains(":") || host.hasPrefix("["),
      entry[colon...].utf8.dropFirst().allSatisfy({ 0x30...0x39 ~= $0 }), !entry.hasSuffix(":")
    else { return nil }
    return host.trimming(while: { $0 == "[" || $0 == "]" })
  }
}

extension StringProtocol {
  fileprivate func trimming(while isLeftOut: (Character) -> Bool) -> String {
    let rest = drop(while: isLeftOut)
    return String(rest.reversed().drop(while: isLeftOut).reversed())
  }
}

extension SettingType<NetworkRange> {
  static let networkRange = one(
    "an address or a range such as 10.0.0.0/8", as: "10.0.0.0/8", read: { NetworkRange($0) }, text: { $0.text })
}
