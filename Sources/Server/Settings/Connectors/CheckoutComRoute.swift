import Acquiring
import Connectors
import HTTPTransport
import TenderPayments

/// `connectors/checkout-com/…/connector.yaml`; `secret-key.secret`, `public-key.secret` and `signature-keys/*.secret`
/// are in the same folder, and `authorizations/*.secret` where the workflow's webhook sends that header.
struct CheckoutComFile: Sendable {
  var processingChannels: [String] = []
  var prefix: String?
  var descriptorCity: String?

  static let table = SettingsTable(
    CheckoutComFile(),
    [
      Setting(
        "processingChannels", .list(of: .text("a processing channel", as: "pc_ovo75iz4hdyudnx6tu74mum3fq")),
        "Checkout.com's processing channels; the first takes the payments.", isRequired: true,
        get: { $0.processingChannels }, set: { $0.processingChannels = $1 }),
      Setting(
        "prefix", .text("the account's own part of the API's address", as: "vkuhvk4v"), \.prefix,
        "The prefix of the API's address, in Checkout.com's Dashboard. Required but in `simulated`."),
      Setting(
        "descriptorCity", .text("the merchant's city", as: "London"), \.descriptorCity,
        "The city beside the name on the statement. Without it Checkout.com uses the account's own descriptor."),
    ])
}

extension ConnectorFolder {
  func checkoutCom(_ place: ProviderPlace, http: HTTPSender, log: @escaping ExchangeLog) throws
    -> Acquirer
  {
    let file = try settings(CheckoutComFile.table)
    // All are read before one is judged, so that a check finds every one that is missing.
    let (secretText, publicText) = (try secret("secret-key"), try secret("public-key"))
    let (keys, authorizations) = (try secrets(in: "signature-keys"), try secrets(in: "authorizations"))
    guard let workflow = CheckoutComWorkflow(signatureKeys: keys, authorizations: authorizations) else {
      throw ConfigurationError(
        "\(path)/signature-keys", "put the signature key of the workflow's webhook into a file that ends in .secret")
    }
    guard let secretKey = CheckoutComSecretKey(secretText) else {
      throw ConfigurationError("\(path)/secret-key.secret", "this is no secret key of Checkout.com's")
    }
    guard let publicKey = CheckoutComPublicKey(publicText) else {
      throw ConfigurationError("\(path)/public-key.secret", "this is no public key of Checkout.com's")
    }
    return .checkoutCom(
      try CheckoutComSettings(
        host: place.checkoutCom(file.prefix ?? ""), account: route.account, secretKey: secretKey,
        publicKey: publicKey, workflow: workflow, processingChannels: file.processingChannels,
        descriptorCity: file.descriptorCity), http: http, log: log)
  }
}

extension ProviderPlace {
  fileprivate func checkoutCom(_ prefix: String) -> CheckoutComSettings.Host {
    switch self {
    case .simulated(let origin): .simulated(origin: origin)
    case .test: .test(prefix: prefix)
    case .live: .live(prefix: prefix)
    }
  }
}
