package import Acquiring
import TenderPayments

/// A route of a running server.
package struct RouteReport: Codable, Sendable {
  /// Connector and account.
  package let route: String
  /// `network` where Tender opens payment tokens, `sealed` where the provider does.
  package let accepts: [String]
  /// `closed`, or `open` while calls are suspended because the provider does not answer.
  package let circuit: String

  package init(_ route: ConfiguredRoute, isOpen: Bool) {
    self.route = route.name
    accepts = route.acquirer.capabilities.instruments.map { $0 == .network ? "network" : "sealed" }.sorted()
    circuit = isOpen ? "open" : "closed"
  }
}

/// Whether a provider accepts a route's credentials.
package struct CredentialReport: Codable, Sendable {
  package let route: String
  /// `accepted`, `refused`, `unavailable` or `not_offered`.
  package let credentials: String
  package let reason: String?

  /// Asks the provider of each route something that moves no money.
  package static func all(_ routes: RouteTable) async -> [CredentialReport] {
    var checks: [CredentialReport] = []
    for route in routes.routes {
      let check = await route.acquirer.checkCredentials(.after(.seconds(20)))
      checks.append(CredentialReport(route.name, check))
    }
    return checks
  }

  /// - Parameter credentials: one of the words of the property.
  init(route: String, credentials: String, reason: String? = nil) {
    (self.route, self.credentials, self.reason) = (route, credentials, reason)
  }

  private init(_ route: String, _ check: CredentialCheck) {
    self.route = route
    (credentials, reason) =
      switch check {
      case .accepted: ("accepted", nil)
      case .refused(let reason): ("refused", reason)
      case .unavailable(let interruption): ("unavailable", "\(interruption.kind.rawValue) \(interruption.detail)")
      case .notOffered: ("not_offered", nil)
      }
  }
}

/// What one rule says of a payment.
package struct RuleReport: Codable, Sendable {
  package let rule: String
  /// `chosen`; `next` if provably nothing was sent to the one before; `skipped`.
  package let result: String
  package let reason: String?

  package static func all(_ findings: [RouteFinding]) -> [RuleReport] {
    let chosen = findings.firstIndex { $0.obstacle == nil }
    return findings.enumerated().map { index, finding in
      RuleReport(
        rule: "\(finding.rule)",
        result: index == chosen ? "chosen" : finding.obstacle == nil ? "next" : "skipped",
        reason: finding.obstacle?.reason)
    }
  }
}
