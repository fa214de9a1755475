package import HTTPTransport

/// The proxies in front of the listeners whose word for a caller's address is believed.
package struct TrustedProxies: Sendable, Hashable {
  package let ranges: [NetworkRange]

  package init(_ ranges: [NetworkRange] = []) { self.ranges = ranges }

  /// The address of the caller behind the proxies: the last one that no trusted proxy has.
  ///
  /// Everybody can send these headers. Each proxy appends the address that it saw, so the list is read from its end, as
  /// long as a trusted proxy wrote the entry. Where both headers are sent and do not agree, one of them is a stranger's,
  /// and neither counts.
  ///
  /// - Parameters:
  ///   - peer: the address of the connection.
  ///   - forwardedFor: every `X-Forwarded-For` of the request.
  ///   - forwarded: every `Forwarded` of the request, RFC 7239.
  package func caller(at peer: String, forwardedFor: [String], forwarded: [String]) -> String {
    let lists = [Self.elements(forwardedFor), Self.elements(forwarded).map(Self.node)].filter { !$0.isEmpty }
    let callers = Set(lists.map { caller(at: peer, behind: $0) })
    return callers.count == 1 ? callers.first ?? peer : peer
  }

  private func caller(at peer: String, behind entries: [String]) -> String {
    var caller = peer
    for entry in entries.reversed() {
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
