package import TenderPayments

/// What an operation came to, and where it leaves its payment. The payment alone does not tell: a refund that was
/// declined, one that is under way and one of which nobody knows leave the same balances.
package struct OperationOutcome: Sendable, Hashable {
  package let operation: OperationRecord
  package let payment: Payment

  /// Whether nothing more is to come: the operation has its answer, and the payment is not open either.
  package var isFinal: Bool { !operation.state.isOpen && payment.status.isSettled }
}
