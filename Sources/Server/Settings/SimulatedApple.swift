package import HTTPTransport
import StrictJSON

/// The simulated Apple's and acquirer's addresses and roots, which the sandbox publishes.
///
/// The server knows the sandbox by its address alone. Only `simulated` asks it.
package struct SimulatedApple: Sendable {
  /// The root of simulated payment tokens, PEM.
  package let tokenRootPEM: String
  /// The authority of the simulated gateway's TLS certificate, PEM.
  package let gatewayRootPEM: String
  package let gatewayURL: String
  /// The script that stands in for Apple's, also in a browser that has Apple Pay: such a server takes no real money.
  package let sessionScriptURL: String
  /// By how much the sandbox's clock has been moved on; nil where it has none that can be.
  package let clockAhead: Duration?
  let acquirerKey: String

  /// Asks for up to ten seconds, because the sandbox may be starting too.
  package init(at sandboxURL: String, sender: HTTPSender) async throws {
    let sandbox = JSONClient(sandboxURL, sender: sender)
    let answer = try await Self.patiently { try await sandbox.require("GET", "/sandbox/ca.json") }
    self.tokenRootPEM = try Self.text("rootPEM", of: answer)
    self.gatewayRootPEM = try Self.text("tlsRootPEM", of: answer)
    self.gatewayURL = try Self.text("gatewayURL", of: answer)
    self.acquirerKey = try Self.text("acquirerKey", of: answer)
    if case .integer(let ahead)? = answer["clockAheadMicroseconds"] {
      clockAhead = .microseconds(ahead)
    } else {
      clockAhead = nil
    }
    self.sessionScriptURL = sandboxURL + "/apple-pay-session.js?replace"
  }

  private static func patiently(_ ask: () async throws -> JSONValue) async throws -> JSONValue {
    for _ in 0..<40 {
      if let answer = try? await ask() { return answer }
      try await Task.sleep(for: .milliseconds(250))
    }
    do { return try await ask() } catch let failure as CallFailure {
      throw ConfigurationError("sandboxURL", "\(failure). Start `tender-sandbox sandbox`, or name its address")
    }
  }

  private static func text(_ key: String, of answer: JSONValue) throws -> String {
    guard let text = answer[key]?.text else {
      throw ConfigurationError("sandboxURL", "the sandbox does not say its \(key)")
    }
    return text
  }
}
