import Acquiring
import ApplePayToken
import Foundation
import Ledger
import MerchantIdentity
import Orders
package import Settings
package import Storage
package import TenderPayments
import Webhooks

/// Carries out the calls of the pages and of `tender merchant`, `certificate`, `domain` and `secret`, on a running server or
/// without one.
///
/// What would make a merchant that the server cannot serve is refused before anything is written.
package struct MerchantAdministration: Sendable {
  let configuration: ServerConfiguration
  let database: Database
  /// Nil where none runs.
  let server: LiveServer?
  let clock: WallClock
  let random: RandomBytes

  package init(
    _ configuration: ServerConfiguration, _ database: Database, server: LiveServer? = nil,
    clock: WallClock = .system, random: RandomBytes = .system
  ) {
    (self.configuration, self.database, self.server) = (configuration, database, server)
    (self.clock, self.random) = (clock, random)
  }

  package func perform(_ call: MerchantCall) async throws -> MerchantAnswer {
    switch call {
    case .list: MerchantAnswer(merchants: try await reports())
    case .add(let bundle), .take(let bundle): try await add(bundle)
    case .edit(let merchant, let settings): try await edit(merchant, settings)
    case .setEndpoint(let name, let url, let merchant): try await setEndpoint(name, url, of: merchant)
    case .export(let merchant): try await export(merchant)
    case .remove(let merchant): try await remove(merchant)
    case .showServer: MerchantAnswer(server: ServerPlaceReport(configuration))
    case .showSigner(let merchant): MerchantAnswer(signer: try await signer(of: merchant))
    case .setEnabled(let isEnabled, let merchant, let domain): try await setEnabled(isEnabled, merchant, domain)
    case .addDomain(let name, let merchant, let file): try await addDomain(name, of: merchant, file)
    case .removeDomain(let name, let merchant): try await removeDomain(name, of: merchant)
    case .listDomains(let merchant): try await domains(of: merchant)
    case .checkDomain(let name, let merchant): try await checkDomain(name, of: merchant)
    case .registerDomain(let name, let merchant): try await registerDomain(name, of: merchant)
    case .unregisterDomain(let name, let merchant, let reason): try await unregisterDomain(name, of: merchant, reason)
    case .noteCheck(let name, let merchant, let finding): try await noteCheck(of: name, of: merchant, finding)
    case .noteRegistration(let names, let merchant, let isRegistered):
      try await noteRegistration(of: names, of: merchant, isRegistered)
    case .requestCertificate(let merchant, let kind, let isMainlandChina):
      try await requestCertificate(merchant, kind, isMainlandChina: isMainlandChina)
    case .importCertificate(let merchant, let kind, let certificates, let key):
      try await importCertificate(merchant, kind, certificates, key)
    case .signCertificate(let id, let merchant): try await signCertificate(id, of: merchant)
    case .listCertificates(let merchant): try await certificates(of: merchant)
    case .activateCertificate(let id): try await activateCertificate(id)
    case .retireCertificate(let id): try await retireCertificate(id)
    case .exportCertificate(let id, let withKey): try await exportCertificate(id, withKey: withKey)
    case .addKey(let merchant, let kind, let scopes, let end): try await addKey(merchant, kind, scopes, until: end)
    case .rotateKey(let merchant, let kind, let seconds, let scopes):
      try await rotateKey(merchant, kind, scopes, overlap: .seconds(seconds))
    case .revokeKey(let merchant, let kind, let id): try await revokeKey(merchant, kind, id)
    case .listKeys(let merchant): try await keys(of: merchant)
    case .reseal: try await reseal()
    case .sealing: try await countSealed()
    case .publishTerms(let version, let wording, let seconds): try await publishTerms(version, wording, grace: seconds)
    case .acceptTerms(let merchant, let version, let actor): try await note(.accepted, version, merchant, actor)
    case .unsubscribe(let merchant, let actor): try await note(.unsubscribed, nil, merchant, actor)
    case .showTerms(let merchant): try await terms(of: merchant)
    // The audit chain alone has it.
    case .noteLink: MerchantAnswer()
    }
  }

  /// For reading.
  var store: MerchantStore { get async throws { try await configuration.merchantStore(database, random: random) } }

  /// For calls that keep secrets.
  var storeWithKeys: MerchantStore {
    get async throws { try await configuration.merchantStoreMakingKeys(database, random: random) }
  }

  var keysMayBeElsewhere: Bool { configuration.keyAgentSocket != nil }

  /// - Throws: ``MerchantStoreError`` with `merchant_declared` for a merchant of the configuration, which commands read.
  func requireStored(_ id: String) throws {
    guard isDeclared(id) else { return }
    throw MerchantStoreError(
      .merchantDeclared,
      "\(id) is declared by the folder \(configuration.merchantsDirectory)/\(id), which commands only read. "
        + "Change its files and run `tender reload`, or move the folder elsewhere and import it from there.")
  }

  func isDeclared(_ id: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(configuration.merchantsDirectory)/\(id)/merchant.yaml")
  }

  /// Those of the store, or one: none for a declared merchant.
  ///
  /// - Throws: ``MerchantStoreError`` with `merchant_unknown` for one that is nowhere.
  func storedMerchants(only merchant: String?, at now: Timestamp) async throws -> [StoredMerchant] {
    if let merchant, !isDeclared(merchant) { _ = try await store.read { try $0.merchant(MerchantID(merchant)) } }
    return try await store.merchants(only: merchant.map { MerchantID($0) }, at: now)
  }

  /// One commit on a stored merchant, which the server must be able to serve afterwards, beside all others.
  ///
  /// Its webhook keys may all have ended by themselves: only an endpoint more needs a key then.
  ///
  /// - Parameter isNew: whether the commit makes the merchant.
  /// - Throws: ``MerchantStoreError`` with `merchant_unknown` for a merchant that is nowhere, before anything else.
  @discardableResult
  func change<R: Sendable>(
    _ name: String, _ store: MerchantStore, isNew: Bool = false,
    _ body: @escaping @Sendable (MerchantTables, MerchantID) throws -> R
  ) async throws -> R {
    try requireStored(name)
    let (id, routes, now) = (MerchantID(name), RouteTable.unasked(configuration), clock.now())
    let others = OtherMerchants(configuration)
    return try await store.write { [configuration] tables in
      if !isNew { try tables.requireKnown(id) }
      let (domains, keys) = (try tables.domainNames(of: id), try tables.apiKeys(of: id))
      let former = isNew ? nil : try? MerchantFolder(stored: try tables.merchant(id), configuration, at: now)
      let result = try body(tables, id)
      let folder = try MerchantFolder(stored: try tables.merchant(id), configuration, at: now)
      try folder.requireServable(by: configuration, routes)
      if isNew || former.map({ !$0.webhookKeys.isEmpty || folder.hasEndpoint(besidesThoseOf: $0) }) == true {
        try folder.requireWebhookKey(at: "store/\(id)")
      }
      try others.require(domains: try tables.domainNames(of: id).subtracting(domains))
      for key in try tables.apiKeys(of: id).subtracting(keys) {
        let other = try tables.owner(ofAPIKey: key, but: id) ?? others.apiKeys[key]
        if let other { throw SharedSecrets.repeated(key, of: id, and: other, in: nil) }
      }
      return result
    }
  }
}

