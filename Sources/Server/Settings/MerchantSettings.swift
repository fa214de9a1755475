package import Acquiring
import DirectWire
import Foundation
package import MerchantIdentity
import Orders
package import TenderPayments
import TenderSheet
package import Webhooks

/// What a merchant's `merchant.yaml` says.
package struct MerchantSettings: Sendable {
  package var merchantIdentifier = ""
  package var displayName = ""
  var countryCode = ""
  var currency: Currency?
  package var networks: [CardNetwork] = [.visa, .masterCard, .amex]
  var capabilities: [MerchantCapability] = [.supports3DS]
  var contactFields = ContactField.usual
  var lines = BasketDocument.Lines.items
  var addressCheck = BasketDocument.AddressCheck.country
  var locale = "en"
  package var domains: [String] = []
  var teamIdentifier: String?
  var callbackHosts: [String] = []
  var basketSource: String?
  package var keysRequiringDigest: [String] = []
  package var apiKeyLimits: [NamedKeyLimits] = []
  /// The ids of webhook and callback keys that sign in the place of those that come last by name.
  package var signingKeys: [String] = []
  package var touchIcons: [String] = []
  package var webhooks: [String] = []
  var webhooksWithOrder: [String] = []
  var standardWebhooks: [String] = []
  var takesUnsignedData = false
  package var hosted = HostedPageSettings()
  package var encryptTo = Recipient.merchant
  var gatewayRegion = ApplePayRegion.global
  package var routes: [RouteRule] = []
  var statementDescriptor: String?
  var merchantCategory: String?
  var merchantAccounts: [RouteAccount] = []
  var mail = MerchantMail()

  /// Whether the server calls the merchant's, and needs a key to sign with.
  var callsMerchant: Bool { !callbackHosts.isEmpty || basketSource != nil }

  package var unknownNetworks: [CardNetwork] { networks.filter { $0.facts == nil } }

  /// What becomes of each network that this release does not know, and which one may be meant.
  package var networkWarnings: [String] {
    unknownNetworks.map { network in
      let nearest = Spelling.nearest(to: network.rawValue, among: CardNetwork.known.map(\.rawValue))
      return "this release does not know \(network.rawValue): the sheet is asked for it where the browser or device "
        + "knows it, and no connector that has to name it takes its cards; see that the name is Apple's"
        + (nearest.map { "; did you mean \($0)?" } ?? "")
    }
  }

  /// Sites that may frame the hosted pages, and for which Apple gives no merchant session.
  ///
  /// - Parameter domains: the merchant's, which the settings name in a folder alone.
  package func ancestors(besides domains: [Domain]) -> [String] {
    let origins = domains.flatMap(\.origins)
    return hosted.frameAncestors.filter { !origins.contains($0) }
  }

  /// What the merchant wants of the platform's payment pages.
  package struct HostedPageSettings: Sendable, Hashable {
    package var regions: [String] = []
    package var frameAncestors: [String] = []
  }

  /// `adyen=HarbourKitchenECOM`
  struct RouteAccount: Sendable, Hashable {
    let route: Route
    let account: String
  }

  /// Whose key payment tokens are encrypted to.
  package enum Recipient: String, Sendable, CaseIterable { case merchant, platform }

  /// What the server calls on the merchant's word, each with its setting.
  private var calledAddresses: [(setting: String, url: String)] {
    var addresses = webhooks.enumerated().map { (setting: "webhooks", url: EndpointName.split($1, at: $0).url) }
    addresses += callbackHosts.map { (setting: "callbackHosts", url: "https://\($0)/") }
    addresses += touchIcons.filter { $0.hasPrefix("http") }.map { (setting: "touchIcons", url: $0) }
    if let basketSource { addresses.append((setting: "basketSource", url: basketSource)) }
    return addresses
  }

  /// Refuses an address that the server would not call.
  package func requireCallable(by destinations: DestinationGuard) async throws {
    for (setting, url) in calledAddresses {
      do { try await destinations.check(url) } catch let refusal as DestinationRefusal {
        throw ConfigurationError(setting, "\(url) \(refusal.words)")
      }
    }
  }

  init() {}

  /// Without a merchant identifier in the file, it is that of the identity certificate beside it.
  ///
  /// - Parameter file: the path of a `merchant.yaml`.
  package init(file: String) throws {
    let table = SettingsTable.merchant
    let (settings, named) = try table.read([table.file(file)])
    if let missing = table.missing(in: named) { throw Self.missing(missing, file) }
    self = settings
    if merchantIdentifier.isEmpty { merchantIdentifier = try Self.certified(beside: file) }
  }

  /// The merchant that the identity certificate names.
  static func certified(beside file: String) throws -> String {
    let identity = URL(fileURLWithPath: file).deletingLastPathComponent().path + "/identity.pem"
    guard FileManager.default.fileExists(atPath: identity) else { throw missing(SettingsTable.identifier, file) }
    do {
      let certificates = CertificateFile(Array(try MerchantFolder.text(identity).utf8)).certificates
      return try AppleCertificate(in: certificates).merchant.text
    } catch let error as MerchantIdentityError { throw ConfigurationError(identity, "\(error.reason) \(error.advice)") }
  }

  static func missing(_ setting: Setting<MerchantSettings>, _ file: String) -> ConfigurationError {
    ConfigurationError(file, "\(setting.key) is missing: write a line `\(setting.key): \(setting.example)`")
  }
}

