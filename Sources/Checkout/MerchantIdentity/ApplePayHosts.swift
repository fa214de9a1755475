package import TenderPayments

/// One of Apple's gateways, where merchant sessions come from.
package struct ApplePayGateway: Sendable, Hashable {
  /// Host, with a port only where the simulated gateway has one.
  package let authority: String

  /// Where a session is asked for. Always built here, never taken from a browser.
  package var paymentSessionURL: String { "https://\(authority)/paymentservices/paymentSession" }

  /// Before the merchant's name in the calls about its merchant tokens.
  var merchantTokenURL: String { "https://\(authority)/paymentservices/v1/merchantId/" }
}

/// Where a merchant's Apple Pay is run.
package enum ApplePayRegion: String, Sendable, Hashable, CaseIterable {
  case global
  case mainlandChina = "mainland-china"
}

/// The gateways of one environment: the only hosts a merchant session may come from.
package struct ApplePayHosts: Sendable, Hashable {
  package let environment: Environment
  /// The gateway for all the world but mainland China.
  package let global: ApplePayGateway
  /// The gateway for mainland China. The simulated Apple has none.
  package let mainlandChina: ApplePayGateway?

  package static let production = ApplePayHosts(
    environment: .production,
    global: ApplePayGateway(authority: "apple-pay-gateway.apple.com"),
    mainlandChina: ApplePayGateway(authority: "cn-apple-pay-gateway.apple.com"))

  package static let appleSandbox = ApplePayHosts(
    environment: .appleSandbox,
    global: ApplePayGateway(authority: "apple-pay-gateway-cert.apple.com"),
    mainlandChina: ApplePayGateway(authority: "cn-apple-pay-gateway-cert.apple.com"))

  /// The simulated Apple.
  ///
  /// - Parameter gatewayURL: `https://` and host, with a port if need be: what `tender-sandbox sandbox` prints.
  package static func simulated(gatewayURL: String) throws(MerchantIdentityError) -> ApplePayHosts {
    guard let authority = authority(ofBase: gatewayURL) else {
      throw MerchantIdentityError(
        .badGatewayURL, "“\(gatewayURL.prefix(80))” is not the address of a simulated gateway.",
        advice: "Write https://, the host in lowercase and the port, nothing more: https://localhost:8403.")
    }
    return ApplePayHosts(
      environment: .simulated, global: ApplePayGateway(authority: authority), mainlandChina: nil)
  }

  /// The gateway for a merchant of the region. The simulated Apple has one for both.
  package func gateway(for region: ApplePayRegion) -> ApplePayGateway {
    region == .mainlandChina ? mainlandChina ?? global : global
  }

  var gateways: [ApplePayGateway] { [global] + [mainlandChina].compactMap { $0 } }

  /// The gateway that stands for this host. Apple has more than it documents, such as
  /// `apple-pay-gateway-nc-pod4.apple.com`, and says that the address of a validation can vary.
  func gateway(at authority: String) -> ApplePayGateway? { gateways.first { isHost(authority, of: $0) } }

  private func isHost(_ authority: String, of gateway: ApplePayGateway) -> Bool {
    guard environment != .simulated, authority != gateway.authority else { return authority == gateway.authority }
    let beginning = gateway.authority.dropLast(Self.apple.count) + "-"
    guard authority.hasPrefix(beginning), authority.hasSuffix(Self.apple) else { return false }
    let variant = authority.dropFirst(beginning.count).dropLast(Self.apple.count)
    let isName = variant.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    return !variant.isEmpty && isName && (environment == .appleSandbox || variant.split(separator: "-").first != "cert")
  }

  private static let apple = ".apple.com"

  /// Apple's own hosts may not play the simulated gateway: nothing simulated ever reaches Apple.
  private static func authority(ofBase url: String) -> String? {
    let scheme = "https://"
    guard url.hasPrefix(scheme) else { return nil }
    let rest = url.dropFirst(scheme.count)
    let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
    let allowed = { (byte: UInt8) in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || [0x2D, 0x2E, 0x3A, 0x5B, 0x5D].contains(byte)
    }
    guard !authority.isEmpty, authority.utf8.allSatisfy(allowed), !authority.contains("apple.com") else { return nil }
    return String(authority)
  }
}
