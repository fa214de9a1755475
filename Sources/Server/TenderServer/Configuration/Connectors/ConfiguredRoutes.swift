import Acquiring
import HTTPTransport
import Logging
import MerchantIdentity
import TenderPayments

/// At which of its hosts a provider is asked. Every environment has its own.
enum ProviderPlace: Sendable {
  /// The emulators of the sandbox at this origin.
  case simulated(origin: String)
  /// The providers' test systems.
  case test
  case live

  init(_ configuration: ServerConfiguration) {
    switch configuration.environment {
    case .simulated: self = .simulated(origin: configuration.sandboxURL ?? "")
    case .appleSandbox: self = .test
    case .production: self = .live
    }
  }
}

extension RouteTable {
  /// The routes of the connectors' folder, then the sandbox's acquirer where there is one; with the merchants' rules.
  static func configured(
    _ configuration: ServerConfiguration, _ folders: [MerchantFolder], _ apple: AppleEnvironment, _ runtime: Runtime
  ) throws -> RouteTable {
    var routes = try providers(configuration, runtime.network.plain, runtime.logger)
    if !configuration.acquirer.baseURL.isEmpty {
      routes.append(ConfiguredRoute(.configured(configuration, apple, runtime.network, runtime.logger)))
    }
    let table = RouteTable(routes, rules: rules(folders), sales: sales(folders))
    try table.checkAccounts(of: folders, in: configuration.merchantsDirectory)
    return table
  }

  /// Refuses a merchant's account that a route's credentials do not have, or that takes another currency than the
  /// merchant's.
  func checkAccounts(of folders: [MerchantFolder], in directory: String) throws {
    for folder in folders {
      let profile = folder.profile
      for (name, account) in profile.sale.accounts.sorted(by: { $0.key < $1.key }) {
        guard let reason = self[name]?.capabilities.refusal(of: account, for: profile.currency) else { continue }
        throw ConfigurationError("\(directory)/\(folder.merchant.id)/merchant.yaml", "merchantAccounts: \(reason)")
      }
    }
  }

  /// Takes what the merchants' folders say now, for payments that begin after it.
  func replaceMerchants(_ folders: [MerchantFolder]) {
    merchants.replace(rules: Self.rules(folders), sales: Self.sales(folders))
  }

  private static func rules(_ folders: [MerchantFolder]) -> [MerchantID: [RouteRule]] {
    Dictionary(
      uniqueKeysWithValues: folders.filter { !$0.profile.routes.isEmpty }.map { ($0.merchant.id, $0.profile.routes) })
  }

  private static func sales(_ folders: [MerchantFolder]) -> [MerchantID: MerchantSale] {
    Dictionary(uniqueKeysWithValues: folders.map { ($0.merchant.id, $0.profile.sale) })
  }

  /// Reads the files of every route. Nothing is asked.
  static func check(_ configuration: ServerConfiguration) throws {
    let unused = HTTPSender { _, _ throws(TransportError) in throw .notSent("a check asks nothing") }
    _ = try providers(configuration, unused, Logger(label: "check"))
  }

  private static func providers(
    _ configuration: ServerConfiguration, _ http: HTTPSender, _ logger: Logger
  ) throws -> [ConfiguredRoute] {
    let place = ProviderPlace(configuration)
    let routes = try ConnectorFolder.all(in: configuration.connectorsDirectory).map {
      try $0.configured(place, configuration, http, logger)
    }
    if configuration.acquirer.baseURL.isEmpty { try refuseNone(routes, configuration) }
    return routes
  }

  private static func refuseNone(_ routes: [ConfiguredRoute], _ configuration: ServerConfiguration) throws {
    guard routes.isEmpty else { return }
    throw ConfigurationError(
      "connectors.directory",
      "\(configuration.environment.rawValue) needs a payment provider, and \(configuration.connectorsDirectory) has none; "
        + "make a folder such as \(configuration.connectorsDirectory)/adyen with a connector.yaml, see docs/providers")
  }
}

extension AcquirerCapabilities {
  /// Why the credentials do not take a merchant's payments at this account; nil when they do, or when the connector does
  /// not know its accounts.
  fileprivate func refusal(of account: String, for currency: Currency) -> String? {
    guard let known = merchantAccounts else { return nil }
    let named = known.filter { $0.name == account }
    guard !named.isEmpty else {
      return "\(route) has no merchant account \(account); it has \(known.map(\.name).joined(separator: ", "))"
    }
    guard !named.contains(where: { ($0.currency ?? currency) == currency }) else { return nil }
    let currencies = named.compactMap(\.currency?.code).joined(separator: ", ")
    return "\(account) at \(route) takes \(currencies), and the merchant's currency is \(currency.code)"
  }
}

extension ConnectorFolder {
  /// The connectors that a folder can name.
  static let names = ["adyen", "braintree", "checkout-com", "stripe", "worldline-acquiring", "worldline-direct"]

  fileprivate func configured(
    _ place: ProviderPlace, _ configuration: ServerConfiguration, _ http: HTTPSender, _ logger: Logger
  ) throws -> ConfiguredRoute {
    let log: @Sendable (Transcript) -> Void = { [route] transcript in
      logger.debug(
        "acquirer",
        metadata: [
          "route": "\(route)", "request": .string(transcript.request), "response": .string(transcript.response),
        ])
    }
    let acquirer =
      switch route.connector {
      case "adyen": try adyen(place, publicURL: configuration.publicURL, http: http, log: log)
      case "braintree": try braintree(place, http: http, log: log)
      case "checkout-com": try checkoutCom(place, http: http, log: log)
      case "worldline-direct": try worldlineDirect(place, http: http, log: log)
      case "worldline-acquiring": try worldlineAcquiring(place, http: http, log: log)
      case "stripe": try stripe(place, http: http, log: log)
      default:
        throw ConfigurationError(
          path, "there is no connector \(route.connector); there are \(Self.names.joined(separator: ", "))")
      }
    return ConfiguredRoute(acquirer, sealedKeys: try sealedKeys)
  }
}
