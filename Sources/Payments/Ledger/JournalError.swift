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
  /// Another capture, void or increment is in flight, beside which the amount to release, or to hold, is not known: once
  /// that is answered it may be asked for again.
  case mustWait(OperationKind, isFinal: Bool)
  /// The amount is not positive, or in another currency than the payment.
  case invalidAmount(Amount)
  /// Another process holds the operation's lease, or the payment changed in between.
  case conflict
}
