import StrictJSON

/// Apple's gateway says no, in Apple's own shape: `{"statusMessage":"…","statusCode":"417"}`.
///
/// Texts were captured by others from the real gateway; where none was, the sentence is made up in its manner.
struct GatewayRefusal: Error, Sendable, Hashable {
  let status: Int
  let message: String

  var json: JSONValue { ["statusMessage": .string(message), "statusCode": .string(String(status))] }

  private init(_ status: Int, _ message: String) {
    self.status = status
    self.message = "Payment Services Exception \(message)"
  }

  static let emptyBody = GatewayRefusal(400, "empty request body")
  static let malformed = GatewayRefusal(500, "malformed request body")
  static let wrongURL = GatewayRefusal(404, "no such service")
  static let unavailable = GatewayRefusal(503, "the service is unavailable")

  static func missing(_ parameter: String) -> GatewayRefusal { GatewayRefusal(400, "missing parameter=\(parameter)") }

  static func invalid(_ parameter: String) -> GatewayRefusal { GatewayRefusal(400, "invalid parameter=\(parameter)") }

  static func domainNotRegistered(_ domain: String, of merchant: MerchantHash) -> GatewayRefusal {
    GatewayRefusal(400, "merchantId=\(merchant) not registered for domain=\(domain)")
  }

  /// The certificate is another merchant's.
  static func foreignMerchant(_ merchant: MerchantHash, certificate: MerchantHash) -> GatewayRefusal {
    GatewayRefusal(
      417,
      "merchantId=\(certificate) unauthorized to process transactions on behalf of merchantId=\(merchant) "
        + "reason=\(merchant) never authorized mass enablement transactions to occur via \(certificate)")
  }

  /// Nobody has registered the merchant.
  static func unknownMerchant(_ merchant: String, certificate: MerchantHash) -> GatewayRefusal {
    GatewayRefusal(
      417,
      "merchantId=\(certificate) unauthorized to process transactions on behalf of merchantId=\(merchant) "
        + "reason=\(merchant) is not a registered merchant in WWDR and isn't properly authorized via Mass "
        + "Enablement, either.")
  }

  /// The merchant lacks an active payment processing certificate, or its identity certificate was revoked.
  static func notRegisteredForWeb(_ merchant: MerchantHash, certificate: MerchantHash) -> GatewayRefusal {
    GatewayRefusal(
      417,
      "merchantId=\(certificate) unauthorized to service on behalf of merchantId=\(merchant) "
        + "reason=\"The latter is not registered for Apple Pay on the web\"")
  }
}
