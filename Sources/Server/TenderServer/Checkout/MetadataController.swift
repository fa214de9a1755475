import HTTPServing
import Hummingbird
import MerchantIdentity
import TenderCheckoutAPI
import TenderPayments

/// What a page of the calling domain may offer.
struct MetadataController: Sendable {
  /// The version of Apple Pay JS that the kit asks for; 14 is the newest that Apple documents.
  static let applePayVersion = 14

  let environment: TenderPayments.Environment
  let profiles: [MerchantID: MerchantProfile]
  let sessions: MerchantSessions
  let callers: Callers
  let clock: WallClock
  let simulatedSession: String?

  /// `GET /applepay/metadata`
  func show(_ request: Request, _ context: ServerContext) throws -> Response {
    let (merchant, site) = try callers.require(request, context)
    guard let profile = profiles[merchant.id] else { throw Callers.unknown }
    return JSONAnswer.response(
      MetadataAnswer(
        enabled: isEnabled(merchant, site, context), environment: environment,
        merchantIdentifier: sessions.partner(of: merchant.id, onHostedPage: context.hosted != nil)?.identifier
          ?? merchant.identifier.text,
        displayName: merchant.displayName.text, countryCode: profile.countryCode, currencyCode: profile.currency.code,
        supportedNetworks: profile.networks, merchantCapabilities: profile.capabilities,
        touchIcons: profile.touchIcons.map { .init(href: $0) }, apiVersion: Self.applePayVersion,
        simulatedSession: simulatedSession))
  }

  private func isEnabled(_ merchant: Merchant, _ site: Merchant.Site, _ context: ServerContext) -> Bool {
    sessions.validator(of: merchant.id, onHostedPage: context.hosted != nil) != nil && site.isEnabled
      && sessions.availability[merchant.id]?.refusal(at: clock.now()) == nil
  }
}

/// Whose page is calling: by Origin, or by the host asked when there is none (same origin, apps).
struct Callers: Sendable {
  static let unknown = Problem(
    .forbidden, "origin_not_registered", "No merchant has registered this domain. Add it to the merchant's domains.")

  let directory: MerchantDirectory

  func require(_ request: Request, _ context: ServerContext) throws -> (Merchant, Merchant.Site) {
    guard let caller = find(request, context) else { throw Self.unknown }
    return caller
  }

  func find(_ request: Request, _ context: ServerContext) -> (Merchant, Merchant.Site)? {
    if let caller = context.caller { return (caller.merchant, caller.site) }
    guard let host = request.head.authority, let found = directory.merchant(host: host) else { return nil }
    return (found.merchant, found.site)
  }
}
