import Administration
import ApplePayToken
import HTTPServing
import Hummingbird
import Settings
import StrictJSON
import Telemetry
import TenderPayments

/// Shows the trace of a simulated payment. Other environments do not have this route.
struct TraceController: Sendable {
  let book: TraceBook
  let baskets: BasketLookup
  /// Trusts the simulated Apple's root alone, so it never opens a payment token of a real card.
  let opener: TokenOpener

  /// `GET /applepay/payment/{basketId}/trace`: the basket id is the right to read it.
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, _) = try await baskets.require(request, context)
    guard let (trace, token) = book[basket] else {
      throw Problem(
        .notFound, "trace_forgotten", "The server keeps traces of the newest baskets in memory; this one is gone.")
    }
    let answer: JSONValue = [
      "basketId": .string(basket.rawValue), "startedAt": .string(trace.start.description),
      "calls": .array(trace.calls.map { $0.json(since: trace.start) }),
      "payment": token.flatMap(open)?.json ?? .null,
    ]
    return JSONAnswer.response(bytes: answer.serialized())
  }

  /// Opens the payment token a second time.
  private func open(_ spent: SpentToken) -> OpenedPaymentToken? {
    try? opener.open(spent.token, for: spent.merchant, at: spent.arrived)
  }
}

extension TraceController {
  /// Nil where no traces are kept.
  init?(_ parts: Composition, _ baskets: BasketLookup) {
    guard let book = parts.traces, let apple = parts.apple.simulated,
      let trust = try? TokenTrust.simulated(rootPEM: apple.tokenRootPEM)
    else { return nil }
    (self.book, self.baskets) = (book, baskets)
    opener = TokenOpener(verifier: TokenVerifier(trust: trust), keys: parts.keys.ring)
  }
}

extension PaymentTrace.Call {
  fileprivate func json(since start: Timestamp) -> JSONValue {
    [
      "name": .string(call.name), "about": moment.map(JSONValue.string) ?? .null,
      "at": .integer(call.start.since(start).microseconds), "microseconds": .integer(call.time.microseconds),
      "status": .integer(status), "spans": .array(parts.map { $0.json(since: call.start) }),
    ]
  }
}

extension FinishedSpan {
  fileprivate func json(since begin: Timestamp) -> JSONValue {
    [
      "name": .string(step), "at": .integer(start.since(begin).microseconds),
      "microseconds": .integer(time.microseconds), "outcome": answer.map(JSONValue.string) ?? .null,
    ]
  }
}

extension OpenedPaymentToken {
  /// Apple's keys; account number and cryptogram masked.
  fileprivate var json: JSONValue {
    let token = verified.token
    return [
      "version": .string(token.version.rawValue), "transactionId": .string(Hex.encode(token.transactionID)),
      "publicKeyHash": .string(Base64.encode(token.publicKeyHash)),
      "applicationDataHash": token.applicationDataHash.map { .string(Hex.encode($0)) } ?? .null,
      "signedAt": .string(verified.signingTime.description), "paymentData": paymentData.masked,
    ]
  }
}
