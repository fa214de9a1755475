package import Acquiring
import Connectors
import Foundation
package import HTTPTransport
package import Logging
import MerchantIdentity
import Storage
package import TenderPayments

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
  /// The routes of the connectors' folder, then the sandbox's acquirer where there is one; without the merchants' rules.
  package init(
    _ configuration: ServerConfiguration, _ apple: AppleEnvironment, _ http: HTTPSender, _ logger: Logger
  ) throws {
    self.init(try Self.all(configuration, apple, http, log: TranscriptLog(to: logger).note))
  }

  /// The routes of the connectors' folder, which are not asked; nil where they cannot be read.
  package static func unasked(_ configuration: ServerConfiguration) -> RouteTable? {
    (try? providers(configuration, unused) { _, _ in }).map { RouteTable($0) }
  }

  /// The routes with the transport of shadow mode, which sends nothing.
  package static func shadow(
    _ configuration: ServerConfiguration, _ apple: AppleEnvironment, _ transport: ShadowTransport,
    routing: @escaping @Sendable (MerchantID) -> MerchantRouting
  ) throws -> RouteTable {
    let routes = try all(configuration, apple, transport.sender) { _, transcript in transport.log(transcript()) }
    return RouteTable(routes, routing: routing)
  }

  private static func all(
    _ configuration: ServerConfiguration, _ apple: AppleEnvironment, _ http: HTTPSender,
    log: @escaping @Sendable (Route, () -> Transcript) -> Void
  ) throws -> [ConfiguredRoute] {
    let routes = try providers(configuration, http, log: log)
    guard !configuration.acquirer.baseURL.isEmpty else { return routes }
    return routes + [ConfiguredRoute(Acquirer.configured(configuration, apple, http, log: log))]
  }

  /// Refuses a merchant's account that a route's credentials do not have, or that takes another currency than the
  /// merchant's.
  func checkAccounts(of folder: MerchantFolder, in directory: String) throws {
    let profile = folder.profile
    for (name, account) in profile.sale.accounts.sorted(by: { $0.key < $1.key }) {
      guard let reason = self[name]?.capabilities.refusal(of: account, for: profile.currency) else { continue }
      throw ConfigurationError("\(directory)/\(folder.merchant.id)/merchant.yaml", "merchantAccounts: \(reason)")
    }
  }

  /// Reads the files of every route, and adds every problem. Nothing is asked.
  package static func check(_ configuration: ServerConfiguration, _ problems: inout ProblemList) {
    let (place, key) = (ProviderPlace(configuration), "connectors.directory")
    let folders = problems.attempt(key) { try ConnectorFolder.all(in: configuration.connectorsDirectory) }
    for folder in folders ?? [] {
      for problem in folder.problems(checking: { _ = try $0.configured(place, configuration, unused) { _, _ in } }) {
        problems.attempt(key) { throw problem }
      }
    }
    guard folders?.isEmpty == true, configuration.acquirer.baseURL.isEmpty else { return }
    problems.attempt(key) { try refuseNone([], configuration) }
  }

  private static let unused = HTTPSender { _, _ throws(TransportError) in throw .notSent("a check asks nothing") }

  private static func providers(
    _ configuration: ServerConfiguration, _ http: HTTPSender,
    log: @escaping @Sendable (Route, () -> Transcript) -> Void
  ) throws -> [ConfiguredRoute] {
    let place = ProviderPlace(configuration)
    let routes = try ConnectorFolder.all(in: configuration.connectorsDirectory).map {
      try $0.configured(place, configuration, http, log: log)
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

extension MerchantFolder {
  package var routing: MerchantRouting {
    MerchantRouting(rules: profile.routes.isEmpty ? nil : profile.routes, sale: profile.sale)
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

/// Writes exchanges with providers, which are scrubbed, for who debugs.
package struct TranscriptLog: Sendable {
  private let logger: Logger

  package init(to logger: Logger) { self.logger = logger }

  @Sendable package func note(_ route: Route, _ exchange: () -> Transcript) {
    guard logger.logLevel <= .debug else { return }
    let transcript = exchange()
    logger.debug(
      "acquirer",
      metadata: [
        "route": "\(route)", "request": .string(transcript.request), "response": .string(transcript.response),
      ])
  }
}

extension ConnectorFolder {
  fileprivate func configured(
    _ place: ProviderPlace, _ configuration: ServerConfiguration, _ http: HTTPSender,
    log note: @escaping @Sendable (Route, () -> Transcript) -> Void
  ) throws -> ConfiguredRoute {
    guard let connector = ConnectorCatalogue(rawValue: route.connector) else {
      let known = ConnectorCatalogue.allCases.map(\.rawValue).sorted().joined(separator: ", ")
      throw ConfigurationError(path, "there is no connector \(route.connector); there are \(known)")
    }
    let log: ExchangeLog = { [route] in note(route, $0) }
    do {
      let acquirer =
        switch connector {
        case .adyen: try adyen(place, publicURL: configuration.publicURL, http: http, log: log)
        case .braintree: try braintree(place, http: http, log: log)
        case .checkoutCom: try checkoutCom(place, http: http, log: log)
        case .worldlineDirect: try worldlineDirect(place, http: http, log: log)
        case .worldlineAcquiring: try worldlineAcquiring(place, http: http, log: log)
        case .stripe: try stripe(place, http: http, log: log)
        }
      return ConfiguredRoute(acquirer, sealedKeys: try sealedKeys, fees: try fees)
    } catch let error as ConnectorSettingsError {
      let isKey = error.setting.hasSuffix("-key")
      throw ConfigurationError(
        isKey ? "\(path)/\(error.setting).secret" : settingsFile, "\(error.setting): \(error.reason)")
    }
  }
}

extension ServerConfiguration {
  /// What the `connector.yaml` of each route says, by route.
  package func connectorSettings() throws -> [String: [UInt8]] {
    Dictionary(
      uniqueKeysWithValues: try ConnectorFolder.all(in: connectorsDirectory).map { folder in
        ("\(folder.route)", Array(FileManager.default.contents(ofFile: folder.settingsFile) ?? Data()))
      })
  }

  /// The names of the routes that a merchant's rules can have.
  ///
  /// - Throws: ``ConfigurationError`` where the connectors' folder cannot be read.
  package func routeNames() throws -> [String] {
    let own = acquirer.connector + (acquirer.account.map { "/\($0)" } ?? "")
    return (acquirer.baseURL.isEmpty ? [] : [own])
      + (try ConnectorFolder.all(in: connectorsDirectory).map { "\($0.route)" })
  }
}
