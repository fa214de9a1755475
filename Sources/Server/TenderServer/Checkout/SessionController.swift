import Administration
import HTTPServing
import Hummingbird
import MerchantIdentity
import Settings
import TenderCheckoutAPI
import TenderPayments

/// Asks Apple for the merchant session of one payment sheet.
struct SessionController: Sendable {
  let baskets: BasketLookup
  let sessions: MerchantSessions
  let merchants: LiveMerchants
  let hosts: ApplePayHosts
  let callers: Callers

  /// `POST /applepay/validate`
  ///
  /// The URL that the browser names is compared with what this environment's Apple would send, and never fetched.
  func validate(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try await RequestBody.decode(ValidateCall.self, request)
    if let url = call.validationURL { try ValidationURL.validate(url, against: hosts) }
    let id = try await baskets.merchant(of: call.basketId, request, context)
    let session = try await sessions.session(of: id, basket: call.basketId, onHostedPage: context.hosted != nil) {
      try sessionRequest($0, call.topOrigin, request, context)
    }
    return JSONAnswer.response(bytes: session.json)
  }

  /// A page is known by the domain in the address bar; an app sends no Origin and is known by its developer's team.
  private func sessionRequest(
    _ merchant: Merchant, _ topOrigin: String?, _ request: Request, _ context: ServerContext
  ) throws -> MerchantSessionRequest {
    if let (_, frame) = callers.find(request, context) {
      let site = try callers.top(topOrigin, around: frame, of: merchant, context)
      return .web(site.domain, of: merchant.identifier, named: merchant.displayName)
    }
    guard let team = merchants.current[merchant.id]?.folder.profile.team else {
      throw Problem(
        .forbidden, "origin_required",
        "Call from a registered domain, or give the merchant a teamIdentifier for its apps.")
    }
    return .app(team, of: merchant.identifier, named: merchant.displayName)
  }
}
