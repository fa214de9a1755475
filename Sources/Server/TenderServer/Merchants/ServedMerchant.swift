import Acquiring
import HostedCheckout
import MerchantIdentity
import Orders
import Settings

/// One merchant of a snapshot, with what calls need of it.
final class ServedMerchant: Sendable {
  /// As whom Apple's gateway is asked for the merchant's sessions.
  struct AppleAccess: Sendable {
    /// Presents the merchant's identity certificate, or the platform's; nil where there is none.
    let validator: MerchantValidator?
    /// The platform's name for the merchant, where Apple knows it by that.
    let partner: PartnerMerchant?
  }

  let folder: MerchantFolder
  /// For its orders.
  let terms: MerchantTerms
  let routing: MerchantRouting
  /// For the platform's own page.
  let hosted: HostedMerchant
  private let own: AppleAccess
  /// On the platform's own page, where the platform vouches for the merchants that its key serves.
  private let onHostedPage: AppleAccess

  /// - Parameter platform: the platform's own identity; nil where it has none.
  init(
    _ folder: MerchantFolder, _ platform: MerchantIdentityCertificate?,
    _ validator: (MerchantIdentityCertificate, MerchantFolder) throws -> MerchantValidator
  ) throws {
    self.folder = folder
    (terms, routing, hosted) = (folder.terms, folder.routing, HostedMerchant(folder))
    let identity = folder.partner == nil ? folder.merchant.identity : platform
    own = AppleAccess(validator: try identity.map { try validator($0, folder) }, partner: folder.partner)
    guard let platform, folder.partner != nil || folder.profile.encryptsToPlatform else {
      onHostedPage = own
      return
    }
    onHostedPage = AppleAccess(
      validator: try validator(platform, folder), partner: try folder.partner ?? folder.asPartner())
  }

  func appleAccess(onHostedPage isHosted: Bool) -> AppleAccess { isHosted ? onHostedPage : own }
}

extension HostedMerchant {
  fileprivate init(_ folder: MerchantFolder) {
    self.init(
      id: folder.merchant.id, name: folder.merchant.displayName.text, countryCode: folder.profile.countryCode,
      locale: folder.profile.locale, regions: folder.profile.hosted.regions,
      frameAncestors: folder.profile.hosted.frameAncestors, variants: folder.variants)
    refusal = folder.availability.refusal
  }
}
