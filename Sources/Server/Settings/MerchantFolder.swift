package import Acquiring
package import ApplePayToken
import Foundation
package import HostedCheckout
package import Mail
package import MerchantIdentity
package import DirectWire
import Storage
package import TenderPayments
package import TenderSheet
package import Webhooks

/// One merchant with everything that the server needs of it: from the store (see ``MerchantStore``), or declared as
/// files, so that certificates rotate by copying a file:
///
///     merchants/<id>/
///       merchant.yaml              merchantIdentifier, displayName, countryCode, currencyCode, networks, domains, …
///       identity.pem identity.key  the merchant identity certificate
///       processing/*.pem *.key     payment processing certificates, any number
///       association/<domain>.txt   the domain association file of each domain
///       api-keys/<key id>.secret   what the merchant's server signs with
///       webhook-keys/<key id>.secret  what its webhooks are signed with
///       callback-keys/<key id>.secret what calls to its quoteURL and basketSource are signed with
package struct MerchantFolder: Sendable {
  package let merchant: Merchant
  package let profile: MerchantProfile
  /// Secret by key id.
  package let apiKeys: [String: String]
  /// What each of them may be used for; a key that is not here for everything.
  package let apiKeyLimits: [String: APIKeyLimits]
  /// Signs calls to the merchant's `quoteURL` and `basketSource`; nil where there are none.
  let callbackSigner: RequestSigner?
  /// Processing certificates that stand here without their keys, which an agent holds.
  package let certificatesOfKeysElsewhere: [ProcessingCertificate]
  /// Where events of the merchant's payments are sent.
  package let webhooks: [WebhookEndpoint]
  /// Signs the webhooks; nil where there is no key.
  package let webhookKey: WebhookKey?
  /// Every webhook key that has not ended: secret by key id.
  package let webhookKeys: [String: String]
  package let mail: MerchantMail
  /// How the merchant's messages look.
  package let brand: MailBrand
  /// Whether files or the store hold it.
  package let origin: MerchantOrigin
  /// As a platform has registered it with Apple; nil where it is Apple's by an identifier of its own.
  package let partner: PartnerMerchant?
  /// The looks of its hosted pages, by name.
  package let variants: [String: HostedVariant]
  /// Whether it may offer Apple Pay.
  package private(set) var availability: MerchantAvailability

  /// Why it can take no payment although nothing refuses one; nil where it can.
  package var notReady: String? {
    let hasKey = !merchant.processing.isEmpty || !certificatesOfKeysElsewhere.isEmpty
    return hasKey || profile.encryptsToPlatform ? nil : "no processing certificate"
  }

  /// Reads every merchant below `directory`, in the order of their names.
  ///
  /// - Parameters:
  ///   - only: reads this merchant alone, if it is there.
  ///   - keysMayBeElsewhere: whether a processing certificate may stand without its key.
  package static func all(
    in directory: String, only: MerchantID? = nil, at now: Timestamp, keysMayBeElsewhere: Bool = false
  ) async throws -> [MerchantFolder] {
    var folders: [MerchantFolder] = []
    for name in try merchants(in: directory) where only == nil || only == MerchantID(name) {
      folders.append(
        try await MerchantFolder(name, in: directory, at: now, keysMayBeElsewhere: keysMayBeElsewhere))
    }
    try SharedSecrets.refuseRepeatedAPIKeys(folders, in: directory)
    return folders
  }

  /// Reads the merchant `name` below `directory`.
  init(_ name: String, in directory: String, at now: Timestamp, keysMayBeElsewhere: Bool) async throws {
    let path = "\(directory)/\(name)"
    do {
      try await self.init(path: path, id: MerchantID(name), at: now, keysMayBeElsewhere: keysMayBeElsewhere)
    } catch let error as MerchantIdentityError {
      throw ConfigurationError(path, "\(error)")
    }
  }

  /// The ids of the merchants below `directory`, in order. A name that begins with a dot is a folder in the making.
  package static func merchants(in directory: String) throws -> [String] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory).sorted() else {
      let advice =
        stands(at: directory)
        ? "bring the folder back, or move away what is in its place"
        : "make it, or leave merchants.directory out where every merchant is in the store"
      throw ConfigurationError("merchants.directory", "\(absence(in: directory)); \(advice)")
    }
    return names.filter {
      !$0.hasPrefix(".") && FileManager.default.fileExists(atPath: "\(directory)/\($0)/merchant.yaml")
    }
  }

  /// Whether a folder or anything else is there, also a symbolic link that leads nowhere, as to a mount that is lost.
  static func stands(at path: String) -> Bool { (try? FileManager.default.attributesOfItem(atPath: path)) != nil }

  /// Why a directory has no merchants: there is none in it, it cannot be read, or it is not there.
  package static func absence(in directory: String) -> String {
    let files = FileManager.default
    if (try? files.contentsOfDirectory(atPath: directory)) != nil { return "there is no merchant in \(directory)" }
    guard stands(at: directory) else { return "there is no folder \(directory)" }
    guard !files.fileExists(atPath: directory), let place = try? files.destinationOfSymbolicLink(atPath: directory)
    else { return "\(directory) is no folder that can be read" }
    return "\(directory) is a symbolic link to \(place), which is not there"
  }

  package init(path: String, id: MerchantID, at now: Timestamp, keysMayBeElsewhere: Bool) async throws {
    let settings = try MerchantSettings(file: path + "/merchant.yaml")
    let identifier = try MerchantIdentifier(settings.merchantIdentifier)
    var parts = MerchantParts(
      sites: try settings.domains.map { try Self.site($0, path) }, identity: try Self.identity(path, identifier, now),
      processing: try Self.processing(path, identifier, keysMayBeElsewhere),
      certificatesOfKeysElsewhere: keysMayBeElsewhere ? try Self.certificatesAlone(path, identifier) : [],
      apiKeys: try Self.apiKeys(path), callbackKeys: try SharedSecrets.read(in: path + "/callback-keys"),
      webhookKeys: try SharedSecrets.read(in: path + "/webhook-keys"), variants: try VariantFolder.variants(path))
    for (kind, keys) in [(SecretName.Kind.webhookKey, parts.webhookKeys), (.callbackKey, parts.callbackKeys)] {
      parts.newestKeys[kind] = settings.signingKeys.last { keys[$0] != nil }
    }
    try self.init(id, settings, parts, at: path)
  }

  /// - Parameter place: for messages: the merchant's folder, or its name in the store.
  init(_ id: MerchantID, _ settings: MerchantSettings, _ parts: MerchantParts, at place: String) throws {
    try Self.requireFree(id, place)
    self.profile = try MerchantProfile(settings, place + "/merchant.yaml")
    self.merchant = Merchant(
      id: id, identifier: try MerchantIdentifier(settings.merchantIdentifier),
      displayName: try DisplayName(settings.displayName), sites: parts.sites, identity: parts.identity,
      processing: parts.processing)
    self.certificatesOfKeysElsewhere = parts.certificatesOfKeysElsewhere
    apiKeys = parts.apiKeys
    apiKeyLimits = try APIKeyLimits.joined(settings.apiKeyLimits, parts.apiKeyLimits, place + "/merchant.yaml")
    self.callbackSigner = try MerchantCallbackKey.signer(
      parts.callbackKeys, newest: parts.newestKeys[.callbackKey], in: place + "/callback-keys",
      isNeeded: settings.callsMerchant, apiKeys: apiKeys)
    let webhookKey = SharedSecrets.signing(parts.webhookKeys, newest: parts.newestKeys[.webhookKey]).map {
      WebhookKey(id: $0.key, secret: $0.value)
    }
    let webhooks = try MerchantWebhooks.endpoints(settings, webhookKey, place)
    // A stored merchant's keys expire and are revoked while the settings stay.
    if case .declared = parts.origin {
      try Self.requireKeys(profile.keysRequiringDigest, apiKeys, "requireContentDigest", place)
      try Self.requireKeys(Set(settings.apiKeyLimits.map(\.id)), apiKeys, "apiKeyLimits", place)
      let signing = parts.webhookKeys.merging(parts.callbackKeys) { $1 }
      try Self.requireKeys(Set(settings.signingKeys), signing, "signingKeys", place, ["webhook-keys", "callback-keys"])
      try MerchantWebhooks.requireKey(webhookKey, for: webhooks, place)
    }
    (self.webhooks, self.webhookKey) = (webhooks, webhookKey)
    self.webhookKeys = parts.webhookKeys
    (self.mail, self.brand) = (settings.mail, settings.mail.brand(settings.displayName, settings.locale))
    self.origin = parts.origin
    self.availability = parts.availability
    self.partner = parts.partner
    self.variants = parts.variants
  }

  /// Refuses a setting that names a key which is not there.
  private static func requireKeys(
    _ ids: Set<String>, _ keys: [String: String], _ setting: String, _ place: String, _ folders: [String] = ["api-keys"]
  ) throws {
    for id in ids.sorted() where keys[id] == nil {
      let files = folders.map { "\($0)/\(id).secret" }.joined(separator: " or ")
      throw ConfigurationError("\(place)/merchant.yaml", "\(setting): there is no \(files)")
    }
  }

  /// The merchant, as far as its terms allow it to offer Apple Pay.
  func standing(_ terms: TermsStanding) -> MerchantFolder {
    var folder = self
    folder.availability.terms = terms
    return folder
  }

  package static func site(_ name: String, _ path: String) throws -> Merchant.Site {
    let domain = try Domain(name)
    let file = "\(path)/association/\(name).txt"
    guard let data = FileManager.default.contents(ofFile: file) else { return Merchant.Site(domain: domain) }
    return Merchant.Site(domain: domain, association: try DomainAssociation(bytes: Array(data)))
  }

  static func identity(
    _ path: String, _ merchant: MerchantIdentifier, _ now: Timestamp
  ) throws -> MerchantIdentityCertificate? {
    guard FileManager.default.fileExists(atPath: path + "/identity.pem") else { return nil }
    return try MerchantIdentityCertificate(
      certificatePEM: try text(path + "/identity.pem"), privateKeyPEM: try secretText(path + "/identity.key"),
      for: merchant, at: now)
  }

  private static func processing(
    _ path: String, _ merchant: MerchantIdentifier, _ keysMayBeElsewhere: Bool
  ) throws -> [PaymentProcessingCertificate] {
    try names(in: path + "/processing", ending: ".pem").filter { !keysMayBeElsewhere || hasKey($0, path) }.map { name in
      try processing(name, path, merchant)
    }
  }

  static func processing(
    _ name: String, _ path: String, _ merchant: MerchantIdentifier
  ) throws -> PaymentProcessingCertificate {
    try PaymentProcessingCertificate(
      certificatePEM: try text("\(path)/processing/\(name).pem"),
      privateKeyPEM: try secretText("\(path)/processing/\(name).key"), for: merchant)
  }

  private static func certificatesAlone(_ path: String, _ merchant: MerchantIdentifier) throws
    -> [ProcessingCertificate]
  {
    try names(in: path + "/processing", ending: ".pem").filter { !hasKey($0, path) }.map {
      try certificateAlone($0, path, merchant)
    }
  }

  static func certificateAlone(
    _ name: String, _ path: String, _ merchant: MerchantIdentifier
  ) throws -> ProcessingCertificate {
    let file = "\(path)/processing/\(name).pem"
    let certificate = try PlatformFolder.certificate(file)
    guard certificate.merchantIdentifierHash == merchant.hash else {
      throw ConfigurationError(file, "the certificate was issued to another merchant than \(merchant)")
    }
    return certificate
  }

  package static func hasKey(_ name: String, _ path: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(path)/processing/\(name).key")
  }

  private static func apiKeys(_ path: String) throws -> [String: String] {
    try SharedSecrets.read(in: path + "/api-keys")
  }

  package static func names(in folder: String, ending: String) throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().filter { $0.hasSuffix(ending) }
      .map { String($0.dropLast(ending.count)) }
  }

  /// A private key or a secret, which only its owner may read.
  package static func secretText(_ path: String) throws -> String {
    do throws(PrivateFileError) { return try PrivateFile.text(path) } catch {
      throw ConfigurationError(error.path, error.reason)
    }
  }

  package static func text(_ path: String) throws -> String {
    guard let data = FileManager.default.contents(ofFile: path) else {
      let isThere = FileManager.default.fileExists(atPath: path)
      throw ConfigurationError(
        path, isThere ? "the file cannot be read by this user, or is longer than 16 MiB" : "there is no such file")
    }
    guard let text = String(bytes: data, encoding: .utf8) else {
      throw ConfigurationError(path, "the file is no text in UTF-8")
    }
    return text
  }
}

