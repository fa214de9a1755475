package import Acquiring
package import HTTPTransport
import TenderPayments

extension Acquirer {
  /// The payment provider of `tender-sandbox`: it takes the payment token sealed, opens it with a key of its own, and
  /// answers captures and refunds later, by an event.
  ///
  /// Its wire is that of the sandbox's acquirer, with the payment token in the place of the card.
  ///
  /// - Parameters:
  ///   - baseURL: the sandbox's origin, without a slash at the end: `http://127.0.0.1:8402`.
  ///   - account: the operator's name of the account, if there is more than one.
  ///   - eventSecret: signs the events.
  ///   - log: receives every exchange, scrubbed.
  package static func sandboxProvider(
    baseURL: String, apiKey: String, account: String? = nil, eventSecret: String, http: HTTPSender,
    log: @escaping ExchangeLog = { _ in }
  ) -> Acquirer {
    let connector = SandboxAcquirer(base: baseURL + "/provider/v1", apiKey: apiKey, http: http, log: log)
    var capabilities = AcquirerCapabilities(
      name: "sandbox-provider", account: account, instruments: [.sealed, .stored],
      idempotency: .reference(window: .seconds(86_400)), inquiry: true, reversal: true,
      settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7))
    capabilities.storesCredentials = [.sealed]
    return Acquirer(connector, capabilities, eventSecret: eventSecret)
  }
}
