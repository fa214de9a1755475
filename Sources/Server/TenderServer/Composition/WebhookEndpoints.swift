import MerchantIdentity
import Settings
import Synchronization
import TenderPayments
import Webhooks

/// Where each merchant's webhooks go, as the folders said when they were read last.
final class WebhookEndpoints: Sendable {
  private struct Entry {
    let endpoints: [WebhookEndpoint]
    let key: WebhookKey?
  }

  private let byMerchant: Mutex<[MerchantID: Entry]>

  init(_ folders: [MerchantFolder]) { byMerchant = Mutex(Self.byMerchant(folders)) }

  subscript(_ merchant: MerchantID) -> [WebhookEndpoint]? { byMerchant.withLock { $0[merchant]?.endpoints } }

  /// The names of every merchant's endpoints, each once, in order.
  var names: [String] {
    byMerchant.withLock { Set($0.values.flatMap { $0.endpoints.map(\.id) }).sorted() }
  }

  /// What the merchant's webhooks are signed with.
  func key(of merchant: MerchantID) -> WebhookKey? { byMerchant.withLock { $0[merchant]?.key } }

  func replace(with folders: [MerchantFolder]) {
    let new = Self.byMerchant(folders)
    byMerchant.withLock { $0 = new }
  }

  private static func byMerchant(_ folders: [MerchantFolder]) -> [MerchantID: Entry] {
    Dictionary(
      uniqueKeysWithValues: folders.map {
        ($0.merchant.id, Entry(endpoints: $0.webhooks, key: $0.webhookKey))
      })
  }
}