// Merchants.
extension MerchantAdministration {
  private func export(_ merchant: String) async throws -> MerchantAnswer {
    try requireStored(merchant)
    return MerchantAnswer(bundle: MerchantBundle(try await store.read { try $0.merchant(MerchantID(merchant)) }))
  }

  private func setEnabled(_ isEnabled: Bool, _ merchant: String, _ domain: String?) async throws -> MerchantAnswer {
    let domain = try domain.map { try Domain(typed: $0) }
    try await change(merchant, try store) { try $0.setEnabled(isEnabled, $1, domain: domain) }
    return await readBack(merchant)
  }

  private func signer(of merchant: String) async throws -> SignerReport {
    let (now, id) = (clock.now(), MerchantID(merchant))
    let served = try await readServed(only: id)
    try served.requireDeclared()
    guard let folder = served.folders.first(where: { $0.merchant.id == id }) else {
      throw MerchantStoreError(
        .merchantUnknown, "There is no merchant \(merchant) here; `tender merchant list` shows them.")
    }
    let key = folder.apiKeys.sorted { $0.key < $1.key }.first { id, _ in
      let limits = folder.apiKeyLimits[id] ?? .none
      return limits.allows(oneOf: [.payments]) && limits.expiresAt.map { now < $0 } ?? true
    }
    guard let key else {
      throw MerchantStoreError(.secretUnknown, "\(merchant) has no API key that may make payments: add one.")
    }
    return SignerReport(
      keyID: key.key, secret: key.value, currency: folder.profile.currency, publicURL: configuration.publicURL)
  }

