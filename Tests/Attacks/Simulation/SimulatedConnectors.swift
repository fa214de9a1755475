import Acquiring
import HTTPTransport
import TenderPayments

// The connectors whose statements the simulated banks keep. No request of theirs is sent.
extension BankProfile.Conduct {
  var connector: Acquirer {
    switch self {
    case .adyen: BankProfile.adyen
    case .braintree: BankProfile.braintree
    case .stripe: BankProfile.stripe
    case .checkoutCom: BankProfile.checkoutCom
    case .worldlineDirect: BankProfile.worldlineDirect
    case .worldlineAcquiring: BankProfile.worldlineAcquiring
    case .sandbox, .unaskable: BankProfile.unaskable
    }
  }
}

extension BankProfile {
  private static let nowhere = HTTPSender { _, _ throws(TransportError) in throw .notSent("there is no network") }

  fileprivate static let adyen: Acquirer = {
    guard let key = AdyenAPIKey("simulated"), let hmac = AdyenHMACKey(hex: String(repeating: "5a", count: 32)),
      let settings = try? AdyenSettings(
        host: .test, apiKey: key, hmacKeys: [hmac], merchantAccounts: ["Simulated"], returnURL: "https://shop.example/")
    else { preconditionFailure("the settings are constants") }
    return .adyen(settings, http: nowhere)
  }()

  fileprivate static let braintree: Acquirer = {
    let currencies = ["EUR", "JPY"].compactMap { Currency(code: $0) }
    var settings = BraintreeSettings(
      environment: .test, merchantID: "simulated", publicKey: "simulated", privateKey: BraintreePrivateKey("simulated"),
      merchantAccounts: Dictionary(uniqueKeysWithValues: currencies.map { ($0, "simulated-\($0.code)") }))
    settings.capturesInParts = true
    return .braintree(settings, http: nowhere)
  }()

  /// It repeats its first answer to a key.
  fileprivate static let unaskable: Acquirer = {
    let week = AcquirerCapabilities.Idempotency.reference(window: .seconds(86_400 * 7))
    return Acquirer(
      capabilities: AcquirerCapabilities(
        name: "unaskable", instruments: [.network, .sealed], idempotency: week, authorizationIdempotency: week,
        inquiry: false, reversal: false, settleHorizon: .seconds(120), holdLifetime: .seconds(86_400 * 7)),
      authorize: { _, _ in .notSent("") }, capture: { _, _ in .notSent("") }, void: { _, _ in .notSent("") },
      refund: { _, _ in .notSent("") }, inquire: { _, _ in .notFound }, reverse: { _, _ in .nothingFound })
  }()

  fileprivate static let stripe: Acquirer = {
    guard let key = StripeSecretKey("sk_test_simulated"), let secret = StripeSigningSecret("whsec_simulated"),
      let settings = try? StripeSettings(
        host: .test, secretKey: key, signingSecrets: [secret], multicapture: true)
    else { preconditionFailure("the settings are constants") }
    return .stripe(settings, http: nowhere)
  }()

  fileprivate static let checkoutCom: Acquirer = {
    let rest = String(repeating: "a", count: 27)
    guard let secret = CheckoutComSecretKey("sk_sbox_" + rest), let key = CheckoutComPublicKey("pk_sbox_" + rest),
      let workflow = CheckoutComWorkflow(signatureKeys: ["simulated"]),
      let settings = try? CheckoutComSettings(
        host: .test(prefix: "simulated"), secretKey: secret, publicKey: key, workflow: workflow,
        processingChannels: ["pc_" + rest.prefix(26)])
    else { preconditionFailure("the settings are constants") }
    return .checkoutCom(settings, http: nowhere)
  }()

  fileprivate static let worldlineDirect: Acquirer = {
    guard let key = WorldlineDirectKey(id: "simulated", secret: "simulated"),
      let settings = try? WorldlineDirectSettings(
        host: .test, merchantID: "simulated", apiKey: key, webhookKeys: [key])
    else { preconditionFailure("the settings are constants") }
    return .worldlineDirect(settings, http: nowhere)
  }()

  fileprivate static let worldlineAcquiring: Acquirer = {
    guard
      let settings = try? WorldlineAcquiringSettings(
        host: .test, clientID: "simulated", clientSecret: WorldlineAcquiringSecret("simulated"), acquirerID: "1",
        merchantIDs: ["2"])
    else { preconditionFailure("the settings are constants") }
    return .worldlineAcquiring(settings, http: nowhere)
  }()
}
