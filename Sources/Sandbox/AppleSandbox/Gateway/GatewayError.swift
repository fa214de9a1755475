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
  /// What the caller can do, for the log and the sandbox's page; Apple's answer has no such member.
  let remedy: String

  var response: Response {
    JSONAnswer.response(
      ["statusMessage": .string(message), "statusCode": .string(String(status))], status: .init(code: status))
  }

  private init(_ status: Int, _ message: String, remedy: String) {
    self.status = status
    self.message = "Payment Services Exception \(message)"
    self.remedy = remedy
  }

  static let emptyBody = GatewayError(400, "empty request body", remedy: "Send a JSON object.")
  static let malformed = GatewayError(500, "malformed request body", remedy: "Send a JSON object.")
  static let tooLong = GatewayError(413, "request body too long", remedy: "Send at most 64 KiB.")
  static let wrongURL = GatewayError(404, "no such service", remedy: "POST to /paymentservices/paymentSession.")
  static let unavailable = GatewayError(
    503, "the service is unavailable", remedy: "A test injected this fault; ask again.")
  static let foreignCertificate = GatewayError(
    403, "the client certificate is no merchant identity",
    remedy: "Present the identity certificate that this sandbox's portal issued.")

  static let notAPlatform = GatewayError(
    401, "the platform has no permission for this API",
    remedy: "Apply for it: POST /portal/merchants/ID/platform at the sandbox.")
  static let platformUnknown = GatewayError(
    417, "the platform is not registered with Apple Developer",
    remedy: "Register its merchant identifier at the portal.")
  static let partnerUnknown = GatewayError(
    400, "the merchant is not registered", remedy: "Register it with registerMerchant.")

  static func fileMissing(_ domain: String, _ reason: String) -> GatewayError {
    GatewayError(
      400, "the domain association file of domain=\(domain) was not found",
      remedy: "Serve the platform's file there: \(reason)")
  }

  static func missing(_ parameter: String) -> GatewayError {
    GatewayError(400, "missing parameter=\(parameter)", remedy: "Send \(parameter) as a text that is not empty.")
  }

  static func invalid(_ parameter: String) -> GatewayError {
    GatewayError(400, "invalid parameter=\(parameter)", remedy: "Send \(parameter) as Apple documents it.")
  }

  static func portInDomain(_ domain: String) -> GatewayError {
    GatewayError(
      400, "invalid parameter=initiativeContext reason=\"\(domain) has a port\"",
      remedy: "Send the host alone. Only loopback names may have a port here, and none at Apple.")
  }

  static func domainNotRegistered(_ domain: String, of merchant: MerchantHash) -> GatewayError {
    GatewayError(
      400, "merchantId=\(merchant) not registered for domain=\(domain)",
      remedy: "Add the domain to the merchant (tender merchant add, tender domain add), and have the sandbox fetch its "
        + "association file: tender merchant verify.")
  }

  /// The certificate belongs to another merchant.
  static func foreignMerchant(_ merchant: MerchantHash, certificate: MerchantHash) -> GatewayError {
    GatewayError(
      417,
      "merchantId=\(certificate) unauthorized to process transactions on behalf of merchantId=\(merchant) "
        + "reason=\(merchant) never authorized mass enablement transactions to occur via \(certificate)",
      remedy: "Present the identity certificate of the merchant that you name.")
  }

  /// The merchant is not registered.
  static func unknownMerchant(_ merchant: String, certificate: MerchantHash) -> GatewayError {
    GatewayError(
      417,
      "merchantId=\(certificate) unauthorized to process transactions on behalf of merchantId=\(merchant) "
        + "reason=\(merchant) is not a registered merchant in WWDR and isn't properly authorized via Mass "
        + "Enablement, either.",
      remedy: "Register the merchant identifier at the portal, or correct it.")
  }

  /// The merchant lacks an active payment processing certificate, or its identity certificate was revoked.
  static func notRegisteredForWeb(_ merchant: MerchantHash, certificate: MerchantHash) -> GatewayError {
    GatewayError(
      417,
      "merchantId=\(certificate) unauthorized to service on behalf of merchantId=\(merchant) "
        + "reason=\"The latter is not registered for Apple Pay on the web\"",
      remedy:
        "Give the merchant an active payment processing certificate, and present an identity certificate that was "
        + "not revoked.")
  }
}
