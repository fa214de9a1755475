import Administration
import DirectWire
import Gateway
import HTTPServing
import Hummingbird
import Ledger
import Logging
import PlatformAPI
import Storage
import TenderPayments

/// What a merchant's server asks beside Worldline's calls: its payments by what it knows of them, and what happened to
/// them.
struct SearchController: Sendable {
  let database: Database
  let payments: PlatformPayments

  /// `GET /v2/{merchantId}/payments`
  func find(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    let query = try PaymentQuery(request.query.pairs, of: call.merchant)
    let page = try await database.read { try query.page(in: $0) }
    var found: [DirectPayment] = []
    for payment in page.payments { found.append(try await payments.rendering(of: payment).answer) }
    return JSONAnswer.response(PaymentPageAnswer(found, nextCursor: page.next.map(PaymentQuery.cursor)))
  }

  /// `GET /v2/{merchantId}/agreements`
  func agreements(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    let pairs = request.query.pairs
    return JSONAnswer.response(
      try await database.read { try PlatformAgreements.page(pairs, of: call.merchant, in: $0) })
  }

  /// `GET /v2/{merchantId}/agreements/{agreementId}`
  func agreement(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    let id = AgreementID(try context.parameters.require("agreement"))
    guard let found = try await database.read({ try PlatformAgreements.find(id, of: call.merchant, in: $0) }) else {
      throw GatewayError.agreementRefused(.unknown(id))
    }
    return JSONAnswer.response(found)
  }

  /// `POST /v2/{merchantId}/agreements/{agreementId}`
  func changeAgreement(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    let id = AgreementID(try context.parameters.require("agreement"))
    let body = try await RequestBody.collect(request)
    return JSONAnswer.response(try await payments.changeAgreement(id, body, of: call.merchant))
  }

  /// `GET /v2/{merchantId}/events`
  func events(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    let query = try EventQuery(request.query.pairs, of: call.merchant)
    let logger = context.logger
    return JSONAnswer.response(
      try await database.read { store in
        try query.page(.stored(logger), in: store) { place in
          logger.error(
            "an event is passed over, which this version cannot read",
            metadata: ["merchant": .string(call.merchant.rawValue), "place": .stringConvertible(place.position)])
        }
      })
  }

  /// `GET /v2/{merchantId}/events/{eventId}`
  func event(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    let (id, logger) = (try context.parameters.require("event"), context.logger)
    let found = try await database.read { try EventQuery.find(id, of: call.merchant, .stored(logger), in: $0) }
    guard let event = found else {
      throw Problem(.notFound, "event_unknown", "The merchant has no event of this id.", field: "eventId")
    }
    return JSONAnswer.response(event)
  }
}
