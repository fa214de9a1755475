import Acquiring
import Connectors
import HTTPTransport
import TenderPayments

/// `connectors/stripe/…/connector.yaml`; `secret-key.secret` and `signing-secrets/*.secret` are in the same folder.
struct StripeFile: Sendable {
  var connectedAccounts: [String] = []
  var multicapture = false

  static let table = SettingsTable(
    StripeFile(),
    [
      Setting(
        "connectedAccounts", .list(of: .text("an account of Stripe Connect", as: "acct_1032D82eZvKYlo2C")),
        \.connectedAccounts, "The connected accounts of a platform of Stripe Connect; the first takes the payments."),
      Setting(
        "multicapture", .flag, \.multicapture,
        "Whether Stripe has enabled multicapture; otherwise the first capture of less releases the rest."),
    ])
}

extension ConnectorFolder {
  func stripe(_ place: ProviderPlace, http: HTTPSender, log: @escaping ExchangeLog) throws
    -> Acquirer
  {
    let file = try settings(StripeFile.table)
    guard let secretKey = StripeSecretKey(try secret("secret-key")) else {
      throw ConfigurationError(
        "\(path)/secret-key.secret", "this is no secret or restricted key of Stripe's: it begins with sk_ or rk_")
    }
    let secrets = try secrets(in: "signing-secrets").compactMap { StripeSigningSecret($0) }
    guard !secrets.isEmpty else {
      throw ConfigurationError(
        "\(path)/signing-secrets", "put the webhook's signing secret, whsec_…, into a file that ends in .secret")
    }
    return .stripe(
      try StripeSettings(
        host: place.stripe, account: route.account, secretKey: secretKey, signingSecrets: secrets,
        connectedAccounts: file.connectedAccounts, multicapture: file.multicapture), http: http, log: log)
  }
}

extension ProviderPlace {
  fileprivate var stripe: StripeSettings.Host {
    switch self {
    case .simulated(let origin): .simulated(origin: origin)
    case .test: .test
    case .live: .live
    }
  }
}
