import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// What Stripe answered to one call.
enum StripeReply: Sendable {
  /// 200, with a JSON object.
  case done(JSONField)
  /// Stripe refused the call.
  case refused(StripeRefusal)
  /// Nothing was done.
  case notSent(String)
  case unknown(Interruption)

  init(_ result: Result<InboundResponse, TransportError>) {
    switch result {
    case .failure(.notSent(let reason)): self = .notSent(reason)
    case .failure(let error): self = .unknown(error.interruption)
    case .success(let response): self.init(response)
    }
  }

  /// 401 and 403 are refused before anything is done, and so is what comes too often. A conflict is another call under
  /// the same key, which may be doing it now. All other errors may come after it was done.
  private init(_ response: InboundResponse) {
    switch response.status {
    case 200: self = Self.object(response)
    case 400, 402, 404: self = Self.refusal(response)
    case 401, 403: self = .refused(StripeRefusal(status: response.status))
    case 409: self = .unknown(Interruption(.acquirerUncertain, detail: "HTTP 409: the idempotency key is in use"))
    case 429: self = .notSent("Stripe limits the rate of requests: HTTP 429")
    default: self = .unknown(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
  }

  private static func object(_ response: InboundResponse) -> StripeReply {
    do throws(JSONError) {
      let root = JSONField(try JSONReader.read(response.body))
      _ = try root.object
      return .done(root)
    } catch { return .unknown(Interruption(.unintelligibleAnswer, detail: error.description)) }
  }

  private static func refusal(_ response: InboundResponse) -> StripeReply {
    do throws(JSONError) {
      let refusal = try StripeRefusal(JSONField(try JSONReader.read(response.body)).member("error"), response.status)
      guard !refusal.isAboutEarlierCall else {
        return .unknown(Interruption(.acquirerUncertain, detail: "used before: \(refusal.code ?? refusal.kind)"))
      }
      return .refused(refusal)
    } catch { return .unknown(Interruption(.unintelligibleAnswer, detail: error.description)) }
  }
}

/// The `error` of an answer.
struct StripeRefusal: Sendable {
  let status: Int
  /// `card_error`, `invalid_request_error`, …
  let kind: String
  let code: String?
  let declineCode: String?
  /// What the call was about, where Stripe says it.
  let intent: StripeIntent?

  init(status: Int) {
    (self.status, kind, code, declineCode, intent) = (status, "", nil, nil, nil)
  }

  init(_ error: JSONField, _ status: Int) throws(JSONError) {
    self.status = status
    kind = try error.member("type").string
    code = try error.memberIfPresent("code")?.string
    declineCode = try error.memberIfPresent("decline_code")?.string
    intent = try error.memberIfPresent("payment_intent").map { (field) throws(JSONError) in try StripeIntent(field) }
  }

  /// The key or the token was used before, so that an earlier call decides the outcome.
  var isAboutEarlierCall: Bool {
    kind == "idempotency_error" || ["token_already_used", "token_in_use"].contains(code)
  }

  var decline: Decline {
    kind == "card_error"
      ? StripeDeclines.decline(code: code, declineCode: declineCode)
      : StripeDeclines.refusal(code: code, status: status)
  }
}
