import ApplePayToken
import Foundation
import MerchantIdentity
import Storage
import TenderPayments

extension MerchantFolder {
  /// Every merchant of a server: those of the configuration, and those of the store.
  ///
  /// - Throws: ``ConfigurationError`` when one is not as it must be, or stands in both.
  static func all(
    _ configuration: ServerConfiguration, _ database: Database, at now: Timestamp
  ) async throws -> [MerchantFolder] {
    let store = try await configuration.merchantStore(database)
    let (rows, terms) = try await store.read { tables in
      (try tables.merchants(at: now), try TermsOfMerchants(tables))
    }
    let elsewhere = configuration.keyAgentSocket != nil
    let isNeeded = rows.isEmpty || FileManager.default.fileExists(atPath: configuration.merchantsDirectory)
    let declared =
      isNeeded
      ? try await all(in: configuration.merchantsDirectory, at: now, keysMayBeElsewhere: elsewhere) : []
    let stored = try rows.map { try MerchantFolder(stored: $0, at: now, keysMayBeElsewhere: elsewhere) }
    if let twice = stored.first(where: { one in declared.contains { $0.merchant.id == one.merchant.id } }) {
      throw ConfigurationError(
        "\(configuration.merchantsDirectory)/\(twice.merchant.id)",
        "the store has a merchant of this id too; move the folder away, or take the merchant out of the store")
    }
    let all = declared + stored
    try SharedSecrets.refuseRepeatedAPIKeys(all, in: configuration.merchantsDirectory)
    return all.map { $0.standing(terms.standing(of: $0.merchant.id)) }
  }

  /// A merchant of the store.
  ///
  /// An identity certificate that has expired is left out, so that the server goes on with the other merchants.
  init(stored: StoredMerchant, at now: Timestamp, keysMayBeElsewhere: Bool) throws {
    let place = "store/\(stored.id)"
    let settings = try MerchantSettings(yaml: stored.settings, of: place + "/merchant.yaml")
    let identifier = try MerchantIdentifier(settings.merchantIdentifier)
    var parts = MerchantParts()
    parts.sites = stored.domains.map {
      Merchant.Site(domain: $0.domain, association: $0.association, isEnabled: $0.isEnabled)
    }
    parts.identity = try stored.identity(identifier, at: now)
    parts.processing = try stored.processing(identifier)
    parts.certificatesOfKeysElsewhere = keysMayBeElsewhere ? try stored.processingAlone() : []
    parts.apiKeys = stored.secrets(.apiKey)
    parts.apiKeyLimits = stored.apiKeyLimits
    parts.callbackKeys = stored.secrets(.callbackKey)
    parts.webhookKeys = stored.secrets(.webhookKey)
    parts.origin = .stored(stored.certificates)
    parts.availability.isEnabled = stored.isEnabled
    if settings.encryptTo == .platform, stored.domains.contains(where: { $0.registeredAt != nil }) {
      parts.partner = try PartnerMerchant(identifier: stored.id.rawValue, name: settings.displayName)
    }
    try self.init(stored.id, settings, parts, at: place)
  }
}

extension StoredMerchant {
  fileprivate func identity(
    _ identifier: MerchantIdentifier, at now: Timestamp
  ) throws -> MerchantIdentityCertificate? {
    let active = certificates.first { $0.kind == .identity && $0.state == .active }
    guard let active, let pem = active.certificate, let key = privateKey(of: active),
      active.expiresAt.map({ now <= $0 }) ?? false
    else { return nil }
    return try MerchantIdentityCertificate(certificatePEM: pem, privateKeyPEM: key, for: identifier, at: now)
  }

  /// The active one comes first, because the first key of a ring is the active one.
  private var opening: [StoredCertificate] {
    let states: [CertificateState] = [.active, .draining, .next]
    return states.flatMap { state in certificates.filter { $0.kind == .processing && $0.state == state } }
  }

  fileprivate func processing(_ identifier: MerchantIdentifier) throws -> [PaymentProcessingCertificate] {
    try opening.compactMap { row in
      guard let pem = row.certificate, let key = privateKey(of: row) else { return nil }
      return try PaymentProcessingCertificate(certificatePEM: pem, privateKeyPEM: key, for: identifier)
    }
  }

  /// Those whose key an agent holds.
  fileprivate func processingAlone() throws -> [ProcessingCertificate] {
    try opening.filter { privateKey(of: $0) == nil }.compactMap(\.certificate).map {
      try ProcessingCertificate(pem: $0)
    }
  }
}

/// What every merchant has said about the terms.
struct TermsOfMerchants: Sendable {
  private let published: [PublishedTerms]
  private let events: [MerchantID: [TermsEvent]]

  init(_ tables: MerchantTables) throws {
    published = try tables.publishedTerms()
    events = try tables.termsEvents()
  }

  func standing(of id: MerchantID) -> TermsStanding { TermsStanding(published, events[id] ?? []) }
}

extension MerchantSettings {
  /// - Parameter place: for messages.
  init(yaml text: String, of place: String) throws {
    let table = SettingsTable.merchant
    let (settings, named) = try table.read([try table.yaml(text, of: place)])
    if let missing = table.missing(in: named) { throw Self.missing(missing, place) }
    self = settings
  }
}
