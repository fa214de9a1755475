package import TenderPayments

/// The outcome of an operation, and its payment. The payment alone does not say it: a refund that was declined, one
/// that is in flight and one whose outcome is unknown leave the same balances.
package struct OperationOutcome: Sendable, Hashable {
  package let operation: OperationRecord
  package let payment: Payment

  /// Whether nothing more is to come: the operation has its answer, and the payment is not open either.
  package var isFinal: Bool { !operation.state.isOpen && payment.status.isResolved }
}
