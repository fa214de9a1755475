import MerchantIdentity
import TenderPayments
public import Webhooks

/// Where a merchant's webhooks go, and under which key: `webhooks` in `merchant.yaml`, and
/// `webhook-keys/<key id>.secret` beside it.
enum MerchantWebhooks {
  static let maximumURLs = 5

  static func endpoints(_ urls: [String], _ path: String) throws -> [WebhookEndpoint] {
    guard !urls.isEmpty else { return [] }
    guard let key = try key(at: path) else {
      throw ConfigurationError(
        path + "/webhook-keys", "webhooks are signed: write a secret of your choice into webhook-keys/<key id>.secret")
    }
    return urls.map { WebhookEndpoint(url: $0, key: key) }
  }

  /// The key whose id comes last, so that a new one takes over by being laid beside the old.
  static func key(at path: String) throws -> WebhookKey? {
    try SharedSecrets.read(in: path + "/webhook-keys").max { $0.key < $1.key }
      .map { WebhookKey(id: $0.key, secret: $0.value) }
  }

  /// A URL that could never be called is refused at the start, not at the first payment.
  static func judge(_ folders: [MerchantFolder], allowsPrivate: Bool) throws {
    for folder in folders {
      for endpoint in folder.webhooks {
        do throws(DestinationRefusal) {
          try DestinationGuard.host(of: endpoint.url, allowsPlain: allowsPrivate)
        } catch {
          throw ConfigurationError("merchant \(folder.merchant.id): webhooks", "\(endpoint.url) \(error.words)")
        }
      }
    }
  }
}

extension MerchantFolder {
  /// The merchant's id, and the key that its webhooks are signed with.
  public static func webhookKey(at path: String) throws -> WebhookKey? { try MerchantWebhooks.key(at: path) }
}
