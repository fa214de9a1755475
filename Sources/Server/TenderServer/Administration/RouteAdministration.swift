import Acquiring
import Gateway
import HTTPServing
import Hummingbird
import MerchantIdentity
import StrictJSON
import TenderPayments

/// What `tender connector` and `tender route` ask a running server.
struct RouteAdministrationController: Sendable {
  let routes: RouteTable
  let breakers: [String: CircuitBreaker]
  let merchants: MerchantDirectory

  /// `GET /routes`
  func list(_ request: Request, _ context: ServerContext) -> Response {
    JSONAnswer.response(["routes": routes.routes.map { RouteReport($0, isOpen: breakers[$0.name]?.isOpen ?? false) }])
  }

  /// `POST /routes/check`: asks each provider something that moves no money.
  func check(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(["routes": await CredentialReport.all(routes)])
  }

  /// `POST /routes/explain`: which of a merchant's rules takes a payment, and why the others do not.
  func explain(_ request: Request, _ context: ServerContext) async throws -> Response {
    let body = try RequestBody.read(try await RequestBody.collect(request, context))
    let payment = try RequestBody.refusing { try RoutedPayment(body) }
    guard merchants[payment.merchant] != nil else {
      throw Problem(
        .notFound, "merchant_unknown", "No merchant \(payment.merchant) is served here.", field: "merchant")
    }
    return JSONAnswer.response(["rules": RuleReport.all(routes.findings(for: payment))])
  }
}

/// A route of a running server.
package struct RouteReport: Codable, Sendable {
  /// Connector and account.
  package let route: String
  /// `network` where Tender opens payment tokens, `sealed` where the provider does.
  package let accepts: [String]
  /// `closed`, or `open` while calls are suspended because the provider does not answer.
  package let circuit: String

  fileprivate init(_ route: ConfiguredRoute, isOpen: Bool) {
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
  static func all(_ routes: RouteTable) async -> [CredentialReport] {
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

  static func all(_ findings: [RouteFinding]) -> [RuleReport] {
    let chosen = findings.firstIndex { $0.obstacle == nil }
    return findings.enumerated().map { index, finding in
      RuleReport(
        rule: "\(finding.rule)",
        result: index == chosen ? "chosen" : finding.obstacle == nil ? "next" : "skipped",
        reason: finding.obstacle?.reason)
    }
  }
}

extension RoutedPayment {
  fileprivate init(_ body: JSONField) throws(JSONError) {
    let network = try body.memberIfPresent("network")
    let known = try network.map { field throws(JSONError) in
      guard let known = CardNetwork(known: try field.string) else {
        throw JSONError(.invalid, path: field.path, "not a network, such as visa or masterCard")
      }
      return known
    }
    self.init(
      merchant: MerchantID(try body.member("merchant").string), amount: try body.typedAmount, network: known,
      country: try body.memberIfPresent("country")?.string,
      instrument: try body.memberIfPresent("sealed") == nil ? .network : .sealed)
  }
}

extension JSONField {
  /// The members `amount`, in major units as a person types them, and `currency`.
  var typedAmount: Amount {
    get throws(JSONError) {
      let (amount, currencyField) = (try member("amount"), try member("currency"))
      guard let currency = Currency(code: try currencyField.string), currency.isMoney else {
        throw JSONError(.invalid, path: currencyField.path, "not a currency of ISO 4217, such as EUR")
      }
      let text = try amount.string
      do throws(MistypedAmount) { return try Amount(typed: text, in: currency) } catch {
        throw JSONError(.invalid, path: amount.path, "\(error)")
      }
    }
  }
}
