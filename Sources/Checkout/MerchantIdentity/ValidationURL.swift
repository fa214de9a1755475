/// Validates `event.validationURL`, the address that a browser names when it asks for a merchant session.
///
/// The address is never fetched, whatever it says: an attacker who writes it could otherwise have the server call any
/// host with the merchant's certificate. It is only compared with the hosts of Apple's that browsers send, because
/// one of another environment means that the page and the server disagree about which Apple they talk to.
///
/// The parser is strict and of its own, so that no difference between two parsers of URLs can be used.
package enum ValidationURL {
  /// Bytes of the longest text that is looked at.
  static let maximumBytes = 256

  private static let paths = ["/paymentservices/startSession", "/paymentservices/paymentSession"]

  /// The gateway that the address names, if it is one of `hosts` and exactly as Apple writes it.
  @discardableResult
  package static func validate(_ text: String, against hosts: ApplePayHosts) throws(ValidationURLError)
    -> ApplePayGateway
  {
    let rest = try withoutScheme(text)
    let end = rest.firstIndex { "/?#;".contains($0) } ?? rest.endIndex
    let (authority, path) = (String(rest[..<end]), String(rest[end...]))
    let gateway = try gateway(authority, hosts)
    guard !path.contains(where: { "?#;".contains($0) }) else { throw ValidationURLError(.queryOrFragment) }
    guard paths.contains(path) else { throw ValidationURLError(.path) }
    return gateway
  }

  private static func withoutScheme(_ text: String) throws(ValidationURLError) -> Substring {
    guard !text.isEmpty else { throw ValidationURLError(.empty) }
    guard text.utf8.count <= maximumBytes else { throw ValidationURLError(.tooLong) }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "%") })
    else { throw ValidationURLError(.forbiddenCharacter) }
    guard text.hasPrefix("https://") else { throw ValidationURLError(.notHTTPS) }
    return text.dropFirst("https://".count)
  }

  private static func gateway(
    _ authority: String, _ hosts: ApplePayHosts
  ) throws(ValidationURLError) -> ApplePayGateway {
    guard !authority.contains("@") else { throw ValidationURLError(.userInformation) }
    if let gateway = hosts.gateway(at: authority) { return gateway }
    let others = [ApplePayHosts.production, .appleSandbox].filter { $0.environment != hosts.environment }
    guard !others.contains(where: { $0.gateway(at: authority) != nil }) else {
      throw ValidationURLError(.environmentMismatch)
    }
    throw ValidationURLError(hasPortOnly(authority, hosts) ? .port : .hostNotAllowed)
  }

  /// Whether the port is all that is wrong.
  private static func hasPortOnly(_ authority: String, _ hosts: ApplePayHosts) -> Bool {
    let host = { (text: String) in text.split(separator: ":", omittingEmptySubsequences: false).first }
    return hosts.gateways.contains { host($0.authority) == host(authority) }
  }
}

/// Why a validation URL was refused. It repeats nothing of the URL.
package struct ValidationURLError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case empty = "validation_url_empty"
    case tooLong = "validation_url_too_long"
    case forbiddenCharacter = "validation_url_forbidden_character"
    case notHTTPS = "validation_url_not_https"
    case userInformation = "validation_url_user_information"
    case port = "validation_url_port"
    case hostNotAllowed = "validation_url_host_not_allowed"
    case environmentMismatch = "environment_mismatch"
    case path = "validation_url_path"
    case queryOrFragment = "validation_url_query_or_fragment"
  }

  package let code: Code

  init(_ code: Code) { self.code = code }

  package var reason: String {
    switch code {
    case .empty: "The validation URL is empty."
    case .tooLong: "The validation URL is longer than Apple's ever is."
    case .forbiddenCharacter: "The validation URL holds a character that Apple's never has."
    case .notHTTPS: "The validation URL does not begin with https://."
    case .userInformation: "The validation URL names a user."
    case .port: "The validation URL names another port."
    case .hostNotAllowed: "The validation URL does not name a gateway of Apple."
    case .environmentMismatch: "The browser talks to another of Apple's environments than this server."
    case .path: "The validation URL has another path than Apple's."
    case .queryOrFragment: "The validation URL has a query, a fragment or parameters."
    }
  }

  package var advice: String {
    code == .environmentMismatch
      ? "Use a test account and device with apple-sandbox, and a real one with production."
      : "Send event.validationURL as the browser gave it, or none at all."
  }

  package var description: String { "\(code.rawValue): \(reason) \(advice)" }
}
