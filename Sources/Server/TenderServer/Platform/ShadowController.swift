import Acquiring
package import Administration
import ApplePayToken
import Gateway
import HTTPServing
import Hummingbird
import Settings
import StrictJSON
import TenderPayments

/// What `tender shadow` and merchants' servers ask in shadow mode.
struct ShadowController: Sendable {
  let gateway: PaymentGateway
  let configuration: ServerConfiguration
  let apple: AppleEnvironment

  /// `POST /shadow`: verifies, routes and builds a payment that the merchant sends elsewhere. The connectors are made anew
  /// with a transport that can send nothing.
  func examine(_ request: Request, _ context: ServerContext) async throws -> Response {
    let body = try RequestBody.read(try await RequestBody.collect(request))
    return try await report(
      RequestBody.refusing { try ShadowPayment(body, of: MerchantID(try body.member("merchant").string)) })
  }

  /// `POST /v2/{merchantId}/shadow`: the same for the merchant that calls.
  func examineOwn(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try PlatformPaymentController.call(context)
    let body = try RequestBody.read(try await RequestBody.bytes(request))
    return try await report(RequestBody.refusing { try ShadowPayment(body, of: call.merchant) })
  }

  private func report(_ payment: ShadowPayment) async throws -> Response {
    let transport = ShadowTransport()
    let routes = try RouteTable.shadow(configuration, apple, transport, routing: gateway.routes.routing)
    do throws(PaymentTokenError) {
      let findings = await gateway.shadow(
        payment.order, with: try EncryptedPaymentToken(json: payment.token), choosing: payment.choice,
        at: payment.receivedAt, through: routes)
      return JSONAnswer.response(ShadowReport(payment, findings, transport.requests))
    } catch {
      return JSONAnswer.response(ShadowReport(payment, refusal: error))
    }
  }
}

/// A payment that the merchant sends elsewhere, as it is handed in.
private struct ShadowPayment: Sendable {
  let order: Order
  let token: JSONValue
  let choice: RouteChoice
  /// When the payment token arrived at the merchant; nil for now.
  let receivedAt: Timestamp?
  /// `approved` or `declined`, where the merchant reports it.
  let answer: String?
  /// The name of the provider that the merchant asked, as Tender calls its route.
  let answeredBy: String?

  init(_ body: JSONField, of merchant: MerchantID) throws(JSONError) {
    order = try Self.order(body, of: merchant)
    token = try body.member("token").value
    choice = try Self.choice(body)
    receivedAt = try body.memberIfPresent("receivedAt").map { field throws(JSONError) in
      guard let time = Timestamp(rfc3339: try field.string) else {
        throw JSONError(.invalid, path: field.path, "not a time such as 2026-11-21T10:00:00Z")
      }
      return time
    }
    let answer = try body.memberIfPresent("answer")
    self.answer = try answer?.member("result").string
    answeredBy = try answer?.memberIfPresent("route")?.string
  }

  private static func order(_ body: JSONField, of merchant: MerchantID) throws(JSONError) -> Order {
    let reference = try body.memberIfPresent("merchantReference")?.string ?? "shadow"
    return Order(
      id: OrderID(reference), merchant: merchant, basket: BasketID(reference),
      amount: try body.typedAmount, applicationDataHash: [], merchantReference: reference, capture: .manual)
  }

  private static func choice(_ body: JSONField) throws(JSONError) -> RouteChoice {
    var sale = SaleDetails()
    sale.cardNetwork = try body.memberIfPresent("network").flatMap { field throws(JSONError) in
      CardNetwork(known: try field.string)
    }
    return RouteChoice(sale: sale, country: try body.memberIfPresent("country")?.string)
  }
}

/// What would have become of a payment here.
package struct ShadowReport: Codable, Sendable {
  package let merchantReference: String
  /// `accepted` or `refused`.
  package let token: String
  /// Stage, code and reason of a refusal.
  package let refusal: String?
  /// Whether the payment request carried application data. Tender refuses payments without it; its own pages send it.
  package let applicationData: Bool
  /// Where the payment would have gone.
  package let route: String?
  package let rules: [RuleReport]
  /// What would have been sent there, with everything masked that is not known to be harmless.
  package let requests: [String]
  /// In what it differs from what the merchant reports: `token_refused`, `another_amount`, `no_route`, `another_route`.
  package let differences: [String]

  fileprivate init(_ payment: ShadowPayment, _ findings: ShadowFindings, _ requests: [String]) {
    merchantReference = payment.order.merchantReference
    refusal = findings.refusal.map(Self.text)
    token = findings.refusal == nil ? "accepted" : "refused"
    applicationData = findings.hasApplicationData
    route = findings.route
    rules = RuleReport.all(findings.rules)
    self.requests = requests
    differences = findings.differences(from: payment.order.amount, payment.answer, by: payment.answeredBy)
  }

  /// The report on a payment token that is none.
  fileprivate init(_ payment: ShadowPayment, refusal error: PaymentTokenError) {
    merchantReference = payment.order.merchantReference
    (refusal, token, applicationData, route) = (Self.text(error), "refused", false, nil)
    (rules, requests) = ([], [])
    differences = payment.answer == "approved" ? ["token_refused"] : []
  }

  private static func text(_ error: PaymentTokenError) -> String {
    "\(error.stage.rawValue) \(error.code.rawValue): \(error.reason)"
  }
}

extension ShadowFindings {
  fileprivate func differences(from amount: Amount, _ answer: String?, by provider: String?) -> [String] {
    guard refusal == nil else { return answer == "approved" ? ["token_refused"] : [] }
    guard let route else { return ["no_route"] }
    let isOtherAmount = signedAmount.map { $0 != amount } ?? false
    let isOtherRoute = provider.map { $0 != route } ?? false
    return (isOtherAmount ? ["another_amount"] : []) + (isOtherRoute ? ["another_route"] : [])
  }
}
