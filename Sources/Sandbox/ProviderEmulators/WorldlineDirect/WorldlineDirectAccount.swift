import HTTPTypes
import TenderPayments

/// A merchant at the emulated Worldline Direct, with its keys.
package struct WorldlineDirectAccount: Sendable, Hashable {
  /// Worldline's name of the merchant, which is a part of every path.
  package let merchantID: String
  package let apiKeyID: String
  package let secretAPIKey: String
  /// Names the key that signs the merchant's events.
  package let webhookKeyID: String
  package let webhookSecret: String

  package init(
    merchantID: String, apiKeyID: String, secretAPIKey: String, webhookKeyID: String, webhookSecret: String
  ) {
    self.merchantID = merchantID
    self.apiKeyID = apiKeyID
    self.secretAPIKey = secretAPIKey
    self.webhookKeyID = webhookKeyID
    self.webhookSecret = webhookSecret
  }

  /// The account of `tender-sandbox`. Its keys open nothing else.
  package static let sandbox = WorldlineDirectAccount(
    merchantID: "TenderSandbox", apiKeyID: "5ANDB0X0D1RECT00", secretAPIKey: "sandbox-worldline-direct-secret",
    webhookKeyID: "sandbox-webhook-key", webhookSecret: "sandbox-worldline-direct-webhook-secret")

  /// What the calls of the sandbox need that stand for the Merchant Portal.
  package var portalAuthorization: String { "Basic " + Base64.encode(Array("\(apiKeyID):\(secretAPIKey)".utf8)) }

  func opensPortal(_ headers: HTTPFields) -> Bool { headers[.authorization] == portalAuthorization }
}