  private func add(_ bundle: MerchantBundle) async throws -> MerchantAnswer {
    try bundle.check()
    try requireStored(bundle.id)
    let states = Dictionary(
      try await ProcessingKeyStore(database).records().filter { $0.owner == bundle.id }.map {
        ($0.publicKeyHash, $0.state)
      },
      uniquingKeysWith: { $1 })
    let (environment, now) = (configuration.environment, clock.now())
    let settings = try MerchantSettings(yaml: bundle.settings, of: bundle.id)
    try await settings.requireCallable(by: configuration.destinations)
    let identifier = try MerchantIdentifier(settings.merchantIdentifier)
    let (store, elsewhere) = (try await storeWithKeys, keysMayBeElsewhere)
    let others = try await change(bundle.id, store, isNew: true) { tables, id in
      try tables.insert(id, settings: bundle.settings, isEnabled: bundle.enabled)
      try tables.keep(bundle.domains, of: id)
      for entry in bundle.certificates {
        let certificate = try AppleCertificate(in: CertificateFile(Array(entry.certificatePEM.utf8)).certificates)
        try certificate.require(entry.kind, of: identifier, in: environment, at: max(now, certificate.notBefore))
        try tables.keep(
          certificate, entry.privateKeyPEM, of: id, elsewhere, states[Hex.encode(certificate.publicKeyHash)])
      }
      for entry in bundle.secrets {
        try tables.keep(
          entry.secret, as: SecretName(id, entry.kind, entry.id), within: try entry.limits,
          isReplaced: entry.replaced == true)
      }
      return try tables.note(identifier, in: environment)
    }
    return await readBack(bundle.id, notes: others.map { warning(identifier, $0) })
  }

  /// Its payments, their audit trail and what it said of the terms stay.
  private func remove(_ merchant: String) async throws -> MerchantAnswer {
    try requireStored(merchant)
    let id = MerchantID(merchant)
    let registered = try await store.write { tables in
      let domains = try tables.merchant(id).domains.filter { $0.registeredAt != nil }.map(\.domain.name)
      if let open = try Journal.countUnfinished(of: id, in: tables.store) {
        throw MerchantStoreError(
          .merchantHasPayments,
          "\(id) has \(open.count) open payments, such as \(open.first): held, under way, or without an answer. Capture "
            + "or void what is held, wait for the rest, and repeat; `tender merchant disable` stops new ones.")
      }
      try tables.remove(id)
      return domains
    }
    let notes = registered.map { "\($0) is still registered with Apple under the platform" }
    return await readBack(notes: notes)
  }

  private func warning(_ identifier: MerchantIdentifier, _ other: TenderPayments.Environment) -> String {
    "\(identifier) was used in \(other.rawValue) too; take an identifier of its own for each environment, "
      + "so that a test never reaches what production holds"
  }

  /// Bytes of one value.
  private static let longestSetting = 16_384

