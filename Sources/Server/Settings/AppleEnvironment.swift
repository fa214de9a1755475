package import ApplePayToken
package import HTTPTransport
package import MerchantIdentity
import TenderPayments

/// The Apple that this server talks to, and the roots whose payment tokens it accepts.
package struct AppleEnvironment: Sendable {
  package let hosts: ApplePayHosts
  package let trust: TokenTrust
  package let simulated: SimulatedApple?
  /// The roots of the gateway's TLS certificate.
  package let gatewayRoots: TrustedRoots

  /// - Parameter given: the trust of a test's composition, in place of Apple's root.
  package init(_ configuration: ServerConfiguration, _ http: HTTPSender, trust given: TokenTrust? = nil) async throws {
    switch configuration.environment {
    case .production:
      (hosts, simulated, gatewayRoots) = (.production, nil, .system)
      trust = given ?? .apple(production: true, sandbox: false)
    case .appleSandbox:
      (hosts, trust, simulated, gatewayRoots) = (.appleSandbox, .apple(production: false, sandbox: true), nil, .system)
    case .simulated:
      let sandbox = try await SimulatedApple(at: configuration.sandboxURL ?? "", sender: http)
      hosts = try .simulated(gatewayURL: sandbox.gatewayURL)
      trust = try .simulated(rootPEM: sandbox.tokenRootPEM)
      simulated = sandbox
      gatewayRoots = .pem(sandbox.gatewayRootPEM)
    }
  }
}
