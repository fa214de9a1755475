import Hummingbird
import MerchantIdentity

/// What is known of one call while it is answered.
struct ServerContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// Ours, in every answer and every log line; what a caller quotes to support.
  var requestID: String
  /// Whose page is calling; nil when the call carries no Origin.
  var caller: Caller?
  /// The call as a merchant's server signed it; only on the platform API.
  var signedCall: SignedCall?
  /// On which the call came.
  let connection: PaymentAdmission.Connection

  init(source: Source) {
    coreContext = .init(source: source)
    connection = ObjectIdentifier(source.channel)
    requestID = ""
  }
}

/// Whose page calls, and from which of the merchant's domains.
struct Caller: Sendable {
  let merchant: Merchant
  let site: Merchant.Site
}
