import Administration
import HTTPTypes
import MerchantIdentity
import Orders
import Settings
import TenderPayments

/// Merchant sessions of Apple's gateway, each asked for in the name of one merchant and counted.
struct MerchantSessions: Sendable {
  let directory: MerchantDirectory
  /// One a merchant: it presents that merchant's identity certificate, or the platform's.
  let validators: [MerchantID: MerchantValidator]
  /// Merchants that Apple knows by the platform's name for them.
  let partners: [MerchantID: PartnerMerchant]
  /// On the platform's own page: merchants that its key serves, by its name for them.
  let hostedPartners: [MerchantID: PartnerMerchant]
  /// Presents the platform's identity certificate, for each merchant of ``hostedPartners``.
  let hostedValidators: [MerchantID: MerchantValidator]
  let availability: [MerchantID: MerchantAvailability]
  let clock: WallClock
  let metrics: Metrics
  let quotas: Quotas

  /// The session of one payment sheet.
  ///
  /// - Parameters:
  ///   - basket: nil for one that the merchant's server asks for.
  ///   - isHosted: whether the page is the platform's own, where the platform vouches for the merchants it serves.
  ///   - request: where the sheet opens.
  func session(
    of id: MerchantID, basket: BasketID?, onHostedPage isHosted: Bool = false,
    for request: (Merchant) throws -> MerchantSessionRequest
  ) async throws -> MerchantSession {
    try requireAvailable(id)
    guard let merchant = directory[id], let validator = validator(of: id, onHostedPage: isHosted) else {
      throw Problem(.conflict, "identity_missing", "The merchant has no identity certificate on this server.")
    }
    let own = try request(merchant)
    let request = partner(of: id, onHostedPage: isHosted).map(own.naming) ?? own
    try Self.requireEnabled(request, merchant)
    return try await quotas.session(of: basket, id) {
      do throws(MerchantSessionError) {
        let session = try await validator.session(for: request)
        metrics.merchantSessions.count(["outcome": "ok"])
        return session
      } catch {
        metrics.merchantSessions.count(["outcome": error.code.rawValue])
        throw error
      }
    }
  }
}

extension MerchantSessions {
  func partner(of id: MerchantID, onHostedPage isHosted: Bool) -> PartnerMerchant? {
    isHosted ? hostedPartners[id] ?? partners[id] : partners[id]
  }

  func validator(of id: MerchantID, onHostedPage isHosted: Bool) -> MerchantValidator? {
    isHosted ? hostedValidators[id] ?? validators[id] : validators[id]
  }

  private func requireAvailable(_ id: MerchantID) throws {
    guard let code = availability[id]?.refusal(at: clock.now()) else { return }
    throw OrderError(code, "the merchant \(id) takes no Apple Pay")
  }

  /// A domain may be switched off while the merchant's others are on.
  private static func requireEnabled(_ request: MerchantSessionRequest, _ merchant: Merchant) throws {
    let sites = merchant.sites.filter { $0.domain.host.utf8.elementsEqual(request.initiativeContext.utf8) }
    guard request.initiative == .web, !sites.isEmpty, sites.allSatisfy({ !$0.isEnabled }) else { return }
    throw OrderError(.applePayDisabled, "Apple Pay is switched off for \(request.initiativeContext)")
  }

  init(_ parts: Composition) throws {
    directory = parts.directory
    let platform = parts.platform.identity
    validators = try Self.validators(parts, platform)
    let served = platform == nil ? [] : parts.folders.filter { $0.partner != nil || $0.profile.encryptsToPlatform }
    hostedPartners = Dictionary(
      uniqueKeysWithValues: try served.map { ($0.merchant.id, try $0.partner ?? $0.asPartner()) })
    hostedValidators =
      try platform.map { identity in
        try Dictionary(uniqueKeysWithValues: served.map { ($0.merchant.id, try Self.validator(parts, identity, $0)) })
      } ?? [:]
    partners = Dictionary(
      uniqueKeysWithValues: parts.folders.compactMap { folder in folder.partner.map { (folder.merchant.id, $0) } })
    availability = Dictionary(uniqueKeysWithValues: parts.folders.map { ($0.merchant.id, $0.availability) })
    clock = parts.runtime.clock
    metrics = parts.metrics
    quotas = parts.quotas
  }

  /// One for each merchant that has an identity certificate, which its connections to Apple present. Merchants that
  /// the platform has registered use the platform's.
  private static func validators(
    _ parts: Composition, _ platform: MerchantIdentityCertificate?
  ) throws -> [MerchantID: MerchantValidator] {
    var validators: [MerchantID: MerchantValidator] = [:]
    for folder in parts.folders {
      guard let identity = folder.partner == nil ? folder.merchant.identity : platform else { continue }
      validators[folder.merchant.id] = try validator(parts, identity, folder)
    }
    return validators
  }

  private static func validator(
    _ parts: Composition, _ identity: MerchantIdentityCertificate, _ folder: MerchantFolder
  ) throws -> MerchantValidator {
    let sender = try parts.runtime.network.identified(identity.clientIdentity, parts.apple.gatewayRoots)
    return MerchantValidator(
      sender: parts.traces?.tracing(sender) ?? sender,
      gateway: parts.apple.hosts.gateway(for: folder.profile.region))
  }
}
