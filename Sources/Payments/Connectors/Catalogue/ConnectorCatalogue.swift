package import Acquiring
package import HTTPTransport
import TenderPayments

/// Every connector to a real provider, with sample settings: what they state is shown, documented and simulated from here.
/// The samples have no credentials of anybody.
package enum ConnectorCatalogue: String, Sendable, CaseIterable {
  case adyen, braintree, stripe
  case checkoutCom = "checkout-com"
  case worldlineAcquiring = "worldline-acquiring"
  case worldlineDirect = "worldline-direct"

  /// With the settings that allow most.
  package func sample(
    http: HTTPSender = ShadowTransport().sender, log: @escaping ExchangeLog = { _ in }
  ) throws -> Acquirer {
    switch self {
    case .adyen: try .adyen(Self.adyenSettings(), http: http, log: log)
    case .braintree: .braintree(Self.braintreeSettings, http: http, log: log)
    case .stripe: try .stripe(Self.stripeSettings(), http: http, log: log)
    case .checkoutCom: try .checkoutCom(Self.checkoutComSettings(), http: http, log: log)
    case .worldlineAcquiring: try .worldlineAcquiring(Self.worldlineAcquiringSettings(), http: http, log: log)
    case .worldlineDirect: try .worldlineDirect(Self.worldlineDirectSettings(), http: http, log: log)
    }
  }

  /// A sample does not fit its own connector: a defect.
  struct UnfitSample: Error {}

  private static let origin = "http://localhost"

  private static func adyenSettings() throws -> AdyenSettings {
    guard let key = AdyenAPIKey("sample"), let hmac = AdyenHMACKey(hex: String(repeating: "5a", count: 32)) else {
      throw UnfitSample()
    }
    return try AdyenSettings(
      host: .simulated(origin: origin), apiKey: key, hmacKeys: [hmac], merchantAccounts: ["Sample"],
      returnURL: "https://shop.example/")
  }

  private static var braintreeSettings: BraintreeSettings {
    let accounts = ["EUR", "JPY"].compactMap { Currency(code: $0) }.map { ($0, "sample-\($0.code)") }
    var settings = BraintreeSettings(
      environment: .simulated(origin: origin), merchantID: "sample", publicKey: "sample",
      privateKey: BraintreePrivateKey("sample"), merchantAccounts: Dictionary(uniqueKeysWithValues: accounts))
    settings.capturesInParts = true
    return settings
  }

  private static func stripeSettings() throws -> StripeSettings {
    guard let key = StripeSecretKey("sk_test_sample"), let secret = StripeSigningSecret("whsec_sample") else {
      throw UnfitSample()
    }
    return try StripeSettings(
      host: .simulated(origin: origin), secretKey: key, signingSecrets: [secret], multicapture: true)
  }

  private static func checkoutComSettings() throws -> CheckoutComSettings {
    let rest = String(repeating: "a", count: 27)
    guard let secret = CheckoutComSecretKey("sk_sbox_" + rest), let key = CheckoutComPublicKey("pk_sbox_" + rest),
      let workflow = CheckoutComWorkflow(signatureKeys: ["sample"])
    else { throw UnfitSample() }
    return try CheckoutComSettings(
      host: .simulated(origin: origin), secretKey: secret, publicKey: key, workflow: workflow,
      processingChannels: ["pc_sample"])
  }

  private static func worldlineAcquiringSettings() throws -> WorldlineAcquiringSettings {
    var settings = try WorldlineAcquiringSettings(
      host: .simulated(origin: origin), clientID: "sample", clientSecret: WorldlineAcquiringSecret("sample"),
      acquirerID: "1", merchantIDs: ["2"])
    settings.verifiesAccounts = true
    return settings
  }

  private static func worldlineDirectSettings() throws -> WorldlineDirectSettings {
    guard let key = WorldlineDirectKey(id: "sample", secret: "sample") else { throw UnfitSample() }
    return try WorldlineDirectSettings(
      host: .simulated(origin: origin), merchantID: "sample", apiKey: key, webhookKeys: [key])
  }
}
