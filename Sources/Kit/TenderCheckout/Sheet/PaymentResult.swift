public import TenderCheckoutAPI
public import TenderPayments
public import TenderSheet

/// A placed order.
public struct PlacedOrder: Sendable, Hashable {
  /// The basket that was paid.
  public let basket: BasketID
  /// Tender's name for the order.
  public let id: OrderID
  /// Tender's name for the payment.
  public let payment: PaymentID
  /// `pending`: the provider has accepted the payment and answers later.
  public let status: PaymentStatus
  /// Lets a guest see the order; a JWT that the merchant's server checks.
  public let guestToken: String?
  /// Apple's identifier of the transaction: that of `PKPaymentToken`, in lowercase.
  public let transactionIdentifier: String?
  /// The card as the sheet showed it, such as `Visa 0492`: for display only.
  public let card: String?
  /// The card's network as Apple names it, such as `Visa`.
  public let cardNetwork: String?
  /// The kind of card, as far as the device reports it.
  public let cardType: PaymentMethodType?
  /// What was paid, for the confirmation.
  public let receipt: PaymentAnswer.Receipt

  init(_ answer: PaymentAnswer, of basket: BasketID) {
    self.basket = basket
    self.id = answer.orderId
    self.payment = answer.paymentId
    self.status = answer.status
    self.guestToken = answer.guestToken
    self.transactionIdentifier = answer.transactionIdentifier
    (self.card, self.cardNetwork, self.cardType) = (answer.card, answer.cardNetwork, answer.cardType)
    self.receipt = answer.receipt
  }
}

/// Why nothing was paid.
public struct PaymentFailure: Error, Sendable, Hashable {
  /// The server's code, or one of `SheetReport.Code` and `CheckoutFailure.code`.
  public let code: String
  /// For the integrator.
  public let detail: String
  /// What the shopper can correct, the most severe first; the sheet shows it and stays open.
  public let sheetErrors: [SheetError]

  /// A failure with a stable code.
  public init(code: String, detail: String, sheetErrors: [SheetError] = []) {
    self.code = code
    self.detail = detail
    self.sheetErrors = sheetErrors
  }

  init(_ failure: CheckoutFailure) {
    self.init(code: failure.code, detail: failure.detail, sheetErrors: failure.sheetErrors)
  }
}

/// How a payment ended.
public enum PaymentResult: Sendable, Hashable {
  /// The order is placed.
  case success(PlacedOrder)
  /// Nothing was paid.
  case failure(PaymentFailure)
  /// The shopper or the app cancelled in time; nothing was paid. If a payment had already been sent, this basket cannot
  /// be paid any more.
  case cancelled
  /// It is not known yet whether it was paid. Do not let the shopper pay again; the service keeps asking.
  case unknown
}

/// The result of an attempt to cancel. The server decides.
public enum Cancellation: Sendable, Hashable {
  /// Nothing was paid.
  case cancelled
  /// The payment may have reached an acquirer: it continues, and its result is reported.
  case tooLate
  /// The server could not be reached.
  case unanswered
}