/// What a merchant accepts, as the payment sheet gets it.
package struct MerchantProfile: Sendable {
  /// ISO 3166-1 alpha-2: where the merchant's payments are processed.
  package let countryCode: String
  package let currency: Currency
  package let networks: [CardNetwork]
  package let capabilities: [MerchantCapability]
  /// What the sheets of its baskets ask for, unless a basket chooses its fields.
  package let contactFields: [ContactField]
  /// How the sheets of its baskets list the goods, unless a basket says.
  package let lines: BasketDocument.Lines
  /// Whether the addresses of its baskets go by their countries' rules, unless a basket says.
  package let addressCheck: BasketDocument.AddressCheck
  /// The language tag of its shoppers, unless a basket names another.
  package let locale: String
  /// Icons that the sheet shows for the site, by address.
  package let touchIcons: [String]
  /// Hosts that a basket's `quoteURL` may name.
  package let callbackHosts: Set<String>
  /// Where its baskets are fetched that a page names and that are not here.
  package let basketSource: String?
  /// The API keys that must send `X-GCS-Content-SHA256` with every body, by id.
  package let keysRequiringDigest: Set<String>
  /// Whether encrypted payment data is taken without its signature, also in production.
  package let takesUnsignedData: Bool
  /// The developer's team, for macOS apps; they have no domain.
  package let team: TeamIdentifier?
  /// Whether devices encrypt the merchant's payment tokens to the platform's key.
  package let encryptsToPlatform: Bool
  /// What it wants of the platform's payment pages.
  package let hosted: MerchantSettings.HostedPageSettings
  /// Which of Apple's gateways gives its merchant sessions.
  package let region: ApplePayRegion
  /// Which routes its payments may take, in order; empty for all.
  package let routes: [RouteRule]
  /// What providers are told of each sale.
  package let sale: MerchantSale

  /// - Parameter file: for messages.
  init(_ settings: MerchantSettings, _ file: String) throws {
    guard let currency = settings.currency else { throw ConfigurationError(file, "currencyCode is missing") }
    try Self.requireCryptograms(settings, file)
    self.currency = currency
    countryCode = settings.countryCode
    networks = settings.networks
    capabilities = settings.capabilities
    contactFields = settings.contactFields
    (lines, addressCheck, locale) = (settings.lines, settings.addressCheck, settings.locale)
    touchIcons = settings.touchIcons
    (callbackHosts, basketSource) = (Set(settings.callbackHosts), settings.basketSource)
    keysRequiringDigest = Set(settings.keysRequiringDigest)
    takesUnsignedData = settings.takesUnsignedData
    team = try settings.teamIdentifier.map { try TeamIdentifier($0) }
    encryptsToPlatform = settings.encryptTo == .platform
    (routes, region, hosted) = (settings.routes, settings.gatewayRegion, settings.hosted)
    sale = MerchantSale(
      statementDescriptor: settings.statementDescriptor, merchantCategory: settings.merchantCategory,
      accounts: Dictionary(settings.merchantAccounts.map { ("\($0.route)", $0.account) }) { first, _ in first })
  }

  static func requireCryptograms(_ settings: MerchantSettings, _ file: String) throws {
    guard settings.capabilities.contains(.supports3DS) else {
      throw ConfigurationError(file, "merchantCapabilities must hold supports3DS")
    }
  }
}

