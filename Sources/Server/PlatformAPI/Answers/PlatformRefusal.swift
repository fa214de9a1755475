package import DirectWire
package import TenderPayments

/// Why a call of the platform API is refused, in Worldline's words.
package struct PlatformRefusal: Error, Sendable, Hashable {
  package let status: Int
  package let faults: [PlatformFault]
  /// The payment that was refused.
  package var paymentResult: CreatePaymentAnswer?
  /// The refund that was refused.
  package var refundResult: DirectRefund?
  /// When the first call under the same key began; nil for a first call.
  package var firstCallAt: Timestamp?

  package init(_ fault: PlatformFault, status: Int? = nil) {
    self.status = status ?? fault.httpStatusCode
    faults = [fault]
  }

  package func answer(id: String) -> PlatformError {
    var answer = PlatformError(errorId: id, status: status, errors: faults)
    (answer.paymentResult, answer.refundResult) = (paymentResult, refundResult)
    return answer
  }
}

extension PlatformRefusal {
  static func invalid(_ property: String, _ message: String) -> PlatformRefusal {
    PlatformRefusal(.invalidValue(property, message))
  }

  static func missing(_ property: String) -> PlatformRefusal { PlatformRefusal(.missing(property)) }

  static let unknownPayment = PlatformRefusal(.unknownPayment)
}

extension PlatformFault {
  /// A stable code of ours, as Worldline's fault: the few that it names itself by its names, the others by our code in
  /// capitals.
  ///
  /// - Parameters:
  ///   - status: ours. Worldline's wire has 400 for whatever is wrong with a request, and no 422.
  ///   - detail: for people.
  ///   - property: the request's property at fault.
  package init(ours code: String, status: Int, detail: String, property: String?, isRetriable: Bool) {
    switch code {
    case "signature_refused": self = .accessNotAllowed
    case "payment_not_found": self = .unknownPayment
    case "operation_not_possible", "amount_exceeds_available", "invalid_amount", "part_not_possible":
      self = .actionNotAllowed
    case "idempotency_key_in_use": self = .inProgress
    case _ where status == 500: self = .serverError
    default:
      self.init(
        status: Self.status(status), id: code.uppercased(), detail, property: property, isRetriable: isRetriable)
    }
  }

  /// Worldline's fault, and behind it ours where Worldline's name says less: how much is left.
  package static func all(
    ours code: String, status: Int, detail: String, property: String?, isRetriable: Bool
  ) -> [PlatformFault] {
    let fault = PlatformFault(ours: code, status: status, detail: detail, property: property, isRetriable: isRetriable)
    guard fault == .actionNotAllowed else { return [fault] }
    return [
      fault,
      PlatformFault(
        status: fault.httpStatusCode, id: code.uppercased(), detail, property: property, isRetriable: isRetriable),
    ]
  }

  private init(status: Int, id: String, _ detail: String, property: String?, isRetriable: Bool) {
    let codes = Self.codes[status] ?? ("1008", "50001111")
    self.init(
      category: status >= 500 ? .paymentPlatform : .directPlatform, code: codes.0, errorCode: codes.1,
      httpStatusCode: status, id: id, message: detail, propertyName: property, retriable: isRetriable)
  }

  private static let codes = [
    404: ("1002", "50001130"), 409: ("1409", "50001409"), 429: ("1429", "50001429"), 500: ("9999", "50009999"),
    502: ("9999", "50009999"), 503: ("9999", "50009999"),
  ]

  private static func status(_ status: Int) -> Int {
    switch status {
    case 413, 415, 422: 400
    case 504: 503
    default: status
    }
  }
}
