import MerchantIdentity
import Settings
import TenderPayments

/// An API key: its secret, whose it is, and what calls under it must carry.
struct PlatformKey: Sendable {
  let id: String
  let secret: String
  let merchant: MerchantID
  /// Whether a body without ``ContentDigest/header`` is refused.
  let isDigestRequired: Bool
  /// What it may be used for, and until when.
  let limits: APIKeyLimits

  /// The keys of a merchant.
  static func all(of folder: MerchantFolder) -> [PlatformKey] {
    folder.apiKeys.map { id, secret in
      PlatformKey(
        id: id, secret: secret, merchant: folder.merchant.id,
        isDigestRequired: folder.profile.keysRequiringDigest.contains(id), limits: folder.apiKeyLimits[id] ?? .none)
    }
  }
}
