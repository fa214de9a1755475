import ApplePayToken
import HTTPTransport
import MerchantIdentity
import TenderPayments

/// The Apple that this server talks to, and the roots whose payment tokens it accepts.
struct AppleEnvironment: Sendable {
  let hosts: ApplePayHosts
  let trust: TokenTrust
  let simulated: SimulatedApple?
  /// The roots of the gateway's TLS certificate.
  let gatewayRoots: TrustedRoots

  /// - Parameter given: the trust of a test's composition, in place of Apple's root.
  init(_ configuration: ServerConfiguration, _ network: Network, trust given: TokenTrust? = nil) async throws {
    switch configuration.environment {
    case .production:
      (hosts, simulated, gatewayRoots) = (.production, nil, .system)
      trust = given ?? .apple(production: true, sandbox: false)
    case .appleSandbox:
      (hosts, trust, simulated, gatewayRoots) = (.appleSandbox, .apple(production: false, sandbox: true), nil, .system)
    case .simulated:
      let sandbox = try await SimulatedApple(at: configuration.sandboxURL ?? "", sender: network.plain)
      hosts = try .simulated(gatewayURL: sandbox.gatewayURL)
      trust = try .simulated(rootPEM: sandbox.tokenRootPEM)
      simulated = sandbox
      gatewayRoots = .pem(sandbox.gatewayRootPEM)
    }
  }
}
