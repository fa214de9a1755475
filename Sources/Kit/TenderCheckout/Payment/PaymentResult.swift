public import TenderCheckoutAPI
public import TenderPayments
public import TenderSheet

/// An order that stands.
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
  /// What was paid, for the confirmation.
  public let receipt: PaymentAnswer.Receipt

  init(_ answer: PaymentAnswer, of basket: BasketID) {
    self.basket = basket
    self.id = answer.orderId
    self.payment = answer.paymentId
    self.status = answer.status
    self.guestToken = answer.guestToken
    self.receipt = answer.receipt
  }
}

/// Why nothing was paid.
public struct PaymentFailure: Error, Sendable, Hashable {
  /// The server's, or one of `SheetNews.Code` and `CheckoutFailure.code`.
  public let code: String
  /// For the integrator.
  public let detail: String
  /// What the shopper can correct, the gravest first; the sheet shows it and stays open.
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

/// How a payment ended. The four are different things, and none is ever taken for another.
public enum PaymentResult: Sendable, Hashable {
  /// The order stands.
  case success(PlacedOrder)
  /// Nothing was paid.
  case failure(PaymentFailure)
  /// The shopper or the app ended it in time; nothing was paid, and this basket cannot be paid any more if a payment
  /// had already been sent.
  case cancelled
  /// Nobody can say yet whether it was paid. Do not let the shopper pay again; the service goes on asking.
  case unknown
}

/// What became of an attempt to cancel. The server decides, so that it and the app mean the same moment.
public enum Cancellation: Sendable, Hashable {
  /// Nothing was paid.
  case cancelled
  /// An acquirer may already have heard of it: the payment goes on, and its result is told.
  case tooLate
  /// The server could not be asked.
  case unanswered
}
