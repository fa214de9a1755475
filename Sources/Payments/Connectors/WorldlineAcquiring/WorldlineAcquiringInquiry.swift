import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

// Payments and refunds are found by Worldline's names, operations of a payment by ours. An authorization whose answer
// never came has no name of Worldline's: it is not found, and undone instead.
extension WorldlineAcquiringConnector {
  func inquire(_ request: InquiryRequest, _ deadline: Deadline) async -> Inquiry {
    guard let merchant = merchant(request.merchantAccount) else {
      return .unavailable(Interruption(.acquirerUncertain, detail: notOurs))
    }
    if request.kind == .refund, let refund = request.acquirerReference, refund != request.reference.rawValue {
      return await find("\(merchant)/refunds/\(refund)", refund, deadline) { (root) throws(JSONError) in
        try WorldlineAcquiringInquiry.refund(root, request)
      }
    }
    guard let payment = request.kind == .authorization ? request.acquirerReference : request.authorization else {
      return .notFound
    }
    return await find("\(merchant)/payments/\(payment)", payment, deadline) { (root) throws(JSONError) in
      try WorldlineAcquiringInquiry.payment(root, request)
    }
  }

  private func find(
    _ path: String, _ name: String, _ deadline: Deadline, _ read: (JSONField) throws(JSONError) -> Inquiry
  ) async -> Inquiry {
    guard WorldlineAcquiringAnswers.isName(name) else {
      return .unavailable(Interruption(.acquirerUncertain, detail: "not a name of Worldline's"))
    }
    switch await call("GET", path + "?returnOperations=true", nil, deadline) {
    case .failure(let error): return .unavailable(error.interruption)
    case .noAccess(let failure): return .unavailable(failure.interruption)
    case .response(let response) where response.status != 200:
      return .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    case .response(let response):
      do {
        let root = JSONField(try JSONReader.read(response.body))
        let member = path.contains("/refunds/") ? "refundId" : "paymentId"
        guard try root.member(member).string == name else { return WorldlineAcquiringInquiry.another }
        return try read(root)
      } catch {
        return .unavailable(Interruption(.unintelligibleAnswer, detail: error.description))
      }
    }
  }
}

/// What an inquiry's answer says of one operation.
enum WorldlineAcquiringInquiry {
  static let another = Inquiry.unavailable(
    Interruption(.unintelligibleAnswer, detail: "the answer to another operation"))

  static func payment(_ root: JSONField, _ request: InquiryRequest) throws(JSONError) -> Inquiry {
    let status = try root.member("status").string
    let wanted = WorldlineAcquiringAction(request.kind)
    guard let own = try operation(root, request, wanted?.rawValue ?? "AUTHORIZATION") else {
      guard wanted != nil else { return another }
      // The hold has ended, and our operation did not end it.
      let hasEnded = request.kind != .refund && (status == "REVERSED" || status == "CANCELLED")
      return hasEnded ? .answer(.declined(Decline(reason: .holdEnded, code: status))) : .notFound
    }
    guard try WorldlineAcquiringAnswers.amount(own.member("amount")) == request.amount else { return another }
    let result = try WorldlineAcquiringAnswers.Result(own)
    if result.category == "DECLINED" { return answer(result.declined) }
    guard wanted == nil else {
      return result.isApproved
        ? .answer(.approved(Approval(acquirerReference: request.reference.rawValue))) : another
    }
    return try authorization(root, status, isPartial: !result.isApproved, request)
  }

  /// A payment that is authorized, or was: what was captured or released since does not count.
  private static func authorization(
    _ root: JSONField, _ status: String, isPartial: Bool, _ request: InquiryRequest
  ) throws(JSONError) -> Inquiry {
    let name = try WorldlineAcquiringAnswers.name(root.member("paymentId"))
    switch status {
    case "AUTHORIZED":
      return answer(
        try WorldlineAcquiringAnswers.approval(root, name, request.amount, isPartial: isPartial))
    case "PENDING": return .answer(.pending(Pending(acquirerReference: name)))
    case "NOT_AUTHORIZED", "REVERSED", "CANCELLED":
      return .answer(.declined(Decline(reason: .other, code: status)))
    default: return another
    }
  }

  static func refund(_ root: JSONField, _ request: InquiryRequest) throws(JSONError) -> Inquiry {
    guard try root.member("referencedPaymentId").string == request.authorization,
      try WorldlineAcquiringAnswers.amount(root.member("totalAuthorizedAmount")) == request.amount
    else { return another }
    let name = try WorldlineAcquiringAnswers.name(root.member("refundId"))
    return answer(WorldlineAcquiringAnswers.refundAnswer(try root.member("status").string, name))
  }

  /// The operation with our name, of the kind that is asked about.
  private static func operation(
    _ root: JSONField, _ request: InquiryRequest, _ type: String
  ) throws(JSONError) -> JSONField? {
    for operation in try root.member("operations").array
    where try operation.member("operationId").string == request.reference.rawValue {
      guard try operation.member("operationType").string == type else {
        throw JSONError(.invalid, path: operation.path, "another kind of operation")
      }
      return operation
    }
    return nil
  }

  private static func answer(_ answer: AcquirerAnswer) -> Inquiry {
    if case .unknown(let interruption) = answer { .unavailable(interruption) } else { .answer(answer) }
  }
}
