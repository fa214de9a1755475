import HTTPTransport
import StrictJSON

/// Why Apple gave no merchant session.
///
/// ``code``, ``reason`` and ``advice`` may be shown to the integrator; ``gatewayMessage`` is Apple's own text and is
/// for the operator's log alone.
package struct MerchantSessionError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case domainNotRegistered = "domain_not_registered"
    case merchantNotRegistered = "merchant_not_registered"
    case wrongCertificate = "wrong_certificate"
    case gatewayRejected = "gateway_rejected"
    case gatewayRedirected = "gateway_redirected"
    case gatewayFailed = "gateway_failed"
    case gatewayUnreachable = "gateway_unreachable"
    case gatewayInterrupted = "gateway_interrupted"
    case gatewayTimeout = "gateway_timeout"
    case invalidSession = "invalid_session"
  }

  package let code: Code
  /// The HTTP status of Apple's answer, when there was one.
  package let status: Int?
  /// Apple's words, at most 300 printable ASCII characters.
  package let gatewayMessage: String?

  init(_ code: Code, status: Int? = nil, gatewayMessage: String? = nil) {
    self.code = code
    self.status = status
    self.gatewayMessage = gatewayMessage.map(Self.printable)
  }

  package var description: String { "\(code.rawValue): \(reason) \(advice)" }

  /// What comes from outside may not write lines or colours into a log.
  private static func printable(_ text: String) -> String {
    String(decoding: text.utf8.lazy.filter { (0x20...0x7E).contains($0) }.prefix(300), as: UTF8.self)
  }
}

extension MerchantSessionError {
  package var reason: String {
    switch code {
    case .domainNotRegistered: "Apple does not know this domain as one of the merchant's."
    case .merchantNotRegistered: "Apple does not know this merchant identifier for Apple Pay on the web."
    case .wrongCertificate: "The identity certificate is another merchant's."
    case .gatewayRejected: "Apple's gateway refused the request\(statusText)."
    case .gatewayRedirected: "Apple's gateway answered with a redirect\(statusText), which is never followed."
    case .gatewayFailed: "Apple's gateway failed\(statusText)."
    case .gatewayUnreachable: "No connection to Apple's gateway could be made."
    case .gatewayInterrupted: "The connection to Apple's gateway ended before its answer."
    case .gatewayTimeout: "Apple's gateway did not answer in time."
    case .invalidSession: "Apple's gateway answered with something that is not a merchant session."
    }
  }

  package var advice: String {
    switch code {
    case .domainNotRegistered:
      "Register and verify exactly this host under the merchant identifier; www. is another host. A verification lapses when the site's TLS certificate expires."
    case .merchantNotRegistered:
      "Check the merchant identifier's spelling, and that it has a processing and an identity certificate."
    case .wrongCertificate:
      "Use the identity certificate made under this very merchant identifier."
    case .gatewayRejected, .gatewayRedirected, .invalidSession:
      "Look for Apple's own words in the server's log."
    case .gatewayFailed, .gatewayTimeout:
      "Let the shopper try again; if it lasts, look at Apple's system status page."
    case .gatewayUnreachable:
      "Allow connections to the gateway's port 443, and check its name and the trusted roots."
    case .gatewayInterrupted:
      "When every attempt ends so, Apple refuses the identity certificate: it is expired, revoked or another environment's."
    }
  }

  private var statusText: String { status.map { " (\($0))" } ?? "" }
}

extension MerchantSessionError {
  /// An answer other than 200. Apple says what is wrong in a sentence of `statusMessage`; the patterns are those seen.
  init(answer: InboundResponse, to request: MerchantSessionRequest) {
    let message = Self.statusMessage(answer.body)
    self.init(Self.code(answer.status, message ?? "", request), status: answer.status, gatewayMessage: message)
  }

  init(_ error: TransportError) {
    switch error {
    case .notSent(let why): self.init(.gatewayUnreachable, gatewayMessage: why)
    case .interrupted(let why): self.init(.gatewayInterrupted, gatewayMessage: why)
    case .timedOut: self.init(.gatewayTimeout)
    case .responseTooLarge: self.init(.invalidSession)
    }
  }

  private static func code(_ status: Int, _ message: String, _ request: MerchantSessionRequest) -> Code {
    switch status {
    case 300..<400: .gatewayRedirected
    case 400 where message.contains("not registered for domain="): .domainNotRegistered
    case 417: unauthorized(message, request)
    case 500...: .gatewayFailed
    default: .gatewayRejected
    }
  }

  /// 417 says `merchantId=<the certificate's> unauthorized … on behalf of merchantId=<the requested>`: when the two
  /// differ the certificate is wrong, when they are the same the merchant is not set up.
  private static func unauthorized(_ message: String, _ request: MerchantSessionRequest) -> Code {
    let named = message.split(separator: " ").filter { $0.hasPrefix("merchantId=") }.map { $0.dropFirst(11) }
    let foreign = named.first.map { $0.uppercased() != request.merchant.uppercaseHexHash } ?? false
    return named.count >= 2 && foreign ? .wrongCertificate : .merchantNotRegistered
  }

  static func statusMessage(_ body: [UInt8]) -> String? {
    guard case .object(let members)? = try? JSONReader.read(body), case .string(let text)? = members["statusMessage"]
    else { return nil }
    return text
  }
}