  private func edit(_ merchant: String, _ settings: [String: String]) async throws -> MerchantAnswer {
    let table = SettingsTable.merchant
    let elsewhere = [
      "domains": "domains are added by tender domain add",
      "signingKeys": "in the store the newest keys sign; tender secret add and rotate make one",
    ]
    for key in settings.keys.sorted() where !table.contains(key) || elsewhere[key] != nil {
      throw ConfigurationError(key, elsewhere[key] ?? "there is no such setting\(table.advice(for: key))")
    }
    for (key, text) in settings where text.utf8.count > Self.longestSetting {
      throw ConfigurationError(key, "there are \(text.utf8.count) bytes; write at most \(Self.longestSetting)")
    }
    for setting in table.settings where setting.isRequired && settings[setting.key]?.isEmpty == true {
      throw ConfigurationError(setting.key, "a merchant needs it; give it a value, such as \(setting.example)")
    }
    let named = try table.read([table.typed(settings.filter { !$0.value.isEmpty })]).settings
    try await named.requireCallable(by: configuration.destinations)
    try await change(merchant, try store) { tables, id in
      let (stored, keys) = (try tables.merchant(id), try tables.apiKeys(of: id))
      for key in named.keysRequiringDigest + named.apiKeyLimits.map(\.id) where !keys.contains(key) {
        throw MerchantStoreError(.secretUnknown, "\(merchant) has no API key \(key); `tender secret list` shows them.")
      }
      if settings["apiKeyLimits"] != nil { try Self.require(named.apiKeyLimits, keepEndsOf: stored, clock.now()) }
      var values = try table.yaml(stored.settings, of: merchant).values
      values.merge(table.typed(settings).values) { $1 }
      try tables.update(id, settings: table.document(SettingsSource(values: values)), after: stored.version)
    }
    let networks = named.networkWarnings.map { "supportedNetworks: \($0)" }
    return await readBack(merchant, notes: networks + unknownRoutes(of: named.routes))
  }

  /// What becomes of rules whose route is not configured here. Other nodes may have it.
  private func unknownRoutes(of rules: [RouteRule]) -> [String] {
    guard !rules.isEmpty, let known = try? configuration.routeNames() else { return [] }
    return Set(rules.map { "\($0.route)" }).subtracting(known).sorted().map { route in
      "there is no route \(route) here; there are: \(known.isEmpty ? "none" : known.joined(separator: ", ")). "
        + "Its rules are skipped: payments take the next rule's route, or are refused."
    }
  }

  /// Beside the other endpoints as they are in the store. One without a name keeps that which its place gives it.
  private func setEndpoint(_ name: String, _ url: String, of merchant: String) async throws -> MerchantAnswer {
    let table = SettingsTable.merchant
    if !url.isEmpty {
      let named = try table.read([table.typed(["webhooks": "\(name)=\(url)"])]).settings
      try await named.requireCallable(by: configuration.destinations)
    }
    try await change(merchant, try store) { tables, id in
      let stored = try tables.merchant(id)
      var endpoints = try MerchantSettings(yaml: stored.settings, of: merchant).webhooks.enumerated().map {
        EndpointName.split($1, at: $0)
      }
      if let place = endpoints.firstIndex(where: { $0.id.utf8.elementsEqual(name.utf8) }) {
        endpoints[place].url = url
      } else {
        endpoints.append((name, url))
      }
      var values = try table.yaml(stored.settings, of: merchant).values
      let texts = endpoints.filter { !$0.url.isEmpty }.map { "\($0.id)=\($0.url)" }
      values["webhooks"] = WrittenValue(.list(texts.map { .text($0) }), place: "webhooks")
      try tables.update(id, settings: table.document(SettingsSource(values: values)), after: stored.version)
    }
    return await readBack(merchant)
  }

  /// The merchant, or all of them, after a change. The change holds also where they cannot be read.
  private func readBack(_ merchant: String? = nil, notes: [String] = []) async -> MerchantAnswer {
    do {
      return MerchantAnswer(merchants: try await reports(only: merchant.map { MerchantID($0) }), notes: notes)
    } catch {
      let subject = merchant == nil ? "the merchants" : "the merchant"
      return MerchantAnswer(notes: notes + ["the change is made, but \(subject) cannot be read: \(error)"])
    }
  }

