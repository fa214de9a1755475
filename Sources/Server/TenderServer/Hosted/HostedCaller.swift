import HostedCheckout
import Hummingbird
import MerchantIdentity
import Settings
import TenderPayments

/// Names the merchant of a call from the platform's own page. The checkout's id says whose it is; the domain says
/// nothing, because all merchants share it.
struct HostedCaller: RouterMiddleware {
  let pages: HostedController
  let merchants: LiveMerchants

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    let checkout = try await pages.checkout(request, context)
    let merchants = merchants.current
    guard let domain = merchants.platform.site.domain, let merchant = merchants[checkout.merchant] else {
      throw Callers.unknown
    }
    var context = context
    context.caller = Caller(merchant: merchant.folder.merchant, site: Merchant.Site(domain: domain))
    context.hosted = HostedCall(
      checkout: checkout.id, frameAncestors: merchant.hosted.frameAncestors)
    return try await next(request, context)
  }
}
