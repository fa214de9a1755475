import ApplePayToken
package import MerchantIdentity
package import TenderPayments

extension MerchantFolder {
  /// A merchant of the store.
  ///
  /// An identity certificate that has expired is left out, and so is a domain that is the server's own host.
  package init(stored: StoredMerchant, _ configuration: ServerConfiguration, at now: Timestamp) throws {
    let keysMayBeElsewhere = configuration.keyAgentSocket != nil
    let place = "store/\(stored.id)"
    let settings = try MerchantSettings(yaml: stored.settings, of: place + "/merchant.yaml")
    let identifier = try MerchantIdentifier(settings.merchantIdentifier)
    var parts = MerchantParts()
    let ownHosts = configuration.ownHosts
    parts.sites = stored.domains.filter { !ownHosts.contains($0.domain.name) }.map {
      Merchant.Site(domain: $0.domain, association: $0.association, isEnabled: $0.isEnabled)
    }
    parts.identity = try stored.identity(identifier, at: now)
    parts.processing = try stored.processing(identifier)
    parts.certificatesOfKeysElsewhere = keysMayBeElsewhere ? try stored.processingAlone() : []
    parts.apiKeys = stored.secrets(.apiKey)
    parts.apiKeyLimits = stored.apiKeyLimits
    parts.callbackKeys = stored.secrets(.callbackKey)
    parts.webhookKeys = stored.secrets(.webhookKey)
    parts.newestKeys = stored.newestKeys
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
  package init(yaml text: String, of place: String) throws {
    let table = SettingsTable.merchant
    let (settings, named) = try table.read([try table.yaml(text, of: place)])
    if let missing = table.missing(in: named) { throw Self.missing(missing, place) }
    guard !settings.merchantIdentifier.isEmpty else { throw Self.missing(SettingsTable.identifier, place) }
    self = settings
  }
}
