package import Telemetry
package import TenderPayments

/// What the gateway knows of a payment beside the order, when it claims one.
package struct ClaimTerms: Sendable, Hashable {
  /// The route that the payment takes: connector and account. The journal keeps it with the payment.
  package let route: String
  /// Whether the amount inside the payment token was read and is the order's.
  package let amountConfirmed: Bool
  /// Until when the acquirer holds the money; nil when it does not say.
  package let holdUntil: Timestamp?
  /// How long after its approval an order with immediate capture is captured; nil for at once.
  package let captureDelay: Duration?
  package let sale: StoredSale
  /// As of ``Payment/transactionIdentifier``.
  package let transactionIdentifier: String?
  /// When the payment token was signed; nil where no signature was verified.
  package let signed: Timestamp?
  /// The span in which the payment is made; nil where it is not traced.
  package let trace: TraceContext?

  package init(
    route: String = "sandbox", amountConfirmed: Bool = true, holdUntil: Timestamp? = nil,
    captureDelay: Duration? = nil, sale: StoredSale = StoredSale(), transactionIdentifier: String? = nil,
    signed: Timestamp? = nil, trace: TraceContext? = nil
  ) {
    self.signed = signed
    self.trace = trace
    self.transactionIdentifier = transactionIdentifier
    self.captureDelay = captureDelay
    self.route = route
    self.amountConfirmed = amountConfirmed
    self.holdUntil = holdUntil
    self.sale = sale
  }
}