// What other commands need of a merchant's folder.
extension MerchantFolder {
  /// Apple's name for the merchant and its domains, for a check of the domains.
  package static func names(at path: String) throws -> (merchantIdentifier: String, domains: [String]) {
    try requireThere(path)
    let settings = try MerchantSettings(file: path + "/merchant.yaml")
    return (settings.merchantIdentifier, settings.domains)
  }

  /// The currency of the merchant's baskets.
  package static func currency(at path: String) throws -> Currency {
    try requireThere(path)
    guard let currency = try MerchantSettings(file: path + "/merchant.yaml").currency else {
      throw ConfigurationError(path + "/merchant.yaml", "currencyCode is missing")
    }
    return currency
  }

  /// The merchant's id and one of its API keys, for a shop that signs its calls.
  package static func apiKey(at path: String) throws -> (merchant: String, id: String, secret: String) {
    try requireThere(path)
    guard let key = try apiKeys(path).sorted(by: { $0.key < $1.key }).first else {
      throw ConfigurationError(path + "/api-keys", "there is no key; make a file <key id>.secret")
    }
    return (URL(fileURLWithPath: path).lastPathComponent, key.key, key.value)
  }

  private static func requireThere(_ path: String) throws {
    guard !FileManager.default.fileExists(atPath: path + "/merchant.yaml") else { return }
    throw ConfigurationError(
      path, "there is no merchant's folder here; name one with a merchant.yaml, or make one with `tender merchant add`")
  }

