import Foundation
import TenderPayments

extension ServerConfiguration {
  /// Reads the configuration and refuses what does not fit together, before anything listens.
  ///
  /// - Parameters:
  ///   - file: YAML; nil for none.
  ///   - flags: keys such as `port` with the values given on the command line.
  ///   - variables: the environment. Of it, every variable whose name begins with `TENDER_` must name a setting.
  package static func load(
    file: String?, flags: [String: String] = [:],
    variables: [String: String] = ProcessInfo.processInfo.environment
  ) async throws -> ServerConfiguration {
    var problems = ProblemList()
    let configuration = try read(file, flags, variables, &problems)
    try problems.throwFirst()
    return configuration
  }

  /// What does not fit together, each to be checked by itself.
  ///
  /// - Parameter named: the keys of the settings that are not defaults.
  func checks(named: Set<String>) -> [() throws -> Void] {
    [
      { try checkEnvironmentIsNamed(named) }, { try checkStore(named) }, { try checkTLS() }, { try checkPorts() },
      { try mail.check() }, { try outbound.check() }, { try telemetry.check() },
      { try office.openID.check(in: environment) },
      { if environment != .simulated { try checkIsNotSimulated() } }, { try checkAcquirer() },
    ]
  }

  /// A server that others reach does not run `simulated` by default.
  private func checkEnvironmentIsNamed(_ named: Set<String>) throws {
    guard named.contains("environment") || ServiceAddress.isLoopback(host) else {
      let names = TenderPayments.Environment.allCases.map(\.rawValue).joined(separator: ", ")
      throw ConfigurationError("environment", "must be named when host is \(host); write one of: \(names)")
    }
  }

  private func checkStore(_ named: Set<String>) throws {
    guard storeURL != nil else {
      let useless = ["store.passwordFile", "store.connections"].first { named.contains($0) }
      guard let useless else { return }
      throw ConfigurationError(useless, "belongs to a store on PostgreSQL; write store.url, or take it out")
    }
    guard !named.contains("store.path") else {
      throw ConfigurationError("store.path", "store.url names the store already; take one of them out")
    }
  }

  private func checkTLS() throws {
    guard let tls, tls.certificateFile.isEmpty || tls.keyFile.isEmpty else { return }
    throw ConfigurationError("tls", "name both certificateFile and keyFile, or neither")
  }

  /// No two listen on one port of one address.
  private func checkPorts() throws {
    var taken = [(name: "port", host: host, port: port)]
    let others = [("backOffice.port", office.host, office.port), ("metrics.port", metricsHost, metricsPort)]
    for case (let name, let host, let port?) in others {
      let other = taken.first { $0.port == port && Self.mayBeOne($0.host, host) }
      guard other == nil else {
        throw ConfigurationError(name, "\(port) is that of \(other?.name ?? "port") already; write another one")
      }
      taken.append((name, host, port))
    }
  }

  private static func mayBeOne(_ one: String, _ other: String) -> Bool {
    one == other || [one, other].contains { $0 == "0.0.0.0" || $0 == "::" }
      || ServiceAddress.isLoopback(one) && ServiceAddress.isLoopback(other)
  }

  private func checkIsNotSimulated() throws {
    guard sandboxURL == nil else {
      throw ConfigurationError("sandboxURL", "\(environment.rawValue) must not know a simulated Apple; take it out")
    }
    guard publicURL.hasPrefix("https://") else {
      throw ConfigurationError(
        "publicURL",
        "\(environment.rawValue) needs https; write how browsers reach this server: https://pay.example.com")
    }
    guard hostedCheckoutURL.hasPrefix("https://") else {
      throw ConfigurationError("hostedCheckout.url", "\(environment.rawValue) needs https")
    }
    guard office.port == nil || office.url?.hasPrefix("https://") == true else {
      throw ConfigurationError(
        "backOffice.url",
        "\(environment.rawValue) needs https; write how operators' browsers reach the pages: https://office.example.com"
      )
    }
    guard environment != .production || acquirer.baseURL.isEmpty else {
      throw ConfigurationError(
        "acquirer.baseURL",
        "production takes its payments to the providers in connectors.directory; take the acquirer out")
    }
  }

  /// The acquirer's key and every payment go to this address.
  private func checkAcquirer() throws {
    guard environment == .simulated || !acquirer.baseURL.isEmpty else { return }
    guard let address = ServiceAddress(acquirer.baseURL) else {
      throw ConfigurationError(
        "acquirer.baseURL", "write the acquirer's address, such as https://acquirer.example.com")
    }
    guard address.isHTTPS || environment == .simulated && isSimulatedBank(address) else {
      let who = environment == .simulated ? "an acquirer other than the sandbox" : environment.rawValue
      throw ConfigurationError("acquirer.baseURL", "\(who) needs https; write https://\(address.host)")
    }
    guard environment == .simulated || !acquirer.apiKey.isEmpty else {
      throw ConfigurationError(
        "acquirer.apiKey", "\(environment.rawValue) needs the acquirer's key; name its file in acquirer.apiKeyFile")
    }
  }

  private func isSimulatedBank(_ address: ServiceAddress) -> Bool {
    address.isLoopback || address.host == sandboxURL.flatMap { ServiceAddress($0)?.host }
  }
}
