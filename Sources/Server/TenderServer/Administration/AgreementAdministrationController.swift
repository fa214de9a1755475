import Administration
import HTTPServing
import Hummingbird
import Ledger
import TenderPayments

/// What `tender agreement` asks of a running server, on a socket that only its own user can open.
struct AgreementAdministrationController: Sendable {
  let administration: PaymentAdministration

  /// `GET /agreements?merchant=…&status=…&limit=…`: newest first.
  func list(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    return JSONAnswer.response(
      try await administration.agreements(
        of: query["merchant"].map { MerchantID($0) },
        status: query["status"].flatMap { AgreementStatus(rawValue: $0) },
        limit: query["limit"].flatMap { Int64($0) } ?? 50))
  }

  /// `GET /agreements/{id}`
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await administration.agreement(context.name("agreement")))
  }

  /// `POST /agreements/{id}/end?by=USER&reason=…`
  func end(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await administration.end(context.name("agreement"), by: Self.person(request)))
  }

  /// `POST /agreements/{id}/change?status=…&amount=10.00&from=…&by=USER&reason=…`
  func change(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    return JSONAnswer.response(
      try await administration.change(
        context.name("agreement"), to: query["status"].flatMap { AgreementStatus(rawValue: $0) },
        amount: query["amount"],
        from: query["from"], by: Self.person(request)))
  }

  /// `POST /agreements/{id}/charge?period=…&amount=10.00&key=…&by=USER&reason=…`
  func charge(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    return JSONAnswer.response(
      try await administration.charge(
        context.name("agreement"), period: query["period"].flatMap { Int64($0) }, amount: query["amount"],
        key: query["key"],
        by: Self.person(request)))
  }

  private static func person(_ request: Request) -> CommandLineOperator {
    CommandLineOperator(request.query["by"] ?? "", because: request.query["reason"] ?? "")
  }
}