  /// Reads every merchant of a configuration as `tender serve` would.
  package static func check(_ configuration: ServerConfiguration) async throws -> [MerchantReport] {
    try await load(configuration, at: WallClock.system.now()).map { MerchantReport($0.merchant) }
  }

  /// Every merchant of a configuration, each by itself and all beside each other.
  package static func load(_ configuration: ServerConfiguration, at now: Timestamp) async throws -> [MerchantFolder] {
    guard !configuration.declaresNone else { return [] }
    let folders = try await all(
      in: configuration.merchantsDirectory, at: now, keysMayBeElsewhere: configuration.keyAgentSocket != nil)
    _ = try PlatformFolder.of(
      configuration.platformDirectory, for: folders, keysMayBeElsewhere: configuration.keyAgentSocket != nil)
    _ = try MerchantDirectory(folders.map(\.merchant), in: configuration.environment)
    return folders
  }
}

/// A merchant as the command line shows it.
package struct MerchantReport: Codable, Sendable {
  package let id: String
  package let merchantIdentifier: String
  package let domains: [String]
  /// Each with the moment until which it is valid.
  package let certificates: [String]

  package init(_ merchant: Merchant) {
    id = merchant.id.rawValue
    merchantIdentifier = merchant.identifier.text
    domains = merchant.sites.map(\.domain.name)
    certificates = [merchant.identity?.description].compactMap { $0 } + merchant.processing.map(\.description)
  }
}