extension SettingsTable where Target == MerchantSettings {
  /// The settings of `merchant.yaml`. A new one is a row of one of the two lists, and a property of ``MerchantSettings``.
  package static let merchant = SettingsTable(MerchantSettings(), ofOperator + ofMerchant)

  /// What a merchant's administrator may set too.
  package static let ofMerchant = sheet + hosted + sale + mail

  /// What the operator alone sets: whose money, keys and network it is.
  package static let ofOperator = identity + connections

  /// What the payment sheet shows.
  private static let sheet: [Setting<MerchantSettings>] = [
    Setting(
      "displayName", .text("a name of at most 64 characters", as: "Harbour Kitchen"),
      "The name on the payment sheet.", isRequired: true, get: { $0.displayName }, set: { $0.displayName = $1 }),
    Setting(
      "countryCode", .text("a country of ISO 3166-1 in two capital letters", as: "IE", where: CountryCode.isAssigned),
      "Where the merchant's payments are processed.", isRequired: true, get: { $0.countryCode },
      set: { $0.countryCode = $1 }),
    Setting(
      "currencyCode", .currency, \.currency, "The currency of the merchant's baskets.", isRequired: true),
    Setting(
      "supportedNetworks", .list(of: .network, atLeast: 1), \.networks,
      "The cards that the merchant takes. A network that this release does not know reaches the sheet all the same, with "
        + "a warning; its payments take no route whose connector has to name the network."),
    Setting(
      "merchantCapabilities", .list(of: .choice(of: MerchantCapability.allCases), atLeast: 1),
      \.capabilities, "What the merchant's acquirer can do; `supports3DS` must be there."),
    Setting(
      "contactFields", .list(of: .choice(of: ContactField.allCases)), \.contactFields,
      "What the sheet asks the shopper for unless the basket says; beside the address of an order that goes to one."),
    Setting(
      "lines", .choice(of: BasketDocument.Lines.allCases), \.lines,
      "Whether the sheet lists the items or their subtotal, unless the basket says."),
    Setting(
      "addressCheck", .choice(of: BasketDocument.AddressCheck.allCases), \.addressCheck,
      "Whether an address must have what its country's post needs: town, state, a postal code of its form; unless the "
        + "basket says."),
    Setting(
      "locale", .text("a language tag", as: "de-AT", where: ShopperLocale.isTag), \.locale,
      "The language of what shoppers read from Tender, unless the basket says."),
  ]

