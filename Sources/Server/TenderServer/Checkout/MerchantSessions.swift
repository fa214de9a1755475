import HTTPTypes
import MerchantIdentity
import TenderPayments

/// Merchant sessions of Apple's gateway, each asked for in the name of one merchant and counted.
struct MerchantSessions: Sendable {
  let directory: MerchantDirectory
  /// One a merchant: it presents that merchant's identity certificate.
  let validators: [MerchantID: MerchantValidator]
  let metrics: Metrics

  /// The session of one payment sheet.
  ///
  /// - Parameter request: where the sheet opens.
  func session(
    of id: MerchantID, for request: (Merchant) throws -> MerchantSessionRequest
  ) async throws -> MerchantSession {
    guard let merchant = directory[id], let validator = validators[id] else {
      throw Problem(.conflict, "identity_missing", "The merchant has no identity certificate on this server.")
    }
    let request = try request(merchant)
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
  init(_ parts: Composition) throws {
    directory = parts.directory
    validators = try Self.validators(parts)
    metrics = parts.metrics
  }

  /// One for each merchant that has an identity certificate, which its connections to Apple present.
  private static func validators(_ parts: Composition) throws -> [MerchantID: MerchantValidator] {
    var validators: [MerchantID: MerchantValidator] = [:]
    for merchant in parts.directory.merchants {
      guard let identity = merchant.identity else { continue }
      let sender = try parts.runtime.network.identified(identity.clientIdentity, parts.apple.gatewayRoots)
      validators[merchant.id] = MerchantValidator(
        sender: parts.traces?.tracing(sender) ?? sender, gateway: parts.apple.hosts.global)
    }
    return validators
  }
}
