/// The address to which the shopper goes back.
package enum ReturnURL {
  private static let longest = 2_000

  /// Absolute, `https`, or `http` on this machine; printable ASCII without a user and without characters that browsers
  /// read in different ways. A browser runs no script from such an address.
  package static func isAllowed(_ text: String) -> Bool {
    guard text.utf8.count <= longest,
      text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) }),
      let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) })
    else { return false }
    let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    guard !authority.isEmpty, !authority.contains("@"), !authority.contains(";") else { return false }
    return scheme == "https://" || isHere(authority)
  }

  private static func isHere(_ authority: Substring) -> Bool {
    let host = authority.split(separator: ":").first ?? ""
    return host == "localhost" || host == "127.0.0.1" || host.hasSuffix(".localhost")
  }

  /// The address with members added to its query, before the fragment.
  package static func adding(_ members: [(String, String)], to text: String) -> String {
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let address = String(parts[0])
    let mark = !address.contains("?") ? "?" : address.hasSuffix("?") || address.hasSuffix("&") ? "" : "&"
    let query = members.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    return address + mark + query + (parts.count == 2 ? "#" + parts[1] : "")
  }

  /// `scheme://host[:port]`, for a page's policy.
  static func origin(of text: String) -> String? {
    guard isAllowed(text), let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else { return nil }
    return scheme + text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
  }
}
