import Administration
import HTTPTypes
import MerchantIdentity
import Orders
import Settings
import Telemetry
import TenderPayments

/// Merchant sessions of Apple's gateway, each asked for in the name of one merchant and counted.
struct MerchantSessions: Sendable {
  let merchants: LiveMerchants
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
    let served = merchants.current[id]
    if let code = served?.folder.availability.refusal(at: clock.now()) {
      throw OrderError(code, "the merchant \(id) takes no Apple Pay")
    }
    let access = served?.appleAccess(onHostedPage: isHosted)
    guard let merchant = served?.folder.merchant, let validator = access?.validator else {
      throw Problem(.conflict, "identity_missing", "The merchant has no identity certificate on this server.")
    }
    let own = try request(merchant)
    let request = access?.partner.map(own.naming) ?? own
    try Self.requireEnabled(request, merchant)
    return try await quotas.session(of: basket, id) {
      do throws(MerchantSessionError) {
        let session = try await trace(.merchantSession, .merchant(id)) {
          () async throws(MerchantSessionError) -> MerchantSession in try await validator.session(for: request)
        }
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
  /// A domain may be switched off while the merchant's others are on.
  private static func requireEnabled(_ request: MerchantSessionRequest, _ merchant: Merchant) throws {
    let sites = merchant.sites.filter { $0.domain.host.utf8.elementsEqual(request.initiativeContext.utf8) }
    guard request.initiative == .web, !sites.isEmpty, sites.allSatisfy({ !$0.isEnabled }) else { return }
    throw OrderError(.applePayDisabled, "Apple Pay is switched off for \(request.initiativeContext)")
  }

  init(_ parts: Composition) {
    merchants = parts.merchants
    clock = parts.runtime.clock
    metrics = parts.metrics
    quotas = parts.quotas
  }
}
