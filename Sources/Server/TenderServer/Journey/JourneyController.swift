import HTTPServing
import Hummingbird
import StrictJSON
import TenderPayments

/// Tells the journey of a payment that is only simulated. No other environment has this route.
struct JourneyController: Sendable {
  static let name = "/journey"

  let book: JourneyBook
  let baskets: BasketLookup

  /// `GET /applepay/payment/{basketId}/journey`: for whoever knows the basket, as all about a payment.
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, _) = try await baskets.require(request, context)
    guard let journey = book[basket] else {
      throw Problem(
        .notFound, "journey_forgotten", "Journeys are kept in memory, of the newest baskets alone; this one is gone.")
    }
    return JSONAnswer.response(bytes: journey.json(of: basket).serialized())
  }
}

extension Journey {
  fileprivate func json(of basket: BasketID) -> JSONValue {
    [
      "basketId": .string(basket.rawValue), "startedAt": .string(startedAt.description),
      "calls": .array(calls.map(\.json)), "payment": payment?.json ?? .null,
    ]
  }
}

extension Journey.Call {
  fileprivate var json: JSONValue {
    [
      "name": .string(name), "about": about.map(JSONValue.string) ?? .null, "at": .integer(at),
      "microseconds": .integer(microseconds), "status": .integer(Int64(status)), "laps": .array(laps.map(\.json)),
    ]
  }
}

extension Journey.Lap {
  fileprivate var json: JSONValue {
    [
      "name": .string(name), "microseconds": .integer(microseconds),
      "outcome": outcome.map(JSONValue.string) ?? .null,
    ]
  }
}

extension OpenedPayment {
  fileprivate var json: JSONValue {
    [
      "version": .string(version), "transactionId": .string(transactionId), "publicKeyHash": .string(publicKeyHash),
      "applicationDataHash": applicationDataHash.map(JSONValue.string) ?? .null, "signedAt": .string(signedAt),
      "paymentData": paymentData,
    ]
  }
}
