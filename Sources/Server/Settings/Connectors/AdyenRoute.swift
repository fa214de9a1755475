import Acquiring
import Connectors
import HTTPTransport
import TenderPayments

/// `connectors/adyen/…/connector.yaml`; `api-key.secret` and `hmac-keys/*.secret` are in the same folder.
struct AdyenFile: Sendable {
  var merchantAccounts: [String] = []
  var livePrefix: String?
  var returnURL: String?
  var multiplePartialCaptures = true

  static let table = SettingsTable(
    AdyenFile(),
    [
      Setting(
        "merchantAccounts", .list(of: .text("a merchant account", as: "HarbourKitchenECOM")),
        "Adyen's merchant accounts; the first takes the payments.", isRequired: true, get: { $0.merchantAccounts },
        set: { $0.merchantAccounts = $1 }),
      Setting(
        "livePrefix", .text("the prefix of the live endpoint", as: "1797a841fbb37ca7-HarbourKitchen"), \.livePrefix,
        "The account's prefix, in Adyen's Customer Area under API URLs. Required in `production`."),
      Setting(
        "returnURL", .address, \.returnURL,
        "A page of yours. Adyen demands an address although Apple Pay has no redirect. The default is `publicURL`."),
      Setting(
        "multiplePartialCaptures", .flag, \.multiplePartialCaptures,
        "Whether Adyen has enabled multiple partial captures; otherwise the first capture of less releases the rest."),
    ])
}

extension ConnectorFolder {
  func adyen(
    _ place: ProviderPlace, publicURL: String, http: HTTPSender, log: @escaping ExchangeLog
  ) throws -> Acquirer {
    let file = try settings(AdyenFile.table)
    guard let apiKey = AdyenAPIKey(try secret("api-key")) else {
      throw ConfigurationError("\(path)/api-key.secret", "this is no API key of Adyen's")
    }
    let keys = try secrets(in: "hmac-keys").compactMap { AdyenHMACKey(hex: $0) }
    guard !keys.isEmpty else {
      throw ConfigurationError(
        "\(path)/hmac-keys", "put the webhook's HMAC key, 64 hexadecimal digits, into a file that ends in .secret")
    }
    return .adyen(
      try AdyenSettings(
        host: place.adyen(file.livePrefix ?? ""), account: route.account, apiKey: apiKey, hmacKeys: keys,
        merchantAccounts: file.merchantAccounts, returnURL: file.returnURL ?? publicURL,
        multiplePartialCaptures: file.multiplePartialCaptures), http: http, log: log)
  }
}

extension ProviderPlace {
  fileprivate func adyen(_ prefix: String) -> AdyenSettings.Host {
    switch self {
    case .simulated(let origin): .simulated(origin: origin)
    case .test: .test
    case .live: .live(prefix: prefix)
    }
  }
}
