import MerchantIdentity
import Storage
import TenderPayments
package import Webhooks

/// Where a merchant's webhooks go, and under which key: `webhooks` in `merchant.yaml`, and
/// `webhook-keys/<key id>.secret` beside it.
package enum MerchantWebhooks {
  static let maximumURLs = 5

  /// - Parameter path: the merchant's folder.
  static func endpoints(_ settings: MerchantSettings, _ path: String) throws -> [WebhookEndpoint] {
    let key = try key(at: path)
    let endpoints = try endpoints(settings, key, path)
    try requireKey(key, for: endpoints, path)
    return endpoints
  }

  /// - Parameters:
  ///   - key: signs the webhooks. Without one the endpoints' events wait: the keys of a stored merchant may all have
  ///     ended.
  ///   - path: for messages.
  static func endpoints(
    _ settings: MerchantSettings, _ key: WebhookKey?, _ path: String
  ) throws -> [WebhookEndpoint] {
    let named = settings.webhooks.enumerated().map { EndpointName.split($1, at: $0) }
    try checkNames(settings.webhooksWithOrder, of: "webhooksWithOrder", among: named.map(\.id), path)
    try checkNames(settings.standardWebhooks, of: "standardWebhooks", among: named.map(\.id), path)
    guard !named.isEmpty else { return [] }
    guard Set(named.map(\.url)).count == named.count, Set(named.map(\.id)).count == named.count else {
      throw ConfigurationError("\(path)/merchant.yaml", "webhooks has a URL or a name twice; write each once")
    }
    let (withOrder, standard) = (Set(settings.webhooksWithOrder), Set(settings.standardWebhooks))
    return named.map {
      WebhookEndpoint(
        id: $0.id, url: $0.url, key: key, includesOrder: withOrder.contains($0.id),
        signature: standard.contains($0.id) ? .standard : .worldline)
    }
  }

  static func requireKey(_ key: WebhookKey?, for endpoints: [WebhookEndpoint], _ path: String) throws {
    if let key {
      guard endpoints.allSatisfy({ key.canSign(for: $0.signature) }) else {
        throw ConfigurationError(
          path + "/webhook-keys",
          "\(key.id).secret signs for standardWebhooks, so it has to be base64 of 24 to 64 bytes")
      }
      return
    }
    guard !endpoints.isEmpty else { return }
    throw ConfigurationError(
      path + "/webhook-keys",
      "webhooks are signed: write a secret of your choice into webhook-keys/<key id>.secret; in the store, "
        + "`tender secret add --kind webhook` makes one")
  }

  private static func checkNames(
    _ names: [String], of setting: String, among endpoints: [String], _ path: String
  ) throws {
    for name in names where !endpoints.contains(name) {
      throw ConfigurationError(
        "\(path)/merchant.yaml", "\(setting): webhooks has no endpoint “\(name)”; name one there as name=URL")
    }
  }

  static func key(at path: String) throws -> WebhookKey? {
    try secret(at: path).map { WebhookKey(id: $0.key, secret: $0.value) }
  }

  fileprivate static func secret(at path: String) throws -> (key: String, value: String)? {
    SharedSecrets.signing(try SharedSecrets.read(in: path + "/webhook-keys"))
  }

  /// A URL that could never be called is refused before it is served, not at the first payment.
  static func validate(_ folder: MerchantFolder, allowsPrivate: Bool) throws {
    for endpoint in folder.webhooks {
      do throws(DestinationRefusal) {
        try DestinationGuard.host(of: endpoint.url, allowsPlain: allowsPrivate)
      } catch {
        throw ConfigurationError("merchant \(folder.merchant.id): webhooks", "\(endpoint.url) \(error.words)")
      }
    }
  }
}

extension MerchantFolder {
  /// Refuses endpoints without a key that signs for them.
  ///
  /// - Parameter place: for messages.
  package func requireWebhookKey(at place: String) throws {
    try MerchantWebhooks.requireKey(webhookKey, for: webhooks, place)
  }

  /// The key that the merchant's webhooks are signed with.
  package static func webhookKey(at path: String) throws -> WebhookKey? { try MerchantWebhooks.key(at: path) }

  /// The webhook secret for a merchant's server that verifies webhooks.
  package static func webhookSecret(at path: String) throws -> String? { try MerchantWebhooks.secret(at: path)?.value }
}

extension ServerConfiguration {
  /// What the server calls on a merchant's word.
  package var destinations: DestinationGuard {
    DestinationGuard(allowsPrivate: allowsPrivateWebhooks, namesToProxy: outbound.namesToProxy)
  }
}
