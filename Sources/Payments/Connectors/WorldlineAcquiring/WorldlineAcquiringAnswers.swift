import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// What Worldline Acquiring's answers mean.
///
/// An answer counts only when it parses strictly, bears our `operationId`, and is about our amount where it names one.
/// Everything else leaves the outcome unknown.
enum WorldlineAcquiringAnswers {
  /// What every answer to an operation says.
  struct Result: Sendable {
    let code: String
    let category: String
    let advice: String?
    let retryAfter: String?

    init(_ root: JSONField) throws(JSONError) {
      code = try word(root.member("responseCode"), limit: 10)
      category = try root.member("responseCodeCategory").string
      // They only explain a refusal, so none of them makes it unknown.
      advice = try? word(root.member("additionalResponseData").member("merchantAdviceCode"), limit: 4)
      retryAfter = try? word(root.member("retryAfter"), limit: 40)
    }

    var isApproved: Bool { category == "APPROVED" }

    var declined: AcquirerAnswer {
      WorldlineAcquiringDeclines.uncertain.contains(code)
        ? .unknown(Interruption(.acquirerUncertain, detail: "response code \(code)"))
        : .declined(WorldlineAcquiringDeclines.decline(code: code, advice: advice, retryAfter: retryAfter))
    }
  }

  /// The answer to a payment request.
  static func authorization(_ response: InboundResponse, _ request: AuthorizationRequest) -> AcquirerAnswer {
    guard isSuccess(response) else { return failure(response) }
    do {
      let root = JSONField(try JSONReader.read(response.body))
      guard try root.member("operationId").string == request.reference.rawValue else { return another }
      let result = try Result(root)
      return request.verifiesCard ? try verification(result, root, request) : try outcome(result, root, request.amount)
    } catch {
      return unknown(error.description)
    }
  }

  /// A verification makes no payment, so its only name is ours.
  private static func verification(
    _ result: Result, _ root: JSONField, _ request: AuthorizationRequest
  ) throws(JSONError) -> AcquirerAnswer {
    if result.category == "DECLINED" { return result.declined }
    guard result.isApproved else { return unknown("a category that does not fit a verification") }
    let references = try root.memberIfPresent("references")
    return .approved(
      Approval(
        acquirerReference: request.reference.rawValue,
        authorizationCode: try root.memberIfPresent("authorizationCode")?.string,
        networkTransactionID: try references?.memberIfPresent("schemeTransactionId")?.string))
  }

  /// The outcome of a payment, whose `status` and category have to agree.
  private static func outcome(_ result: Result, _ root: JSONField, _ asked: Amount) throws(JSONError) -> AcquirerAnswer
  {
    let name = try name(root.member("paymentId"))
    switch (result.category, try root.member("status").string) {
    case ("DECLINED", "NOT_AUTHORIZED"): return result.declined
    case ("APPROVED", "PENDING"): return .pending(Pending(acquirerReference: name))
    case ("APPROVED", "AUTHORIZED"): return try approval(root, name, asked, isPartial: false)
    case ("PARTIALLY_APPROVED", "AUTHORIZED"): return try approval(root, name, asked, isPartial: true)
    default: return unknown("a status that does not fit the response code")
    }
  }

  static func approval(
    _ root: JSONField, _ name: String, _ asked: Amount, isPartial: Bool
  ) throws(JSONError) -> AcquirerAnswer {
    let approved = try amount(root.member("totalAuthorizedAmount"))
    let isLess = approved.isPositive && approved.currency == asked.currency && approved.minorUnits < asked.minorUnits
    guard isPartial ? isLess : approved == asked else { return unknown("approved for another amount") }
    let references = try root.memberIfPresent("references")
    return .approved(
      Approval(
        acquirerReference: name, authorizationCode: try root.memberIfPresent("initialAuthorizationCode")?.string,
        networkTransactionID: try references?.memberIfPresent("schemeTransactionId")?.string,
        approvedAmount: isPartial ? approved : nil))
  }

  /// The answer to a capture, a reversal of the hold or a refund. Worldline names them by our own reference; a refund
  /// has a name beside it.
  static func action(
    _ response: InboundResponse, _ kind: WorldlineAcquiringAction, _ request: FollowUpRequest
  ) -> AcquirerAnswer {
    guard isSuccess(response) else { return failure(response) }
    do {
      let root = JSONField(try JSONReader.read(response.body))
      guard try root.member("operationId").string == request.reference.rawValue else { return another }
      let result = try Result(root)
      if result.category == "DECLINED" { return result.declined }
      guard result.isApproved else { return unknown("a category that is not known") }
      return kind == .refund ? try refund(root) : try move(root, request)
    } catch {
      return unknown(error.description)
    }
  }

  private static func move(_ root: JSONField, _ request: FollowUpRequest) throws(JSONError) -> AcquirerAnswer {
    let payment = try root.member("payment")
    guard try payment.member("paymentId").string == request.authorization else { return another }
    guard try payment.member("status").string == "PENDING" else {
      return .approved(Approval(acquirerReference: request.reference.rawValue))
    }
    return .pending(Pending(acquirerReference: request.reference.rawValue))
  }

  private static func refund(_ root: JSONField) throws(JSONError) -> AcquirerAnswer {
    let refund = try root.member("refund")
    return try refundAnswer(refund.member("status").string, name(refund.member("refundId")))
  }

