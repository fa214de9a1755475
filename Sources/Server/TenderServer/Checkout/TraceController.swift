import Administration
import HTTPServing
import Hummingbird
import StrictJSON
import TenderPayments

/// Shows the trace of a simulated payment. Other environments do not have this route.
struct TraceController: Sendable {
  let store: TraceStore
  let baskets: BasketLookup

  /// `GET /applepay/payment/{basketId}/trace`: the basket id is the right to read it.
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, _) = try await baskets.require(request, context)
    guard let trace = store[basket] else {
      throw Problem(
        .notFound, "trace_forgotten", "The server keeps traces of the newest baskets in memory; this one is gone.")
    }
    return JSONAnswer.response(bytes: trace.json(of: basket).serialized())
  }
}

extension PaymentTrace {
  fileprivate func json(of basket: BasketID) -> JSONValue {
    [
      "basketId": .string(basket.rawValue), "startedAt": .string(startedAt.description),
      "calls": .array(calls.map(\.json)), "payment": payment?.json ?? .null,
    ]
  }
}

extension PaymentTrace.Call {
  fileprivate var json: JSONValue {
    [
      "name": .string(name), "about": about.map(JSONValue.string) ?? .null, "at": .integer(at),
      "microseconds": .integer(microseconds), "status": .integer(Int64(status)), "spans": .array(spans.map(\.json)),
    ]
  }
}

extension PaymentTrace.Span {
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
