import HTTPTypes
import MerchantIdentity
import Orders
import TenderPayments

/// Merchant sessions of Apple's gateway, each asked for in the name of one merchant and counted.
struct MerchantSessions: Sendable {
  let directory: MerchantDirectory
  /// One a merchant: it presents that merchant's identity certificate, or the platform's.
  let validators: [MerchantID: MerchantValidator]
  /// Merchants that Apple knows by the platform's name for them.
  let partners: [MerchantID: PartnerMerchant]
  let availability: [MerchantID: MerchantAvailability]
  let clock: WallClock
  let metrics: Metrics

  /// The session of one payment sheet.
  ///
  /// - Parameter request: where the sheet opens.
  func session(
    of id: MerchantID, for request: (Merchant) throws -> MerchantSessionRequest
  ) async throws -> MerchantSession {
    try requireAvailable(id)
    guard let merchant = directory[id], let validator = validators[id] else {
      throw Problem(.conflict, "identity_missing", "The merchant has no identity certificate on this server.")
    }
    let own = try request(merchant)
    let request = partners[id].map(own.naming) ?? own
    try Self.requireEnabled(request, merchant)
    do {
      let session = try await validator.session(for: request)
      metrics.merchantSessions.count(["outcome": "ok"])
      return session
    } catch {
      metrics.merchantSessions.count(["outcome": error.code.rawValue])
      throw error
    }
  }
}

extension MerchantSessions {
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
    validators = try Self.validators(parts)
    partners = Dictionary(
      uniqueKeysWithValues: parts.folders.compactMap { folder in folder.partner.map { (folder.merchant.id, $0) } })
    availability = Dictionary(uniqueKeysWithValues: parts.folders.map { ($0.merchant.id, $0.availability) })
    clock = parts.runtime.clock
    metrics = parts.metrics
  }

  /// One for each merchant that has an identity certificate, which its connections to Apple present. Merchants that
  /// the platform has registered use the platform's.
  private static func validators(_ parts: Composition) throws -> [MerchantID: MerchantValidator] {
    var validators: [MerchantID: MerchantValidator] = [:]
    let platform = try parts.configuration.platformDirectory.flatMap {
      try PlatformFolder.identity($0, at: parts.runtime.clock.now())
    }
    for folder in parts.folders {
      guard let identity = folder.partner == nil ? folder.merchant.identity : platform else { continue }
      let sender = try parts.runtime.network.identified(identity.clientIdentity, parts.apple.gatewayRoots)
      validators[folder.merchant.id] = MerchantValidator(
        sender: parts.traces?.tracing(sender) ?? sender,
        gateway: parts.apple.hosts.gateway(for: folder.profile.region))
    }
    return validators
  }
}