  /// By a refund's status; nil for one that a refund of ours cannot have.
  static func refundAnswer(_ status: String, _ name: String) -> AcquirerAnswer {
    switch status {
    case "CONFIRMED", "PENDING_CAPTURE": .approved(Approval(acquirerReference: name))
    case "PENDING", "AUTHORIZED": .pending(Pending(acquirerReference: name))
    case "NOT_AUTHORIZED", "CANCELLED", "REVERSED": .declined(Decline(reason: .other, code: status))
    default: unknown("a status that is not known")
    }
  }

  /// The answer to a technical reversal.
  ///
  /// - Parameter name: of the reversal.
  static func reversal(_ response: InboundResponse, _ name: String) -> Reversal {
    guard isSuccess(response), let root = try? JSONField(JSONReader.read(response.body)),
      (try? root.member("operationId").string) == name, let result = try? Result(root)
    else {
      return .unavailable(Interruption(.unintelligibleAnswer, detail: "HTTP \(response.status)"))
    }
    if WorldlineAcquiringDeclines.notFound.contains(result.code) { return .nothingFound }
    switch result.category {
    case "APPROVED": return .reversed
    case "DECLINED": return .refused(code: result.code)
    default: return .unavailable(Interruption(.unintelligibleAnswer, detail: "a category that is not known"))
    }
  }

  /// The answer to a ping.
  static func credentials(_ response: InboundResponse) -> CredentialCheck {
    switch response.status {
    case 200, 204:
      response.body.isEmpty || (try? JSONReader.read(response.body)) != nil
        ? .accepted : .unavailable(Interruption(.unintelligibleAnswer, detail: "HTTP 200 without JSON"))
    case 401: .refused("Worldline does not accept the access token")
    case 403: .refused("the client may not ping: it lacks the scope services_ping")
    default: .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
  }
}

// Answers that are no success.
extension WorldlineAcquiringAnswers {
  static func isSuccess(_ response: InboundResponse) -> Bool { response.status == 200 || response.status == 201 }

  /// Whether it is certain that the access token was rejected, and so nothing was done: the API says so itself, and no
  /// proxy's page.
  static func saysUnauthorized(_ response: InboundResponse) -> Bool {
    guard response.status == 401 else { return false }
    return problem(response) != nil
      || response.header("WWW-Authenticate")?.lowercased().hasPrefix("bearer") == true
  }

  /// A rejected call. Nothing was done where Worldline says that the call was not valid or not allowed, or came too
  /// often. A conflict and a server's error leave the outcome unknown.
  static func failure(_ response: InboundResponse) -> AcquirerAnswer {
    if response.status == 429 { return .declined(Decline(reason: .issuerUnavailable, code: "HTTP 429")) }
    if saysUnauthorized(response) { return .declined(Decline(reason: .configuration, code: "HTTP 401")) }
    guard [400, 403, 404, 405, 410, 413, 415, 422].contains(response.status), let problem = problem(response) else {
      let kind: Interruption.Kind = response.status == 409 ? .acquirerUncertain : .serverError
      return .unknown(Interruption(kind, detail: "HTTP \(response.status)"))
    }
    return .declined(Decline(reason: .configuration, code: "HTTP \(response.status) \(problem)"))
  }

  /// The last word of the type of a problem (RFC 7807) of the same status; nil for any other body.
  private static func problem(_ response: InboundResponse) -> String? {
    guard let root = try? JSONReader.read(response.body), root["status"] == .integer(Int64(response.status)),
      case .string(let type) = root["type"], let word = type.split(separator: "/").last,
      (1...60).contains(word.utf8.count), word.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
    else { return nil }
    return String(word)
  }

  static let another = unknown("the answer to another operation")

  static func unknown(_ detail: String) -> AcquirerAnswer {
    .unknown(Interruption(.unintelligibleAnswer, detail: detail))
  }
}

// Fields.
extension WorldlineAcquiringAnswers {
  static func amount(_ field: JSONField) throws(JSONError) -> Amount {
    let code = try field.member("currencyCode").string
    guard let currency = Currency(code: code), currency.isMoney,
      try field.member("numberOfDecimals").integer == Int64(currency.exponent)
    else { throw JSONError(.invalid, path: field.path, "no amount in ISO 4217's units") }
    return try field.member("amount").amount(in: currency)
  }

  /// Worldline's name of a payment or refund. It becomes part of an address, so it must look like a name.
  static func name(_ field: JSONField) throws(JSONError) -> String {
    let text = try field.string
    guard isName(text) else { throw JSONError(.invalid, path: field.path, "no name") }
    return text
  }

  static func isName(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || ":_-".utf8.contains($0)
      }
  }

  /// Letters, digits and the marks of a duration or a time.
  fileprivate static func word(_ field: JSONField, limit: Int) throws(JSONError) -> String {
    let text = try field.string
    guard (1...limit).contains(text.utf8.count),
      text.utf8.allSatisfy({
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || ":.+-".utf8.contains($0)
      })
    else { throw JSONError(.invalid, path: field.path, "not 1 to \(limit) letters and digits") }
    return text
  }
}

private func word(_ field: JSONField, limit: Int) throws(JSONError) -> String {
  try WorldlineAcquiringAnswers.word(field, limit: limit)
}
