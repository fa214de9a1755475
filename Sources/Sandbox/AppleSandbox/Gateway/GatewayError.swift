import HTTPServing
import HTTPTypes
import Hummingbird
import StrictJSON
import TokenIssuer

/// An error of Apple's gateway, in Apple's own form: `{"statusMessage":"…","statusCode":"417"}`.
///
/// The texts are those that others captured from the real gateway; where none was captured, the text imitates them.
struct GatewayError: Error, Sendable, Hashable {
  let status: Int
  let message: String

  var response: Response {
    JSONAnswer.response(
      ["statusMessage": .string(message), "statusCode": .string(String(status))], status: .init(code: status))
  }

  private init(_ status: Int, _ message: String) {
    self.status = status
    self.message = "Payment Services Exception \(message)"
  }

  static let emptyBody = GatewayError(400, "empty request body")
  static let malformed = GatewayError(500, "malformed request body")
  static let tooLong = GatewayError(413, "request body too long")
  static let wrongURL = GatewayError(404, "no such service")
  static let unavailable = GatewayError(503, "the service is unavailable")

  static func missing(_ parameter: String) -> GatewayError { GatewayError(400, "missing parameter=\(parameter)") }

  static func invalid(_ parameter: String) -> GatewayError { GatewayError(400, "invalid parameter=\(parameter)") }

  static func domainNotRegistered(_ domain: String, of merchant: MerchantHash) -> GatewayError {
    GatewayError(400, "merchantId=\(merchant) not registered for domain=\(domain)")
  }

  /// The certificate belongs to another merchant.
  static func foreignMerchant(_ merchant: MerchantHash, certificate: MerchantHash) -> GatewayError {
    GatewayError(
      417,
      "merchantId=\(certificate) unauthorized to process transactions on behalf of merchantId=\(merchant) "
        + "reason=\(merchant) never authorized mass enablement transactions to occur via \(certificate)")
  }

  /// The merchant is not registered.
  static func unknownMerchant(_ merchant: String, certificate: MerchantHash) -> GatewayError {
    GatewayError(
      417,
      "merchantId=\(certificate) unauthorized to process transactions on behalf of merchantId=\(merchant) "
        + "reason=\(merchant) is not a registered merchant in WWDR and isn't properly authorized via Mass "
        + "Enablement, either.")
  }

  /// The merchant lacks an active payment processing certificate, or its identity certificate was revoked.
  static func notRegisteredForWeb(_ merchant: MerchantHash, certificate: MerchantHash) -> GatewayError {
    GatewayError(
      417,
      "merchantId=\(certificate) unauthorized to service on behalf of merchantId=\(merchant) "
        + "reason=\"The latter is not registered for Apple Pay on the web\"")
  }
}
