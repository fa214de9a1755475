import Hummingbird
import Ledger
public import TenderPayments

/// What the command line asks of a running server, on a socket that only its own user can open.
struct AdminController: Sendable {
  let journal: Journal

  func add(to router: Router<ServerContext>) {
    router.get("/payments", use: list)
    router.get("/payments/:payment", use: show)
  }

  /// `GET /payments?limit=…`: newest first.
  private func list(_ request: Request, _ context: ServerContext) async throws -> Response {
    var query = PaymentQuery()
    query.limit = min(500, request.uri.queryParameters.get("limit", as: Int.self) ?? 50)
    return JSONAnswer.response(["payments": try await journal.payments(matching: query).map(PaymentReport.init)])
  }

  private func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    let id = PaymentID(context.parameters.get("payment") ?? "")
    guard let payment = try await journal.payment(id) else {
      throw Problem(.notFound, "payment_not_found", "There is no payment of this id.")
    }
    return JSONAnswer.response(PaymentReport(payment))
  }
}

/// A payment as the command line shows it.
public struct PaymentReport: Codable, Sendable {
  public let id: PaymentID
  public let status: PaymentStatus
  public let merchant: MerchantID
  public let order: OrderID
  public let basket: BasketID
  public let currency: String
  /// Minor units.
  public let amount: Int64
  public let authorized: Int64
  public let captured: Int64
  public let refunded: Int64
  public let card: String
  public let declined: String?
  public let createdAt: String

  public init(_ payment: Payment) {
    id = payment.id
    status = payment.status
    merchant = payment.merchant
    order = payment.order
    basket = payment.basket
    currency = payment.amount.currency.code
    amount = payment.amount.minorUnits
    authorized = payment.authorized
    captured = payment.captured
    refunded = payment.refunded
    card = payment.card.deviceAccountSuffix.map { "device \($0)" } ?? "sealed"
    declined = payment.decline?.reason.rawValue
    createdAt = payment.createdAt.description
  }
}
