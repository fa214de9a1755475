import Administration
import HTTPServing
import Hummingbird
import Ledger
import NIOCore
import StrictJSON
import TenderPayments

/// What `tender payment` asks of a running server, on a socket that only its own user can open.
struct PaymentAdministrationController: Sendable {
  let administration: PaymentAdministration

  /// `POST /payments/search` with a ``PaymentLookup``: newest first.
  func list(_ request: Request, _ context: ServerContext) async throws -> Response {
    let body = try await BodyReader.collect(request, limit: 16_384)
    let lookup = try RequestBody.refusing { try StrictJSONDecoder().decode(PaymentLookup.self, from: body) }
    return JSONAnswer.response(try await administration.list(lookup))
  }

  /// `GET /payments?limit=…`: the newest; `?named=…`: by the id of a payment, an order or a basket, or by the merchant's
  /// reference, with their operations.
  func newest(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    if let name = query["named"] { return JSONAnswer.response(try await administration.find(name)) }
    var lookup = PaymentLookup()
    lookup.limit = query["limit"].flatMap { Int($0) } ?? lookup.limit
    return JSONAnswer.response(try await administration.list(lookup))
  }

  /// `GET /payments/{id}`
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let payment = try await administration.find(context.name("payment")).payments.first else {
      throw Problem(.notFound, "payment_not_found", "There is no payment of this id.")
    }
    return JSONAnswer.response(payment)
  }

  /// `POST /payments/{id}/capture|void|refund|increment|inquire|acknowledge?amount=10.00&final=true&key=…&by=USER&reason=…`
  func operate(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    guard let operation = PaymentAdministration.Operation(rawValue: context.name("operation")) else {
      throw Problem(.notFound, "not_found", "There is nothing at this address.")
    }
    return JSONAnswer.response(
      try await administration.perform(
        operation, on: PaymentID(context.name("payment")), amount: query["amount"],
        isFinal: query["final"] == "true", key: query["key"],
        by: CommandLineOperator(query["by"] ?? "", because: query["reason"] ?? "")))
  }

  /// `POST /payments/{id}/resolve?as=voided&note=…&by=USER`; `as=approved` with `&operation=…`
  func resolve(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    guard let resolution = query["as"].flatMap(Resolution.init(rawValue:)) else {
      throw Problem(
        .badRequest, "bad_request", "A payment is resolved as voided or failed, an operation as approved.", field: "as")
    }
    return JSONAnswer.response(
      try await administration.resolve(
        PaymentID(context.name("payment")), as: resolution,
        operation: query["operation"].map { AttemptReference($0) },
        by: CommandLineOperator(query["by"] ?? "", because: query["note"] ?? "")))
  }

  /// `GET /journal/verification`
  func verify(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await administration.verify())
  }
}
