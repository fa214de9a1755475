import Foundation
import HTTPTransport
package import MerchantIdentity
package import Settings
package import TenderPayments

/// The platform's side of Apple's Web Merchant Registration API: its identity and merchant identifier, which lie in
/// `platform.directory` as `identity.pem`, `identity.key` and `merchant.yaml`.
package struct PlatformRegistration: Sendable {
  private let registration: MerchantRegistration
  /// Whose key the payment tokens are encrypted to.
  package let platform: MerchantIdentifier

  /// - Throws: ``ConfigurationError`` for a server that is no platform, or has no identity certificate.
  package init(_ configuration: ServerConfiguration, _ network: Network, at now: Timestamp) async throws {
    guard let directory = configuration.platformDirectory else {
      throw ConfigurationError(
        "platform.directory", "only a platform registers domains by Apple's API; name the folder of its certificates")
    }
    platform = try MerchantIdentifier(try MerchantFolder.names(at: directory).merchantIdentifier)
    guard let identity = try PlatformFolder.identity(directory, at: now) else {
      throw ConfigurationError(directory + "/identity.pem", "is missing; Apple knows the platform by it")
    }
    let apple = try await AppleEnvironment(configuration, network.plain)
    registration = MerchantRegistration(
      sender: try network.identified(identity.clientIdentity, apple.gatewayRoots), gateway: apple.hosts.global)
  }

  /// Registers domains, at most 99 a call.
  package func register(_ domains: [Domain], of merchant: PartnerMerchant) async throws {
    for batch in domains.batches(of: MerchantRegistration.maximumDomains) {
      try await registration.register(batch, of: merchant, encryptTo: platform)
    }
  }

  package func unregister(_ domains: [Domain], of merchant: PartnerMerchant, reason: String) async throws {
    for batch in domains.batches(of: MerchantRegistration.maximumDomains) {
      try await registration.unregister(batch, of: merchant, reason: reason)
    }
  }

  package func details(of merchant: PartnerMerchant) async throws -> RegisteredMerchant? {
    try await registration.details(of: merchant)
  }
}

extension Array {
  fileprivate func batches(of size: Int) -> [[Element]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}
