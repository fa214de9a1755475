import Acquiring
import Administration
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
  let merchants: LiveMerchants

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
    let body = try RequestBody.read(try await RequestBody.collect(request))
    let payment = try RequestBody.refusing { try RoutedPayment(body) }
    guard merchants.current[payment.merchant] != nil else {
      throw Problem(
        .notFound, "merchant_unknown", "No merchant \(payment.merchant) is served here.", field: "merchant")
    }
    return JSONAnswer.response(["rules": RuleReport.all(routes.findings(for: payment))])
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
