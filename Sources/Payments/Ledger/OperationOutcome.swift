package import TenderPayments

/// The outcome of an operation, and its payment. The payment alone does not say it: a refund that was declined, one
/// that is in flight and one whose outcome is unknown leave the same balances.
package struct OperationOutcome: Sendable, Hashable {
  package let operation: OperationRecord
  package let payment: Payment
  /// The other operations of the same request: a refund may give back several captures, and an authorization may be
  /// captured in the same call.
  package let parts: [OperationRecord]
  /// Whether recovery still has to begin the capture that the request asked for.
  package var awaitsCapture = false

  package init(operation: OperationRecord, payment: Payment, parts: [OperationRecord]) {
    (self.operation, self.payment, self.parts) = (operation, payment, parts)
  }

  /// All operations of the request. Each has its own answer: some may be approved, and others declined.
  package var operations: [OperationRecord] { [operation] + parts }

  /// Whether nothing more is to come: every operation has its answer, and the payment is not open either.
  package var isFinal: Bool {
    !operations.contains(where: \.state.isOpen) && payment.status.isResolved && !awaitsCapture
  }

  /// Whether another operation of the request is still being sent.
  package var isSending: Bool { operations.contains { $0.state == .sending } }

  /// The request as one operation, under the name of its first. It is open while one of its operations is, approved if one
  /// gave money back, and failed only if all are. Its amount is what went back or still may; where nothing did, what was
  /// asked for. It keeps the decline of an operation that was refused beside others.
  package var whole: OperationRecord {
    guard !parts.isEmpty else { return operation }
    let deciding: [OperationState] = [.unknown, .sending, .pending, .approved, .returned, .reversed, .declined]
    let state = deciding.first { state in operations.contains { $0.state == state } } ?? .failed
    let moved = operations.filter { $0.state.isOpen || $0.state == .approved }
    let units = (moved.isEmpty ? operations : moved).reduce(Int64(0)) { $0.addingClamped($1.amount.minorUnits) }
    let declined = operations.first { $0.decline != nil }
    return OperationRecord(
      reference: operation.reference, number: operation.number, merchantReference: operation.merchantReference,
      kind: operation.kind, amount: Amount(minorUnits: units, currency: operation.amount.currency),
      isFinal: operation.isFinal, cause: operation.cause, state: state, acquirerReference: operation.acquirerReference,
      code: declined?.code ?? operation.code, decline: declined?.decline,
      tries: operations.map(\.tries).max() ?? 0, sentAt: operation.sentAt,
      answeredAt: state.isOpen ? nil : operations.compactMap(\.answeredAt).max())
  }
}
