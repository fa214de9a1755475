import Administration
import HTTPServing
import Hummingbird
import MerchantIdentity
import Settings
import TenderCheckoutAPI
import TenderPayments

/// What a page of the calling domain may offer.
struct MetadataController: Sendable {
  /// The version of Apple Pay JS that the kit asks for; 14 is the newest that Apple documents.
  static let applePayVersion = 14

  let environment: TenderPayments.Environment
  let merchants: LiveMerchants
  let callers: Callers
  let clock: WallClock
  let simulatedSession: String?

  /// `GET /applepay/metadata`, from a page in a frame with `?topOrigin=`
  func show(_ request: Request, _ context: ServerContext) throws -> Response {
    let (merchant, frame) = try callers.require(request, context)
    let site = try callers.top(request.query["topOrigin"], around: frame, of: merchant, context)
    guard let served = merchants.current[merchant.id] else { throw Callers.unknown }
    let (profile, access) = (served.folder.profile, served.appleAccess(onHostedPage: context.hosted != nil))
    let isEnabled =
      access.validator != nil && site.isEnabled && served.folder.availability.refusal(at: clock.now()) == nil
    return JSONAnswer.response(
      MetadataAnswer(
        enabled: isEnabled, environment: environment,
        merchantIdentifier: access.partner?.identifier ?? merchant.identifier.text,
        displayName: merchant.displayName.text, countryCode: profile.countryCode, currencyCode: profile.currency.code,
        supportedNetworks: profile.networks, merchantCapabilities: profile.capabilities,
        touchIcons: profile.touchIcons.map { .init(href: $0) }, apiVersion: Self.applePayVersion,
        simulatedSession: simulatedSession))
  }
}

/// Whose page is calling: by Origin, or by the host asked when there is none (same origin, apps).
struct Callers: Sendable {
  static let unknown = Problem(
    .forbidden, "origin_not_registered", "No merchant has registered this domain. Add it to the merchant's domains.")

  let merchants: LiveMerchants

  func require(_ request: Request, _ context: ServerContext) throws -> (Merchant, Merchant.Site) {
    guard let caller = find(request, context) else { throw Self.unknown }
    return caller
  }

  func find(_ request: Request, _ context: ServerContext) -> (Merchant, Merchant.Site)? {
    if let caller = context.caller { return (caller.merchant, caller.site) }
    guard let host = request.head.authority, let found = merchants.current.directory.merchant(host: host) else {
      return nil
    }
    return (found.merchant, found.site)
  }

  /// The site in the address bar, for which a merchant session has to be: the browser gives the payment sheet the address
  /// of the top page, whichever frame opens it (WebKit bug 259667).
  ///
  /// - Parameters:
  ///   - origin: of the top page, as the page in its frame says; nil from a page in no frame, `null` from one that was
  ///     not told. It is believed only if the site is the merchant's own, and so registered with Apple; around the
  ///     platform's own page it must also be one that may frame it.
  ///   - site: of the page that calls.
  func top(
    _ origin: String?, around site: Merchant.Site, of merchant: Merchant, _ context: ServerContext
  ) throws -> Merchant.Site {
    guard let origin, !site.domain.origins.contains(origin) else { return site }
    guard !origin.utf8.elementsEqual("null".utf8) else { throw Self.unknownTop }
    guard let (owner, top) = merchants.current.directory.merchant(origin: origin), owner.id == merchant.id else {
      throw Self.unregisteredTop("Add its domain to the merchant's domains, and register it with Apple.")
    }
    guard context.hosted?.frameAncestors.contains(origin) ?? true else {
      throw Self.unregisteredTop("Add it to the merchant's hostedFrameAncestors.")
    }
    return top
  }

  private static let unknownTop = Problem(
    .forbidden, "top_origin_unknown",
    "The browser does not tell which page is around this frame. Name its origin in the button's attribute top-origin.")

  private static func unregisteredTop(_ remedy: String) -> Problem {
    Problem(
      .forbidden, "top_origin_not_registered",
      "The page around this frame is on no site of this merchant, so a device would close the payment sheet. \(remedy)")
  }
}
