import Foundation
import Hummingbird
import MerchantIdentity
import NIOCore
import PlatformAPI
import TenderPayments

/// What is known of one call while it is answered.
struct ServerContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// Ours, in every answer and every log line; what a caller quotes to support.
  var requestID: String
  /// Whose page is calling; nil when the call carries no Origin.
  var caller: Caller?
  /// The checkout whose page is calling; only from the platform's own page.
  var hosted: HostedCall?
  /// The call as a merchant's server signed it; only on the platform API.
  var signedCall: SignedCall?
  /// Only on the client API.
  var clientSession: ClientSession?
  /// On which the call came.
  let connection: PaymentAdmission.Connection
  /// The connection's, for time limits.
  let eventLoop: any EventLoop

  init(source: Source) {
    coreContext = .init(source: source)
    connection = ObjectIdentifier(source.channel)
    eventLoop = source.channel.eventLoop
    requestID = ""
  }
}

extension ServerContext {
  /// A part of the path that the caller has percent-encoded, as it was before; empty where there is none.
  func name(_ parameter: String) -> String {
    let text = parameters.get(parameter) ?? ""
    return text.removingPercentEncoding ?? text
  }
}

/// Whose page calls, and from which of the merchant's domains.
struct Caller: Sendable {
  let merchant: Merchant
  let site: Merchant.Site
}

/// A call of the checkout API from the platform's own page: which checkout it is about.
struct HostedCall: Sendable, Hashable {
  let checkout: BasketID
  /// The origins whose pages may show the page in a frame.
  let frameAncestors: [String]
}