  /// The merchant's pages on this server.
  private static let hosted: [Setting<MerchantSettings>] = [
    Setting(
      "hostedRegions", .list(of: .text("a country of ISO 3166-1", as: "IE", where: CountryCode.isAssigned)),
      \.hosted.regions, "Countries whose shoppers are offered Apple Pay on hosted pages; without any, all."),
    Setting(
      "hostedFrameAncestors",
      .list(
        of: .text(
          "an origin", as: "\"https://shop.example.com\"",
          where: { ServiceAddress($0)?.isOrigin == true && !$0.hasSuffix("/") })),
      \.hosted.frameAncestors,
      "Sites that may show the merchant's hosted pages in a frame. Each must be one of `domains`, or the page in its frame "
        + "takes no payment."),
  ]

  /// What cardholders and the merchant's own server are told.
  private static let sale: [Setting<MerchantSettings>] = [
    Setting(
      "statementDescriptor",
      .text("1 to 22 letters, digits, spaces or . , ' - * /", as: "HARBOUR*KITCHEN", where: SaleSettings.isDescriptor),
      \.statementDescriptor,
      "What the cardholder reads on the statement. The default is the basket's `businessName`, as far as the provider takes it."
    ),
    Setting(
      "webhooks",
      .list(
        of: .text(
          "a URL of at most \(EndpointName.longestAddress) bytes, or a name and a URL as name=URL; \(EndpointName.rule)",
          as: "\"https://shop.example.com/hooks/tender\"",
          where: EndpointName.fits),
        atMost: MerchantWebhooks.maximumURLs),
      \.webhooks,
      "Who is notified of the merchant's payments, see docs/webhooks.md."),
    Setting(
      "webhooksWithOrder", .list(of: .text("the name of an endpoint", as: "orders", where: EndpointName.isValid)),
      \.webhooksWithOrder,
      "Endpoints of `webhooks` whose events say whom the order is for and where it goes."),
    Setting(
      "standardWebhooks", .list(of: .text("the name of an endpoint", as: "orders", where: EndpointName.isValid)),
      \.standardWebhooks,
      "Endpoints of `webhooks` whose events are signed as Standard Webhooks says, in place of Worldline Direct's headers."
    ),
  ]

  package static let identifier = Setting<MerchantSettings>(
    "merchantIdentifier", .text("the identifier of the developer account", as: "merchant.com.example.harbour"),
    "Apple's name for the merchant. A folder with an `identity.pem` may leave it out: the certificate names the merchant.",
    get: { $0.merchantIdentifier.isEmpty ? nil : $0.merchantIdentifier }, set: { $0.merchantIdentifier = $1 })

  /// Who the merchant is.
  private static let identity: [Setting<MerchantSettings>] = [
    identifier,
    Setting(
      "domains", .list(of: .text("a domain", as: "shop.example.com", where: { (try? Domain($0)) != nil })), \.domains,
      "The sites that show the button. A domain belongs to one merchant."),
    Setting(
      "teamIdentifier", .text("the developer account's team", as: "ABCDE12345"), \.teamIdentifier,
      "The developer's team. Only for macOS apps, which have no domain."),
    Setting(
      "encryptTo", .choice(of: MerchantSettings.Recipient.allCases), \.encryptTo,
      "Whose key payment tokens are encrypted to."),
    Setting(
      "gatewayRegion", .choice(of: ApplePayRegion.allCases), \.gatewayRegion,
      "Which of Apple's gateways gives the merchant sessions. The simulated Apple has one for both."),
    Setting(
      "touchIcons", .list(of: .text("a URL", as: "\"https://shop.example.com/touch-icon.png\"")), \.touchIcons,
      "Icons that the payment sheet shows for the site."),
  ]

