import Acquiring
import Connectors
import HTTPTransport
import TenderPayments

/// `connectors/worldline-acquiring/…/connector.yaml`; `client-secret.secret` is in the same folder.
struct WorldlineAcquiringFile: Sendable {
  var clientID = ""
  var acquirerID = ""
  var merchantIDs: [String] = []
  var isPreAuthorization = false
  var verifiesAccounts = false
  var terminalID: String?
  var place = WorldlineAcquiringSettings.Place()

  static let table = SettingsTable(
    WorldlineAcquiringFile(),
    [
      Setting(
        "clientId", .text("the client's id", as: "harbour-kitchen"), "The id of the client that Worldline has issued.",
        isRequired: true, get: { $0.clientID }, set: { $0.clientID = $1 }),
      Setting(
        "acquirerId", .text("the acquirer's number", as: "100812"), "The acquirer's number.", isRequired: true,
        get: { $0.acquirerID }, set: { $0.acquirerID = $1 }),
      Setting(
        "merchantIds", .list(of: .text("a merchant's number", as: "520001857")),
        "The merchant's numbers; the first takes the payments.", isRequired: true, get: { $0.merchantIDs },
        set: { $0.merchantIDs = $1 }),
      Setting(
        "preAuthorization", .flag, \.isPreAuthorization,
        "Whether captures may be for less: then payments are pre-authorizations, unless they ask for another."),
      Setting(
        "accountVerification", .flag, \.verifiesAccounts,
        "Whether cards may be verified without a payment; the client needs the scope processing_accountverification."),
      Setting(
        "terminalId", .text("the terminal's number", as: "12345678"), \.terminalID,
        "The terminal's number, if Worldline wants one."),
      Setting(
        "merchantName", .text("a name", as: "Harbour Kitchen"), \.place.name,
        "The merchant's name and address, if Worldline wants them with each payment."),
      Setting("merchantAddress", .text("a street", as: "1 Harbour Road"), \.place.address, "The street."),
      Setting("merchantPostalCode", .text("a postal code", as: "A96"), \.place.postalCode, "The postal code."),
      Setting("merchantCity", .text("a city", as: "Dún Laoghaire"), \.place.city, "The city."),
      Setting("merchantCountry", .text("two letters", as: "IE"), \.place.countryCode, "The country, of ISO 3166."),
    ])
}

extension ConnectorFolder {
  func worldlineAcquiring(
    _ place: ProviderPlace, http: HTTPSender, log: @escaping ExchangeLog
  ) throws -> Acquirer {
    let file = try settings(WorldlineAcquiringFile.table)
    let clientSecret = WorldlineAcquiringSecret(try secret("client-secret"))
    var settings = try WorldlineAcquiringSettings(
      host: place.worldlineAcquiring, clientID: file.clientID, clientSecret: clientSecret,
      acquirerID: file.acquirerID,
      merchantIDs: file.merchantIDs)
    settings.account = route.account
    settings.authorizationType = file.isPreAuthorization ? .preliminary : .final
    settings.verifiesAccounts = file.verifiesAccounts
    settings.terminalID = file.terminalID
    settings.place = file.place
    return .worldlineAcquiring(settings, http: http, log: log)
  }
}

extension ProviderPlace {
  fileprivate var worldlineAcquiring: WorldlineAcquiringSettings.Host {
    switch self {
    case .simulated(let origin): .simulated(origin: origin)
    case .test: .test
    case .live: .live
    }
  }
}
