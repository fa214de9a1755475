import DirectWire
import Foundation
import MerchantIdentity
import PlatformAPI
import Settings
import Storage
import TenderPayments
import Webhooks

/// The merchants as the platform API needs them.
struct PlatformMerchants: Sendable {
  private let merchants: LiveMerchants
  private let environment: TenderPayments.Environment
  private let allowsPrivateWebhooks: Bool
  private let clock: WallClock

  init(_ parts: Composition) {
    merchants = parts.merchants
    environment = parts.configuration.environment
    allowsPrivateWebhooks = parts.configuration.allowsPrivateWebhooks
    clock = parts.runtime.clock
  }

  subscript(_ id: MerchantID) -> PlatformMerchant? {
    folder(id).map { folder in
      var merchant = PlatformMerchant(
        id: id, displayName: folder.merchant.displayName.text, countryCode: folder.profile.countryCode,
        currency: folder.profile.currency, networks: folder.profile.networks,
        takesUnsignedData: environment != .production || folder.profile.takesUnsignedData,
        refusalOfWebhook: { refusal(of: $0, folder) })
      merchant.refusal = folder.availability.refusal(at: clock.now())
      return merchant
    }
  }

  /// What payment tokens name where devices encrypt to the platform's key.
  func applicationData(of id: MerchantID) -> [UInt8]? { folder(id)?.platformDomains.first.map { Array($0.utf8) } }

  /// Whether this is the signature of an empty body under the merchant's webhook key of this id.
  func isWebhookKey(_ key: String, _ signature: String, of id: MerchantID) -> Bool {
    let keys = folder(id)?.webhookKeys ?? [:]
    guard let secret = keys.first(where: { Array($0.key.utf8) == Array(key.utf8) })?.value else { return false }
    return WebhookSignature(secret: secret).isValid(signature, for: [])
  }

  private func folder(_ id: MerchantID) -> MerchantFolder? { merchants.current[id]?.folder }

  private func refusal(of url: String, _ folder: MerchantFolder) -> String? {
    guard !folder.webhookKeys.isEmpty else { return "The merchant has no webhook key to sign with." }
    do throws(DestinationRefusal) {
      try DestinationGuard.host(of: url, allowsPlain: allowsPrivateWebhooks)
      return nil
    } catch {
      return error.words
    }
  }
}
