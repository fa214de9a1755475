package import Acquiring
import Connectors
import Gateway
package import HTTPTransport
import Ledger

extension Acquirer {
  /// The acquirer of the sandbox, or of another system that speaks its wire.
  package static func configured(
    _ configuration: ServerConfiguration, _ apple: AppleEnvironment, _ http: HTTPSender,
    log note: @escaping @Sendable (Route, () -> Transcript) -> Void
  ) -> Acquirer {
    let endpoint = configuration.acquirer
    let key = endpoint.apiKey.isEmpty ? apple.simulated?.acquirerKey ?? "" : endpoint.apiKey
    let route = Route(connector: endpoint.connector, account: endpoint.account)
    let log: ExchangeLog = { note(route, $0) }
    guard endpoint.connector == "sandbox-provider" else {
      return .sandbox(
        baseURL: endpoint.baseURL, apiKey: key, account: endpoint.account, http: http, log: log)
    }
    return .sandboxProvider(
      baseURL: endpoint.baseURL, apiKey: key, account: endpoint.account, eventSecret: key, http: http,
      log: log)
  }
}

extension PaymentGateway {
  /// Refuses a configuration without a route that still has open operations or held money: they could not be resolved.
  package func refuseUnfinishedElsewhere() async throws {
    let unfinished = try await unfinishedElsewhere()
    guard !unfinished.isEmpty else { return }
    let list = unfinished.map {
      "\($0.route): open operations \($0.openOperations), payments with held money \($0.liveHolds), "
        + "the oldest is payment \($0.oldestPayment)"
    }
    throw ConfigurationError(
      "acquirer",
      "the store has payments that are not finished at a route which is not configured (\(list.joined(separator: "; "))). "
        + "Configure that connector and account again; resolve, capture or void what is left; then change it")
  }
}
