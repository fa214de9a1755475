import Acquiring
import Gateway
import HTTPTransport
import Ledger
import Logging

extension Acquirer {
  /// The acquirer of the sandbox, or of another system that speaks its wire.
  static func configured(
    _ configuration: ServerConfiguration, _ apple: AppleEnvironment, _ network: Network, _ logger: Logger
  ) -> Acquirer {
    let endpoint = configuration.acquirer
    let key = endpoint.apiKey.isEmpty ? apple.simulated?.acquirerKey ?? "" : endpoint.apiKey
    let log: @Sendable (Transcript) -> Void = { transcript in
      logger.debug(
        "acquirer", metadata: ["request": .string(transcript.request), "response": .string(transcript.response)])
    }
    guard endpoint.connector == "sandbox-provider" else {
      return .sandbox(
        baseURL: endpoint.baseURL, apiKey: key, account: endpoint.account, http: network.plain, log: log)
    }
    return .sandboxProvider(
      baseURL: endpoint.baseURL, apiKey: key, account: endpoint.account, eventSecret: key, http: network.plain,
      log: log)
  }
}

extension PaymentGateway {
  /// Refuses a configuration without a route that still has open operations or held money: they could not be resolved.
  func refuseUnfinishedElsewhere() async throws {
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
