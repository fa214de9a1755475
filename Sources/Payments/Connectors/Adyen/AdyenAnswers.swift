import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

// What Adyen's answers mean.
extension AdyenMessages {
  /// The answer to `POST /payments`: 200 for refusals too.
  static func answer(_ response: InboundResponse, to request: AuthorizationRequest) -> AcquirerAnswer {
    guard response.status == 200 else { return refusal(response) }
    do {
      let root = JSONField(try JSONReader.read(response.body))
      guard try isAbout(request, root, response) else { return unknown("the answer to another payment") }
      return try outcome(root, request.amount)
    } catch {
      return unknown(error.description)
    }
  }

  /// Whether every name that the answer echoes is ours; it echoes one at least.
  private static func isAbout(
    _ request: AuthorizationRequest, _ root: JSONField, _ response: InboundResponse
  ) throws(JSONError) -> Bool {
    let echoes = [try root.memberIfPresent("merchantReference")?.string, response.header("Idempotency-Key")]
      .compactMap { $0 }
    return !echoes.isEmpty && echoes.allSatisfy { $0 == request.reference.rawValue }
  }

  private static func outcome(_ root: JSONField, _ asked: Amount) throws(JSONError) -> AcquirerAnswer {
    let result = try root.member("resultCode").string
    switch result {
    case "Authorised": return try approval(root, asked)
    case "PartiallyAuthorised": return try partialApproval(root, asked)
    case "Pending", "Received": return .pending(Pending(acquirerReference: try name(root.member("pspReference"))))
    case "Refused", "Error", "Cancelled":
      let code = try root.memberIfPresent("refusalReasonCode")?.string
      return .declined(AdyenDeclines.decline(code: code, resultCode: result))
    // The payment waits for the shopper, and no page sends the shopper there. It is not authorized, and ends by itself.
    case "RedirectShopper", "ChallengeShopper", "IdentifyShopper", "PresentToShopper", "AuthenticationNotRequired",
      "AuthenticationFinished":
      return .declined(Decline(reason: .authenticationRequired, code: result))
    default: return unknown("a result that is not known")
    }
  }

  private static func approval(_ root: JSONField, _ asked: Amount) throws(JSONError) -> AcquirerAnswer {
    if let stated = try root.memberIfPresent("amount"), try amount(stated) != asked {
      return unknown("approved for another amount")
    }
    return .approved(try approval(root, of: nil))
  }

  /// An approval of less than was asked for, and of something.
  private static func partialApproval(_ root: JSONField, _ asked: Amount) throws(JSONError) -> AcquirerAnswer {
    let approved = try amount(root.member("amount"))
    guard approved.currency == asked.currency, approved.isPositive, approved.minorUnits < asked.minorUnits else {
      return unknown("a partial approval of no part")
    }
    return .approved(try approval(root, of: approved))
  }

  private static func approval(_ root: JSONField, of amount: Amount?) throws(JSONError) -> Approval {
    let extra = try root.memberIfPresent("additionalData")
    return Approval(
      acquirerReference: try name(root.member("pspReference")),
      authorizationCode: try extra?.memberIfPresent("authCode")?.string,
      networkTransactionID: try extra?.memberIfPresent("networkTxReference")?.string, approvedAmount: amount,
      storedReference: try extra?.memberIfPresent("tokenization.storedPaymentMethodId")?.string)
  }

  /// The answer to a capture, a void or a refund: received, and decided later.
  static func answer(
    _ response: InboundResponse, to kind: AdyenModification, _ request: FollowUpRequest, _ account: String
  ) -> AcquirerAnswer {
    guard response.status == 201 else { return refusal(response) }
    do {
      let root = JSONField(try JSONReader.read(response.body))
      guard try isReceived(root, account), try isAbout(kind, request, root, response) else {
        return unknown("the answer to another operation")
      }
      if kind != .void, try amount(root.member("amount")) != request.amount {
        return unknown("received for another amount")
      }
      return .pending(Pending(acquirerReference: try name(root.member("pspReference"))))
    } catch {
      return unknown(error.description)
    }
  }

