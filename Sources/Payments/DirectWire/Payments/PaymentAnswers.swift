package import TenderPayments

/// A payment: Worldline's `PaymentResponse`, and with its operations `PaymentDetailsResponse`.
package struct DirectPayment: Sendable, Hashable, Codable {
  /// As ``DirectPaymentID`` has it.
  package var id: String
  package var status: String
  package var statusOutput: DirectStatusOutput
  package var paymentOutput: DirectPaymentOutput
  /// The operation that this answer or event is about. SDKs of 2021 do not know it.
  package var operationOutput: DirectOperation?
  /// In the details of a payment only. The capital letter is Worldline's.
  package var operations: [DirectOperation]?
  /// The hosted checkout that made the payment.
  package var hostedCheckoutSpecificOutput: HostedCheckoutOutput?
  /// What Worldline has no members for; its SDKs skip it.
  package var tender: TenderExtras?

  private enum CodingKeys: String, CodingKey {
    case id, status, statusOutput, paymentOutput, operationOutput, hostedCheckoutSpecificOutput, tender
    case operations = "Operations"
  }

  package init(
    id: DirectPaymentID, statusOutput: DirectStatusOutput, paymentOutput: DirectPaymentOutput,
    operationOutput: DirectOperation? = nil, operations: [DirectOperation]? = nil
  ) {
    self.id = id.description
    status = statusOutput.state?.word ?? ""
    self.statusOutput = statusOutput
    self.paymentOutput = paymentOutput
    self.operationOutput = operationOutput
    self.operations = operations
  }
}

/// Worldline's `HostedCheckoutSpecificOutput`.
package struct HostedCheckoutOutput: Sendable, Hashable, Codable {
  package var hostedCheckoutId: String?
  package var variant: String?

  package init(hostedCheckoutId: String, variant: String?) {
    self.hostedCheckoutId = hostedCheckoutId
    self.variant = variant
  }
}

/// Tender's own members of a payment.
package struct TenderExtras: Sendable, Hashable, Codable {
  package var orderId: String?
  package var basketId: String?
  /// What of the payment token could not be checked, because it did not come whole or was opened elsewhere: `signature`,
  /// `signingTime`, `applicationData`, `amount`. Absent where everything was.
  package var notVerified: [String]?
  /// Apple's identifier of the transaction, the card as the sheet showed it, and its kind.
  package var transactionIdentifier: String?
  package var card: String?
  package var cardType: PaymentMethodType?

  package init(
    orderId: String? = nil, basketId: String? = nil, notVerified: [String]? = nil,
    transactionIdentifier: String? = nil, card: CardSummary? = nil
  ) {
    self.orderId = orderId
    self.basketId = basketId
    self.notVerified = notVerified
    self.transactionIdentifier = transactionIdentifier
    (self.card, cardType) = (card?.name, card?.type)
  }
}

/// Worldline's `PaymentStatusOutput`; of captures only the code, of refunds less.
package struct DirectStatusOutput: Sendable, Hashable, Codable {
  package var statusCode: Int64
  package var statusCategory: String?
  /// `YYYYMMDDHHMMSS` in UTC.
  package var statusCodeChangeDateTime: String?
  package var isAuthorized: Bool?
  package var isCancellable: Bool?
  package var isRefundable: Bool?
  package var errors: [PlatformFault]?

  /// Nil for a code that is in no table.
  package var state: DirectStatus? { DirectStatus(rawValue: statusCode) }

  package init(
    _ status: DirectStatus, changedAt time: Timestamp? = nil, isAuthorized: Bool? = nil, isCancellable: Bool? = nil,
    isRefundable: Bool? = nil, errors: [PlatformFault]? = nil
  ) {
    statusCode = status.rawValue
    statusCategory = status.category
    statusCodeChangeDateTime = time.map(Self.digits)
    self.isAuthorized = isAuthorized
    self.isCancellable = isCancellable
    self.isRefundable = isRefundable
    self.errors = errors
  }

  /// The status of a capture, by its code alone.
  package init(codeOf status: DirectStatus) { statusCode = status.rawValue }

  private static func digits(_ time: Timestamp) -> String {
    Timestamp(seconds: time.seconds).description.filter { ("0"..."9").contains($0) }
  }
}

