import Acquiring
import Connectors
import HTTPTransport
import TenderPayments

/// `connectors/worldline-direct/…/connector.yaml`; `api-key.secret` and `webhook-keys/<key id>.secret` are in the same folder.
struct WorldlineDirectFile: Sendable {
  var merchantID = ""
  var apiKeyID = ""
  var authorization = AuthorizationType.preliminary

  static let table = SettingsTable(
    WorldlineDirectFile(),
    [
      Setting(
        "merchantId", .text("the PSPID", as: "HarbourKitchen"), "Worldline's name of the merchant, the PSPID.",
        isRequired: true, get: { $0.merchantID }, set: { $0.merchantID = $1 }),
      Setting(
        "apiKeyId", .text("the id of an API key", as: "5E45C937B9DB33AE0000"),
        "The id of the API key whose secret is in `api-key.secret`.", isRequired: true, get: { $0.apiKeyID },
        set: { $0.apiKeyID = $1 }),
      Setting(
        "authorization", .choice(of: AuthorizationType.allCases), \.authorization,
        "Of payments that ask for none. `preliminary` holds for 30 days and is captured in parts; `final` holds for 7 and "
          + "is captured in full."),
    ])
}

extension ConnectorFolder {
  func worldlineDirect(
    _ place: ProviderPlace, http: HTTPSender, log: @escaping ExchangeLog
  ) throws -> Acquirer {
    let file = try settings(WorldlineDirectFile.table)
    guard let apiKey = WorldlineDirectKey(id: file.apiKeyID, secret: try secret("api-key")) else {
      throw ConfigurationError("\(path)/api-key.secret", "this is no API key of Worldline's")
    }
    let webhookKeys = try webhookKeys()
    return .worldlineDirect(
      try WorldlineDirectSettings(
        host: place.worldlineDirect, account: route.account, merchantID: file.merchantID, apiKey: apiKey,
        webhookKeys: webhookKeys, authorization: file.authorization), http: http, log: log)
  }

  /// The files' names are the keys' ids.
  private func webhookKeys() throws -> [WorldlineDirectKey] {
    let keys = try MerchantFolder.names(in: "\(path)/webhook-keys", ending: ".secret").compactMap {
      WorldlineDirectKey(id: $0, secret: try secret("webhook-keys/\($0)"))
    }
    guard !keys.isEmpty else {
      throw ConfigurationError(
        "\(path)/webhook-keys", "put the webhook key's secret into a file with the key's id as its name, <id>.secret")
    }
    return keys
  }
}

extension ProviderPlace {
  fileprivate var worldlineDirect: WorldlineDirectSettings.Host {
    switch self {
    case .simulated(let origin): .simulated(origin: origin)
    case .test: .test
    case .live: .live
    }
  }
}
