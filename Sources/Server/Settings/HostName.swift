/// Names and addresses of hosts, as a configuration may have them.
enum HostName {
  /// A name or an address without a port: `pay.example.com`, `127.0.0.1`, `::1`.
  static func isHost(_ text: String) -> Bool {
    let colons = text.count { $0 == ":" }
    return isWritten(text) && colons != 1
  }

  /// A host, with a port or without: `shop.example.com:8443`.
  static func isAuthority(_ text: String) -> Bool {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return isHost(text) }
    return isHost(String(parts[0])) && UInt16(parts[1]).map { $0 > 0 } == true
  }

  private static func isWritten(_ text: String) -> Bool {
    (1...253).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || "0123456789-._:[]".unicodeScalars.contains($0))
      }
  }
}