/// Worldline's `PaymentOutput`, `CaptureOutput` and `RefundOutput`, which have these members in common.
package struct DirectPaymentOutput: Sendable, Hashable, Codable {
  package var amountOfMoney: AmountOfMoney?
  /// What was captured. SDKs of 2021 read `amountPaid`.
  package var acquiredAmount: AmountOfMoney?
  package var amountPaid: Int64?
  package var references: DirectReferences?
  /// The references of a capture or a refund. SDKs of 2021 read `references`.
  package var operationReferences: DirectReferences?
  package var merchantParameters: String?
  /// `mobile`
  package var paymentMethod: String?
  package var mobilePaymentMethodSpecificOutput: MobilePaymentOutput?
  package var mobileRefundMethodSpecificOutput: MobileRefundOutput?
  /// The time of the operation, RFC 3339.
  package var transactionDate: String?
  /// The time of the payment, RFC 3339.
  package var paymentCreationDate: String?

  package init(
    amountOfMoney: Amount, acquiredAmount: Amount? = nil, references: DirectReferences? = nil,
    operationReferences: DirectReferences? = nil, mobile: MobilePaymentOutput? = nil,
    mobileRefund: MobileRefundOutput? = nil, at time: Timestamp? = nil, ofPaymentAt creation: Timestamp? = nil
  ) {
    self.amountOfMoney = AmountOfMoney(amountOfMoney)
    self.acquiredAmount = acquiredAmount.map(AmountOfMoney.init)
    amountPaid = acquiredAmount?.minorUnits
    self.references = references
    self.operationReferences = operationReferences
    merchantParameters = references?.merchantParameters
    paymentMethod = "mobile"
    mobilePaymentMethodSpecificOutput = mobile
    mobileRefundMethodSpecificOutput = mobileRefund
    transactionDate = time?.description
    paymentCreationDate = creation?.description
  }

  /// The merchant's reference of a capture or refund, from the newer member or the older one.
  package var operationReference: String? {
    operationReferences?.merchantReference ?? references?.merchantReference
  }
}

/// Worldline's `MobilePaymentMethodSpecificOutput`.
package struct MobilePaymentOutput: Sendable, Hashable, Codable {
  package var paymentProductId: Int64?
  package var authorisationCode: String?
  package var network: String?
  package var paymentData: Card?
  package var threeDSecureResults: Authentication?

  package init(authorisationCode: String?, network: String?, card: Card?, eci: String?) {
    paymentProductId = MobilePaymentInput.applePay
    self.authorisationCode = authorisationCode
    self.network = network
    paymentData = card
    threeDSecureResults = eci.map { Authentication(eci: $0) }
  }

  package struct Card: Sendable, Hashable, Codable {
    /// Obfuscated but for the last four digits.
    package var dpan: String?
    /// `MMYY`
    package var expiryDate: String?

    package init(suffix: String, expiryDate: String?) {
      dpan = String(repeating: "*", count: 12) + suffix
      self.expiryDate = expiryDate
    }
  }

  package struct Authentication: Sendable, Hashable, Codable {
    package var eci: String?
  }
}

/// Worldline's `RefundMobileMethodSpecificOutput`: sums of the payment, in minor units.
package struct MobileRefundOutput: Sendable, Hashable, Codable {
  package var network: String?
  package var totalAmountPaid: Int64?
  package var totalAmountRefunded: Int64?

  package init(network: String?, totalAmountPaid: Int64, totalAmountRefunded: Int64) {
    self.network = network
    self.totalAmountPaid = totalAmountPaid
    self.totalAmountRefunded = totalAmountRefunded
  }
}