  /// Where its money goes, what is called for it, and what is taken from it.
  private static let connections: [Setting<MerchantSettings>] = [
    Setting(
      "routes", .list(of: .routeRule), \.routes,
      "Which route a payment takes: the first that fits. Without rules every route, in the order of the folders."),
    Setting(
      "merchantCategory", .text("four digits of ISO 18245", as: "5812", where: SaleSettings.isCategory),
      \.merchantCategory, "The merchant category that the provider and the payment sheet are told."),
    Setting(
      "merchantAccounts", .list(of: .routeAccount), \.merchantAccounts,
      "The merchant's account at a provider, where the route has several. The default is the route's first."),
    Setting(
      "callbackHosts", .list(of: .text("a host", as: "shop.example.com", where: HostName.isAuthority)), \.callbackHosts,
      "Hosts that a basket's `quoteURL` may name."),
    Setting(
      "basketSource",
      .text(
        "a URL with https, or with http on this machine", as: "\"https://shop.example.com/tender/baskets\"",
        where: MerchantTerms.isBasketSource), \.basketSource,
      "Where a basket is fetched that a page of the merchant's names and that was not sent, see docs/back-end.md."),
    Setting(
      "apiKeyLimits", .list(of: .apiKeyLimits), \.apiKeyLimits,
      "What API keys of `api-keys` may be used for, and until when. A key that is not named may do everything, for good. `replaced=2026-12-01T00:00:00Z` says that another key took its place and that it ends then, which is no limit of a new key."
    ),
    Setting(
      "signingKeys", .list(of: .text("the id of a webhook or callback key", as: "6a3ac0de1b2c3d4e")), \.signingKeys,
      "The keys of `webhook-keys` and `callback-keys` that sign, where they are not the last by name. In the store the newest sign."
    ),
    Setting(
      "requireContentDigest", .list(of: .text("the id of an API key", as: "7f3ac0de")), \.keysRequiringDigest,
      "API keys that must send `X-GCS-Content-SHA256` with every body."),
    Setting(
      "unsignedPaymentData", .flag, \.takesUnsignedData,
      "Whether `POST /payments` takes encrypted payment data without Apple's signature in `production` too, see docs/platform.md."
    ),
  ]
}

extension SettingType<RouteRule> {
  fileprivate static let routeRule = SettingType(
    wanted: "a route and its conditions, such as “braintree/eu-main network=visa,masterCard currency=EUR”",
    example: "adyen currency=EUR",
    read: { texts throws(UnfitValue) in
      do throws(RouteRuleError) { return try RouteRule(texts[0]) } catch {
        throw UnfitValue(found: "“\(texts[0])”: \(error)")
      }
    }, text: { "\($0)" })
}

extension SettingType<MerchantSettings.RouteAccount> {
  fileprivate static let routeAccount = one(
    "a route and the merchant's account there, as route=account", as: "adyen=HarbourKitchenECOM",
    read: { text in
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, let route = Route(parts[0]), (1...80).contains(parts[1].utf8.count) else { return nil }
      return MerchantSettings.RouteAccount(route: route, account: parts[1])
    }, text: { "\($0.route)=\($0.account)" })
}

/// What the providers allow in a merchant's part of a sale.
private enum SaleSettings {
  static func isDescriptor(_ text: String) -> Bool {
    (1...22).contains(text.utf8.count) && text.wholeMatch(of: /[A-Za-z0-9 .,'\-*\/]+/) != nil
  }

  static func isCategory(_ text: String) -> Bool {
    text.utf8.count == 4 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}

extension SettingType<CardNetwork> {
  fileprivate static let network = one(
    "a network of Apple Pay: " + CardNetwork.known.map(\.rawValue).joined(separator: ", ") + ", or a newer one",
    as: "visa", read: { CardNetwork(rawValue: $0) }, text: { $0.rawValue })
}

extension SettingType<Currency> {
  fileprivate static let currency = one(
    "a currency of ISO 4217 in three capital letters", as: "EUR",
    read: { code in Currency(code: code).flatMap { $0.isMoney ? $0 : nil } }, text: { $0.code })
}
