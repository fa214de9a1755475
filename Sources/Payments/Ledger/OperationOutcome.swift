package import TenderPayments

/// The outcome of an operation, and its payment. The payment alone does not say it: a refund that was declined, one
/// that is in flight and one whose outcome is unknown leave the same balances.
package struct OperationOutcome: Sendable, Hashable {
  package let operation: OperationRecord
  package let payment: Payment
  /// The other operations of the same request; empty unless a refund gives back several captures.
  package let parts: [OperationRecord]

  /// All operations of the request. Each has its own answer: some may be approved, and others declined.
  package var operations: [OperationRecord] { [operation] + parts }

  /// Whether nothing more is to come: every operation has its answer, and the payment is not open either.
  package var isFinal: Bool { !operations.contains(where: \.state.isOpen) && payment.status.isResolved }

  /// Whether another operation of the request is still being sent.
  package var isSending: Bool { operations.contains { $0.state == .sending } }
}