/// One operation on a payment: Worldline's `OperationOutput`.
package struct DirectOperation: Sendable, Hashable, Codable {
  package var id: String
  package var amountOfMoney: AmountOfMoney?
  package var status: String?
  package var statusOutput: DirectStatusOutput?
  package var paymentMethod: String?
  /// SDKs of 2021 read this one.
  package var references: DirectReferences?
  package var operationReferences: DirectReferences?
  package var transactionDate: String?

  package init(
    id: DirectPaymentID, _ amount: Amount, _ statusOutput: DirectStatusOutput, references: DirectReferences?,
    ofOrder order: DirectReferences? = nil, at time: Timestamp
  ) {
    self.id = id.description
    amountOfMoney = AmountOfMoney(amount)
    status = statusOutput.state?.word
    self.statusOutput = statusOutput
    paymentMethod = "mobile"
    self.references = DirectReferences(ofOperation: references?.merchantReference, order)
    operationReferences = references
    transactionDate = time.description
  }
}

/// Worldline's `CreatePaymentResponse`, and the `paymentResult` of a refusal.
package struct CreatePaymentAnswer: Sendable, Hashable, Codable {
  package var creationOutput: CreationOutput?
  package var payment: DirectPayment
  /// What the shopper would have to do; an Apple Pay payment has none.
  package var merchantAction: MerchantAction?

  /// - Parameter token: under which the card is charged again; nil for a payment that begins no agreement.
  package init(_ payment: DirectPayment, token: String? = nil) {
    self.payment = payment
    creationOutput = CreationOutput(
      externalReference: payment.id, isNewToken: token != nil, token: token,
      tokenizationSucceeded: token.map { _ in true })
  }

  package struct CreationOutput: Sendable, Hashable, Codable {
    package var externalReference: String?
    package var isNewToken: Bool?
    package var token: String?
    package var tokenizationSucceeded: Bool?
  }

  package struct MerchantAction: Sendable, Hashable, Codable {
    package var actionType: String?
  }
}

/// Worldline's `CaptureResponse`.
package struct DirectCapture: Sendable, Hashable, Codable {
  package var id: String
  package var status: String
  package var statusOutput: DirectStatusOutput
  package var captureOutput: DirectPaymentOutput?

  package init(id: DirectPaymentID, _ status: DirectStatus, _ output: DirectPaymentOutput) {
    self.id = id.description
    self.status = status.word
    statusOutput = DirectStatusOutput(codeOf: status)
    captureOutput = output
  }
}

/// Worldline's `RefundResponse`.
package struct DirectRefund: Sendable, Hashable, Codable {
  package var id: String
  package var status: String
  package var statusOutput: DirectStatusOutput
  package var refundOutput: DirectPaymentOutput?

  package init(id: DirectPaymentID, _ statusOutput: DirectStatusOutput, _ output: DirectPaymentOutput) {
    self.id = id.description
    status = statusOutput.state?.word ?? ""
    self.statusOutput = statusOutput
    refundOutput = output
  }
}

/// Worldline's `CancelPaymentResponse`.
package struct CancelPaymentAnswer: Sendable, Hashable, Codable {
  package var payment: DirectPayment
  package init(_ payment: DirectPayment) { self.payment = payment }
}

/// Worldline's `CapturesResponse`.
package struct CapturesAnswer: Sendable, Hashable, Codable {
  package var captures: [DirectCapture]
  package init(_ captures: [DirectCapture]) { self.captures = captures }
}

/// Worldline's `RefundsResponse`.
package struct RefundsAnswer: Sendable, Hashable, Codable {
  package var refunds: [DirectRefund]
  package init(_ refunds: [DirectRefund]) { self.refunds = refunds }
}

/// Worldline's `TestConnection`: the answer to `GET …/services/testconnection`.
package struct ConnectionAnswer: Sendable, Hashable, Codable {
  package var result: String
  package init() { result = "OK" }
}