  func readServed(only: MerchantID? = nil) async throws -> ServedMerchants {
    try await ServedMerchants(configuration, database, RouteTable.unasked(configuration), only: only, at: clock.now())
  }

  /// Declared merchants and stored ones, or one of them, as a server of the configuration would serve them now.
  func reports(only: MerchantID? = nil) async throws -> [StoredMerchantReport] {
    let (served, now) = (try await readServed(only: only), clock.now())
    return served.folders.map { StoredMerchantReport($0, at: now) }
      + served.leftOut.map { StoredMerchantReport($0, origin: "store") }
      + served.notRead.map { StoredMerchantReport($0, origin: "folder") }
  }
}

extension SettingsTable {
  /// As a person types them: a list with commas, nothing for the default.
  fileprivate func typed(_ texts: [String: String]) -> SettingsSource {
    let named = settings.compactMap { setting in
      texts[setting.key].map { (setting.key, Self.value(of: $0, isList: setting.isList, place: setting.key)) }
    }
    return SettingsSource(values: Dictionary(uniqueKeysWithValues: named))
  }
}

extension MerchantTables {
  fileprivate func keep(_ domains: [MerchantBundle.DomainEntry], of id: MerchantID) throws {
    for entry in domains {
      let domain = try Domain(entry.domain)
      let file = try entry.associationBase64.flatMap { Base64.decode($0) }.map { try DomainAssociation(bytes: $0) }
      try insert(domain, of: id, association: file)
      if !entry.enabled { try setEnabled(false, id, domain: domain) }
    }
  }

  /// - Parameter state: of the key as payment tokens have proved it before; nil where none came.
  fileprivate func keep(
    _ certificate: AppleCertificate, _ key: String?, of id: MerchantID, _ elsewhere: Bool, _ state: String?
  ) throws {
    _ = try keep(certificate, of: id, privateKeyPEM: key, mayBeWithoutKey: elsewhere)
    guard let state = state.flatMap(CertificateState.init(rawValue:)) else { return }
    try follow(state, of: certificate.publicKeyHash, merchant: id)
  }
}

extension MerchantFolder {
  fileprivate func hasEndpoint(besidesThoseOf former: MerchantFolder) -> Bool {
    !Set(webhooks.map(\.id)).isSubset(of: former.webhooks.map(\.id))
  }

  /// The merchants of a configuration whose store was not made yet.
  package static func reports(_ configuration: ServerConfiguration) async throws -> [StoredMerchantReport] {
    let now = WallClock.system.now()
    return try await load(configuration, at: now).map { StoredMerchantReport($0, at: now) }
  }
}

extension ServerPlaceReport {
  fileprivate init(_ configuration: ServerConfiguration) {
    self.init(publicURL: configuration.publicURL, sandboxURL: configuration.sandboxURL)
  }
}

extension StoredMerchantReport {
  init(_ folder: MerchantFolder, at now: Timestamp) {
    id = folder.merchant.id.rawValue
    merchantIdentifier = folder.merchant.identifier.text
    if case .stored = folder.origin { origin = "store" } else { origin = "folder" }
    enabled = folder.availability.isEnabled
    refusal = folder.availability.refusal(at: now)?.rawValue
    (problem, notReady) = (nil, folder.notReady)
    domains = folder.merchant.sites.map { $0.domain.name + ($0.isEnabled ? "" : " (off)") }
    certificates = MerchantReport(folder.merchant).certificates
  }

  init(_ merchant: LeftOutMerchant, origin: String) {
    (id, merchantIdentifier, self.origin, enabled) = (merchant.id, "", origin, false)
    (refusal, problem, notReady) = ("merchant_not_served", merchant.reason, nil)
    (domains, certificates) = ([], [])
  }
}
