import ApplePayToken
import Mail
import MerchantIdentity
import Settings
import Synchronization
import TenderPayments

/// What the merchants want of mail and what of theirs expires, as they were read last.
final class MailMerchants: Sendable {
  private let byID: Mutex<[MerchantID: MailMerchant]>

  init(_ folders: [MerchantFolder]) { byID = Mutex(Self.byID(folders)) }

  subscript(_ merchant: MerchantID) -> MailMerchant? { byID.withLock { $0[merchant] } }
  var all: [MailMerchant] { byID.withLock { $0.values.sorted { $0.id.rawValue < $1.id.rawValue } } }

  func replace(with folders: [MerchantFolder]) {
    let new = Self.byID(folders)
    byID.withLock { $0 = new }
  }

  private static func byID(_ folders: [MerchantFolder]) -> [MerchantID: MailMerchant] {
    Dictionary(uniqueKeysWithValues: folders.map { ($0.merchant.id, MailMerchant($0)) })
  }
}

/// A merchant as far as mail goes.
struct MailMerchant: Sendable {
  let id: MerchantID
  let mail: MerchantMail
  let brand: MailBrand
  /// Its certificates that are in use and end.
  let certificates: [ExpiringThing]
  let sites: [Merchant.Site]

  init(_ folder: MerchantFolder) {
    (id, mail, brand) = (folder.merchant.id, folder.mail, folder.brand)
    sites = folder.merchant.sites
    certificates = Self.certificates(folder)
  }

  /// The certificate of each kind that ends last: the end of an earlier one stops nothing.
  private static func certificates(_ folder: MerchantFolder) -> [ExpiringThing] {
    let merchant = folder.merchant
    let processing =
      merchant.processing.map { (Hex.encode($0.publicKeyHash), $0.notAfter) }
      + folder.certificatesOfKeysElsewhere.map { (Hex.encode($0.publicKeyHash), $0.notAfter) }
    let identity = merchant.identity.map { ("identity of \(merchant.id)", $0.notAfter) }
    return [
      (ExpiringThing.Kind.identity, identity), (.processing, processing.max { $0.1 < $1.1 }),
    ].compactMap { kind, found in
      found.map { ExpiringThing(kind, of: merchant.id, named: merchant.id.rawValue, identity: $0.0, end: $0.1) }
    }
  }
}
