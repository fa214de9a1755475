import MerchantIdentity
import Synchronization
import TenderPayments
import Webhooks

/// Where each merchant's webhooks go, as the folders said when they were read last.
final class WebhookEndpoints: Sendable {
  private let byMerchant: Mutex<[MerchantID: [WebhookEndpoint]]>

  init(_ folders: [MerchantFolder]) { byMerchant = Mutex(Self.byMerchant(folders)) }

  subscript(_ merchant: MerchantID) -> [WebhookEndpoint]? { byMerchant.withLock { $0[merchant] } }

  func replace(with folders: [MerchantFolder]) {
    let new = Self.byMerchant(folders)
    byMerchant.withLock { $0 = new }
  }

  private static func byMerchant(_ folders: [MerchantFolder]) -> [MerchantID: [WebhookEndpoint]] {
    Dictionary(uniqueKeysWithValues: folders.map { ($0.merchant.id, $0.webhooks) })
  }
}
