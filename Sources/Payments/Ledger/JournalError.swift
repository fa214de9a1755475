package import TenderPayments

/// Why the journal refuses to begin an operation.
package enum JournalError: Error, Sendable, Hashable {
  case noSuchPayment(PaymentID)
  /// The payment has no capture, void or refund of this reference that an operator could decide about.
  case noSuchOperation(AttemptReference)
  /// The payment's status has no such operation: a capture of what was declined.
  case notPossible(OperationKind, PaymentStatus)
  /// The payment is not open, so there is nothing for an operator to decide.
  case alreadyResolved(PaymentStatus)
  /// The operation has its answer, so there is nothing for an operator to decide.
  case alreadyAnswered(OperationState)
  /// More than is left after completed operations and those in flight.
  case exceeds(available: Amount)
  /// More than is left, but only because another operation is in flight: once that is answered it may fit.
  case inFlight(available: Amount)
  /// The amount is not positive, or in another currency than the payment.
  case invalidAmount(Amount)
  /// Another process holds the operation's lease, or the payment changed in between.
  case conflict
}
