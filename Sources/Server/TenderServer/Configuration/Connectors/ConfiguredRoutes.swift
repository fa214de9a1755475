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
    return RouteTable(routes, rules: rules(folders), sales: sales(folders))
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

extension ConnectorFolder {
  /// The connectors that a folder can name.
  static let names = ["adyen", "braintree"]

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
      default:
        throw ConfigurationError(
          path, "there is no connector \(route.connector); there are \(Self.names.joined(separator: ", "))")
      }
    return ConfiguredRoute(acquirer, sealedKeys: try sealedKeys)
  }
}
