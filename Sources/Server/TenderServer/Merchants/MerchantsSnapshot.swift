import Acquiring
import MerchantIdentity
import Orders
import Settings
import TenderPayments

/// All merchants as they were read at one moment, each with everything that calls need of it. It never changes: a reload
/// makes another.
final class MerchantsSnapshot: Sendable {
  /// With those that cannot be served.
  let served: ServedMerchants
  let platform: ServedPlatform
  /// Tells whether the merchants in the store have changed since.
  let fingerprint: MerchantStore.Fingerprint
  /// By domain.
  let directory: MerchantDirectory
  /// The API keys of all merchants, by id.
  let apiKeys: [String: PlatformKey]
  private let byID: [MerchantID: ServedMerchant]

  init(
    _ served: ServedMerchants, _ platform: ServedPlatform, _ fingerprint: MerchantStore.Fingerprint,
    in environment: TenderPayments.Environment,
    _ validator: (MerchantIdentityCertificate, MerchantFolder) throws -> MerchantValidator
  ) throws {
    let merchants = try served.folders.map { try ServedMerchant($0, platform.identity, validator) }
    directory = try MerchantDirectory(merchants.map(\.folder.merchant), in: environment)
    apiKeys = Dictionary(served.folders.flatMap(PlatformKey.all(of:)).map { ($0.id, $0) }) { $1 }
    byID = Dictionary(uniqueKeysWithValues: merchants.map { ($0.folder.merchant.id, $0) })
    self.served = served
    self.platform = platform
    self.fingerprint = fingerprint
  }

  var folders: [MerchantFolder] { served.folders }

  /// Also of those that cannot be served.
  var allIDs: [MerchantID] { served.allIDs }

  subscript(_ id: MerchantID) -> ServedMerchant? { byID[id] }

  /// Those of a merchant that is not here have nothing in them.
  func terms(of id: MerchantID) -> MerchantTerms { self[id]?.terms ?? MerchantTerms() }

  func routing(of id: MerchantID) -> MerchantRouting { self[id]?.routing ?? MerchantRouting() }
}
