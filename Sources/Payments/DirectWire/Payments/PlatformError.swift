package import TenderPayments

/// An error answer of the platform API, in Worldline Direct's shape.
package struct PlatformError: Error, Sendable, Hashable, Codable {
  /// Unique for this answer; what a caller quotes to the operator.
  package let errorId: String
  package let errors: [PlatformFault]
  /// The HTTP status.
  package let status: Int
  /// The payment that was refused; nil for other errors.
  package var paymentResult: CreatePaymentAnswer?
  /// The refund that was refused; nil for other errors.
  package var refundResult: DirectRefund?

  package init(errorId: String, status: Int, errors: [PlatformFault]) {
    self.errorId = errorId
    self.errors = errors
    self.status = status
  }

  /// One fault, which gives the answer its status.
  package init(errorId: String, _ fault: PlatformFault) {
    self.init(errorId: errorId, status: fault.httpStatusCode, errors: [fault])
  }
}

/// One thing that is wrong with a request.
package struct PlatformFault: Sendable, Hashable, Codable {
  package enum Category: String, Sendable, Hashable, Codable {
    case directPlatform = "DIRECT_PLATFORM_ERROR"
    case paymentPlatform = "PAYMENT_PLATFORM_ERROR"
    case inputOutput = "IO_ERROR"
  }

  package let category: Category
  /// Four to eight digits; older SDKs read this one.
  package let code: String
  /// Eight digits.
  package let errorCode: String
  package let httpStatusCode: Int
  /// What programs compare: `INVALID_VALUE`.
  package let id: String
  /// For people.
  package let message: String
  /// Which property of the request, as a path: `items[0].unitAmount`.
  package let propertyName: String?
  /// Whether the same request may succeed later.
  package let retriable: Bool

  package init(
    category: Category = .directPlatform, code: String, errorCode: String, httpStatusCode: Int, id: String,
    message: String, propertyName: String? = nil, retriable: Bool = false
  ) {
    self.category = category
    self.code = code
    self.errorCode = errorCode
    self.httpStatusCode = httpStatusCode
    self.id = id
    self.message = message
    self.propertyName = propertyName
    self.retriable = retriable
  }
}

extension PlatformError {
  private enum CodingKeys: String, CodingKey {
    case errorId, errors, status, paymentResult, refundResult
  }

  /// `status` may be missing: then it is that of the first error, or 0.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    errorId = try container.decode(String.self, forKey: .errorId)
    errors = try container.decodeIfPresent([PlatformFault].self, forKey: .errors) ?? []
    status = try container.decodeIfPresent(Int.self, forKey: .status) ?? errors.first?.httpStatusCode ?? 0
    paymentResult = try container.decodeIfPresent(CreatePaymentAnswer.self, forKey: .paymentResult)
    refundResult = try container.decodeIfPresent(DirectRefund.self, forKey: .refundResult)
  }
}

extension PlatformFault {
  private enum CodingKeys: String, CodingKey {
    case category, code, errorCode, httpStatusCode, id, message, propertyName, retriable
  }

  /// Only one of the two codes has to be there: older answers have no `errorCode`.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
    let (older, newer) = (try text(.code), try text(.errorCode))
    guard let known = newer ?? older else {
      throw DecodingError.keyNotFound(
        CodingKeys.errorCode, .init(codingPath: decoder.codingPath, debugDescription: "no code"))
    }
    category = try text(.category).flatMap(Category.init) ?? .paymentPlatform
    code = older ?? known
    errorCode = known
    httpStatusCode = try container.decodeIfPresent(Int.self, forKey: .httpStatusCode) ?? 0
    id = try text(.id) ?? ""
    message = try text(.message) ?? ""
    propertyName = try text(.propertyName)
    retriable = try container.decodeIfPresent(Bool.self, forKey: .retriable) ?? false
  }
}

extension PlatformFault {
  /// The answer to every failed authentication, so that callers cannot learn which keys and merchants exist.
  package static let accessNotAllowed = PlatformFault(
    code: "9007", errorCode: "50009007", httpStatusCode: 403, id: "ACCESS_TO_MERCHANT_NOT_ALLOWED",
    message: "ACCESS_TO_MERCHANT_NOT_ALLOWED")

  package static let serverError = PlatformFault(
    code: "9999", errorCode: "50009999", httpStatusCode: 500, id: "UNKNOWN_SERVER_ERROR",
    message: "UNKNOWN_SERVER_ERROR", retriable: true)

  package static func invalidValue(_ property: String, _ message: String) -> PlatformFault {
    PlatformFault(
      code: "1008", errorCode: "50001111", httpStatusCode: 400, id: "INVALID_VALUE", message: message,
      propertyName: property)
  }

  package static func missing(_ property: String) -> PlatformFault {
    PlatformFault(
      code: "20000000", errorCode: "20000000", httpStatusCode: 400, id: "PARAMETER_NOT_FOUND_IN_REQUEST",
      message: "The request has no \(property).", propertyName: property)
  }

  package static let unknownPayment = PlatformFault(
    code: "1002", errorCode: "50001130", httpStatusCode: 404, id: "UNKNOWN_PAYMENT_ID",
    message: "The merchant has no such payment.", propertyName: "paymentId")

  /// A token that there is not, or not any more.
  package static let unknownToken = PlatformFault(
    code: "1002", errorCode: "50001130", httpStatusCode: 404, id: "UNKNOWN_TOKEN_ID",
    message: "The merchant has no such token.",
    propertyName: "tokenId")

  /// A capture, a cancel or a refund that the payment's state does not allow.
  package static let actionNotAllowed = PlatformFault(
    code: "2015", errorCode: "50002015", httpStatusCode: 400, id: "ACTION_NOT_ALLOWED_ON_TRANSACTION",
    message: "ACTION_NOT_ALLOWED_ON_TRANSACTION", propertyName: "paymentId")

  /// Another call under the same key has not ended yet. Worldline's own tests expect an error code by which its SDKs of
  /// today raise `ReferenceException`.
  package static let inProgress = PlatformFault(
    code: "1409", errorCode: "50001409", httpStatusCode: 409, id: "DUPLICATE_REQUEST_IN_PROGRESS",
    message: "DUPLICATE_REQUEST_IN_PROGRESS")

  /// The issuer or the platform refuses to authorize.
  ///
  /// - Parameter errorCode: eight digits, of which the third and fourth are those of ISO 8583: `30511001`.
  package static func refused(errorCode: String) -> PlatformFault {
    PlatformFault(
      category: .paymentPlatform, code: "9999", errorCode: errorCode, httpStatusCode: 402, id: "REFUSED_BY_ISSUER",
      message: "REFUSED_BY_ISSUER")
  }

  /// - Parameter decline: nil where no reason is known.
  package static func refused(_ decline: Decline?) -> PlatformFault {
    refused(errorCode: (decline?.reason ?? .other).errorCode)
  }
}

extension DeclineReason {
  /// Worldline's `errorCode` of a refusal: the third and fourth digits are those of ISO 8583.
  package var errorCode: String {
    switch self {
    case .insufficientFunds: "30511001"
    case .expiredCard: "30541001"
    case .lostOrStolen: "30431001"
    case .suspectedFraud: "30591001"
    case .notPermitted: "30571001"
    case .limitExceeded: "30611001"
    case .invalidCard: "30141001"
    case .authenticationRequired: "40001134"
    case .issuerUnavailable: "30911001"
    case .doNotHonor: "30051001"
    case .cryptogramInvalid, .approvedForLess, .holdEnded, .configuration, .other: "30041001"
    }
  }
}
