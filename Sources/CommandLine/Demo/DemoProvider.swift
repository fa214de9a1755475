import AcquirerSandbox
import Administration
import ArgumentParser
import Foundation
import HTTPTransport
import ProviderEmulators
import Storage
import StrictJSON
import TenderPayments
import TenderServer

/// A payment provider that the sandbox emulates, as a route of the demo's server.
enum DemoProvider: String, ExpressibleByArgument, CaseIterable, Sendable {
  case adyen, braintree, stripe
  case checkoutCom = "checkout-com"
  case worldlineDirect = "worldline-direct"
  case worldlineAcquiring = "worldline-acquiring"

  /// Whether it decrypts payment tokens.
  var decrypts: Bool { self != .worldlineAcquiring }

  /// Writes the route's folder: the credentials of the emulator's account, which open nothing else.
  func write(below directory: String) throws {
    let folder = "\(directory)/connectors/\(rawValue)"
    let keyFolders = secrets.compactMap { $0.name.split(separator: "/").dropLast().first.map { "/\($0)" } }
    for name in [""] + keyFolders + ["/certificates"] { try PrivateFile.makeFolder(folder + name) }
    for (name, text) in secrets where !FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
      try PrivateFile.write(text, to: "\(folder)/\(name)")
    }
    guard !FileManager.default.fileExists(atPath: folder + "/connector.yaml") else { return }
    try MerchantProvisioning.write(settings, to: folder + "/connector.yaml")
  }

  private var settings: String {
    switch self {
    case .adyen: "merchantAccounts: [\(AdyenAccount.sandbox.merchantAccount)]\n"
    case .braintree:
      """
      merchantId: \(BraintreeAccount.sandbox.merchantID)
      publicKey: \(BraintreeAccount.sandbox.publicKey)
      merchantAccounts: [EUR=tender_eur, JPY=tender_jpy]
      capturesInParts: true

      """
    case .checkoutCom: "processingChannels: [\(CheckoutComAccount.sandbox.processingChannel)]\n"
    case .worldlineDirect:
      """
      merchantId: \(WorldlineDirectAccount.sandbox.merchantID)
      apiKeyId: \(WorldlineDirectAccount.sandbox.apiKeyID)

      """
    case .worldlineAcquiring:
      """
      clientId: \(WorldlineAcquiringAccount.sandbox.clientID)
      acquirerId: "\(WorldlineAcquiringAccount.sandbox.acquirerID)"
      merchantIds: ["\(WorldlineAcquiringAccount.sandbox.merchantIDs[0])"]

      """
    case .stripe: "multicapture: true\n"
    }
  }

  private var secrets: [(name: String, text: String)] {
    switch self {
    case .adyen:
      [("api-key.secret", AdyenAccount.sandbox.apiKey), ("hmac-keys/1.secret", AdyenAccount.sandbox.hmacKey)]
    case .braintree: [("private-key.secret", BraintreeAccount.sandbox.privateKey)]
    case .checkoutCom:
      [
        ("secret-key.secret", CheckoutComAccount.sandbox.secretKey),
        ("public-key.secret", CheckoutComAccount.sandbox.publicKey),
        ("signature-keys/1.secret", CheckoutComAccount.sandbox.signatureKey),
      ]
    case .worldlineDirect:
      [
        ("api-key.secret", WorldlineDirectAccount.sandbox.secretAPIKey),
        (
          "webhook-keys/\(WorldlineDirectAccount.sandbox.webhookKeyID).secret",
          WorldlineDirectAccount.sandbox.webhookSecret
        ),
      ]
    case .worldlineAcquiring: [("client-secret.secret", WorldlineAcquiringAccount.sandbox.clientSecret)]
    case .stripe:
      [
        ("secret-key.secret", StripeAccount.sandbox.secretKey),
        ("signing-secrets/1.secret", StripeAccount.sandbox.signingSecret),
      ]
    }
  }

  private var authentication: [HTTPField] {
    switch self {
    case .adyen: [HTTPField("X-API-Key", AdyenAccount.sandbox.apiKey)]
    case .braintree:
      [
        HTTPField(
          "Authorization",
          "Basic "
            + Base64.encode(
              Array("\(BraintreeAccount.sandbox.publicKey):\(BraintreeAccount.sandbox.privateKey)".utf8)))
      ]
    case .checkoutCom: [HTTPField("Authorization", "Bearer \(CheckoutComAccount.sandbox.secretKey)")]
    case .worldlineDirect: [HTTPField("Authorization", WorldlineDirectAccount.sandbox.portalAuthorization)]
    case .worldlineAcquiring: []
    case .stripe: [HTTPField("Authorization", "Bearer \(StripeAccount.sandbox.secretKey)")]
    }
  }

  /// Where a person would enter the address of the webhook; nil for a provider that sends no events.
  private var webhookPath: String? {
    switch self {
    case .adyen: "/adyen/webhook"
    case .braintree: "/braintree/event-endpoint"
    case .checkoutCom: "/checkout-com/webhook"
    case .worldlineDirect: "/worldline-direct/webhook"
    case .worldlineAcquiring: nil
    case .stripe: "/stripe/webhook"
    }
  }
}

extension DemoProvider {
  /// Has the emulator send its events to the server.
  func sendEvents(to server: String, from sandbox: JSONClient) async throws {
    guard let webhookPath else { return }
    _ = try await sandbox.require(
      "PUT", webhookPath, ["url": .string("\(server)/acquirers/\(rawValue)/events")], headers: authentication)
  }

  /// Has devices encrypt the merchant's payment tokens to the provider's key: the provider makes the certificate's
  /// request, the developer portal issues it, and the route keeps the certificate. Once for each merchant.
  func seal(_ merchantIdentifier: String, below directory: String, at sandbox: JSONClient) async throws {
    let file = "\(directory)/connectors/\(rawValue)/certificates/\(merchantIdentifier).pem"
    guard !FileManager.default.fileExists(atPath: file) else { return }
    let request = try await sandbox.require(
      "POST", "/\(rawValue)/certificate-requests", ["merchantIdentifier": .string(merchantIdentifier)],
      headers: authentication)
    let certificates = "/portal/merchants/\(merchantIdentifier)/certificates"
    let issued = try await sandbox.require(
      "POST", certificates, ["type": "processing", "csr": request["csr"] ?? .null])
    guard let id = issued["id"]?.text, let certificate = issued["certificate"]?.text else {
      throw CallFailure("the portal sent no certificate")
    }
    _ = try await sandbox.require("POST", "\(certificates)/\(id)/activate", .object([:]))
    try MerchantProvisioning.write(certificate, to: file)
  }
}