  /// Whether it names our payment, and every name that it echoes of the operation is ours; it echoes one at least.
  private static func isAbout(
    _ kind: AdyenModification, _ request: FollowUpRequest, _ root: JSONField, _ response: InboundResponse
  ) throws(JSONError) -> Bool {
    let (reference, key) = (try root.memberIfPresent("reference")?.string, response.header("Idempotency-Key"))
    let (ours, payment) = (kind.reference(request.reference), try root.member("paymentPspReference").string)
    guard payment == request.authorization, reference != nil || key != nil else { return false }
    return reference ?? ours == ours && key ?? request.reference.rawValue == request.reference.rawValue
  }

  /// The answer to `POST /cancels`.
  static func reversal(_ response: InboundResponse, of request: InquiryRequest, _ account: String) -> Reversal {
    guard response.status == 201, let root = try? JSONField(JSONReader.read(response.body)),
      (try? isReceived(root, account)) == true,
      (try? root.member("paymentReference").string) == request.reference.rawValue,
      let name = try? name(root.member("pspReference"))
    else {
      return .unavailable(Interruption(.unintelligibleAnswer, detail: "HTTP \(response.status) \(code(response))"))
    }
    return .accepted(acquirerReference: name)
  }

  private static func isReceived(_ root: JSONField, _ account: String) throws(JSONError) -> Bool {
    let (status, named) = (try root.member("status").string, try root.member("merchantAccount").string)
    return status == "received" && named == account
  }

  /// The answer to `POST /paymentMethods`.
  static func credentials(_ response: InboundResponse) -> CredentialCheck {
    switch response.status {
    case 200: (try? JSONReader.read(response.body)) == nil ? .unavailable(nonsense) : .accepted
    case 401: .refused("Adyen does not know the API key")
    case 403: .refused("the API key may not pay for this merchant account (\(code(response)))")
    case 422: .refused("Adyen refuses the merchant account (\(code(response)))")
    default: .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
  }

  private static let nonsense = Interruption(.unintelligibleAnswer, detail: "HTTP 200 without JSON")

  static func amount(_ field: JSONField) throws(JSONError) -> Amount {
    let code = try field.member("currency").string
    guard let currency = Currency(code: code), currency.isMoney else {
      throw JSONError(.invalid, path: field.path, "no currency")
    }
    return try field.member("value").amount(in: currency)
  }

  /// Adyen's name of a payment or modification. It becomes part of an address, so it must look like a name.
  private static func name(_ field: JSONField) throws(JSONError) -> String {
    let text = try field.string
    guard isName(text) else { throw JSONError(.invalid, path: field.path, "not 1 to 64 letters and digits") }
    return text
  }

  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
  }

  private static func unknown(_ detail: String) -> AcquirerAnswer {
    .unknown(Interruption(.unintelligibleAnswer, detail: detail))
  }
}

// Answers that are no 200 and no 201.
extension AdyenMessages {
  /// A refused call. Nothing was done where Adyen says so: the call was not valid, came too often, or met a transient
  /// error. What may have been done is unknown.
  private static func refusal(_ response: InboundResponse) -> AcquirerAnswer {
    if response.status == 429 { return .declined(Decline(reason: .issuerUnavailable, code: "HTTP 429")) }
    guard let code = errorCode(response) else { return failure(response) }
    // Another call under the same key is in progress, or was answered with other contents.
    if code == "704" { return .unknown(Interruption(.acquirerUncertain, detail: "error 704: the key is in use")) }
    if response.header("transient-error")?.lowercased() == "true" {
      return .declined(Decline(reason: .issuerUnavailable, code: code))
    }
    guard [400, 401, 403, 422].contains(response.status) else { return failure(response) }
    return .declined(Decline(reason: AdyenDeclines.reason(errorCode: code), code: code))
  }

  private static func failure(_ response: InboundResponse) -> AcquirerAnswer {
    .unknown(Interruption(.serverError, detail: "HTTP \(response.status)"))
  }

  /// For the operator.
  private static func code(_ response: InboundResponse) -> String { errorCode(response) ?? "no error code" }

  /// The code of a `ServiceError` of the same status; nil for any other body.
  private static func errorCode(_ response: InboundResponse) -> String? {
    guard let root = try? JSONReader.read(response.body), root["status"] == .integer(Int64(response.status)),
      case .string(let code) = root["errorCode"], (1...40).contains(code.utf8.count),
      code.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F })
    else { return nil }
    return code
  }
}
