import ApplePayToken
import StrictJSON
package import TenderPayments

extension TokenKeys {
  /// The longest line that is read: a payment token of the greatest length in base64, and what stands beside it.
  package static let lineLimit = 1 << 20

  /// What a line beyond ``lineLimit`` is answered with. Nothing after it can be read.
  package static var answerToLongLine: [UInt8] {
    JSONValue.object(TokenAnswer.document(TokenCallError(.malformedRequest, "a line of more than 1 MiB"))).serialized()
  }

  /// Answers a call that is a line of JSON by a line of JSON, without the line break:
  ///
  ///     {"id": 1, "call": "decrypt", "token": "eyJ2…", "confirm": {"amount": 1250, …}, "spend": true}
  ///
  /// `call` is `version`, `inspect`, `verify` or `decrypt`; `token` the bytes that arrived, in base64; `at` the time of
  /// arrival, now by default. With `confirm` and `spend` the payment token must pay this, and once, before the answer
  /// says what is in it. The answer has the `id` of the call.
  ///
  /// - Returns: card data, which the caller wipes.
  package func answer(line: [UInt8], version: String, now: Timestamp) -> [UInt8] {
    var id: JSONValue?
    let members = Self.refusing {
      let request = try CallFields(line, limit: Self.lineLimit, .malformedRequest)
      id = try request.read { try $0.memberIfPresent("id")?.value }
      return try answer(request, version, now)
    }
    guard let id else { return JSONValue.object(members).serialized() }
    var whole: JSONObject = ["id": id]
    for (key, value) in members.members { whole[key] = value }
    return JSONValue.object(whole).serialized()
  }

  private static func refusing(_ body: () throws -> JSONObject) -> JSONObject {
    do { return try body() } catch let error as PaymentTokenError {
      return TokenAnswer.document(error)
    } catch let error as TokenCallError {
      return TokenAnswer.document(error)
    } catch {
      return TokenAnswer.document(TokenCallError(.malformedRequest, "not as described"))
    }
  }

  private func answer(_ request: CallFields, _ version: String, _ now: Timestamp) throws -> JSONObject {
    let call = try request.read { try $0.member("call").string }
    switch call {
    case "version":
      try request.allow(["id", "call"])
      return ["version": .string(version)]
    case "inspect":
      try request.allow(["id", "call", "token"])
      return TokenAnswer.document(TokenInspection(try EncryptedPaymentToken(bytes: Self.token(request))))
    case "verify", "decrypt":
      try request.allow(["id", "call", "token", "at", "confirm", "spend"])
      let (token, time) = (try Self.token(request), try Self.time(request) ?? now)
      return try pay(call == "verify" ? verify(token, at: time) : decrypt(token, at: time), request)
    default: throw TokenCallError(.unknownCall, "there is no such call", field: "$.call")
    }
  }

  /// Spends last: a payment token that does not pay the order is still good for the one that it pays.
  private func pay(_ token: CheckedToken, _ request: CallFields) throws -> JSONObject {
    var members = TokenAnswer.document(token)
    // A null is a mistake here: it would leave the check out.
    let (expected, isSpent) = try request.read { fields in
      let object = try fields.object
      return (
        object["confirm"] == nil ? nil : try fields.member("confirm"),
        object["spend"] == nil ? false : try fields.member("spend").bool
      )
    }
    if let expected {
      try token.confirm(request.at(expected))
      members["confirmed"] = true
    }
    if isSpent {
      try spend(token)
      members["spent"] = true
    }
    return members
  }

  private static func token(_ request: CallFields) throws -> [UInt8] {
    guard let bytes = Base64.decode(try request.read { try $0.member("token").string }) else {
      throw request.mistake("token is the bytes that arrived, in base64")
    }
    return bytes
  }

  private static func time(_ request: CallFields) throws -> Timestamp? {
    guard let text = try request.read({ try $0.memberIfPresent("at")?.string }) else { return nil }
    guard let time = Timestamp(rfc3339: text) else {
      throw request.mistake("at is a time in UTC, for example 2026-11-21T10:00:00Z")
    }
    return time
  }
}
