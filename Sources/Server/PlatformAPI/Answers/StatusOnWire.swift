package import DirectWire
package import Ledger
package import TenderPayments

// Which of Worldline's states a stored payment or operation is in. Worldline's number decides; word and category follow
// from it.

extension DirectStatus {
  /// The state of a payment: that of the operation that is under way, or else what its balances say.
  package init(of payment: Payment, _ operations: [OperationRecord]) {
    let open = operations.last { $0.state.isOpen && Self.isShown($0.kind) && $0.kind != .authorize }
    if payment.status.isResolved, let open {
      self.init(of: open)
    } else {
      self.init(payment.status)
    }
  }

  /// The state of one operation.
  package init(of operation: OperationRecord) {
    let states = Self.states(of: operation.kind)
    switch operation.state {
    case .sending, .pending: self = states.waiting
    case .unknown: self = states.unknown
    case .approved: self = states.done
    case .declined, .failed, .returned: self = states.refused
    case .reversed: self = .cancelled
    }
  }

  private typealias States = (waiting: DirectStatus, unknown: DirectStatus, done: DirectStatus, refused: DirectStatus)

  private static func states(of kind: OperationKind) -> States {
    switch kind {
    case .authorize, .increment: (.authorizationWaiting, .authorizationUnknown, .pendingCapture, .rejected)
    case .capture: (.captureRequested, .captureUnknown, .captured, .captureRefused)
    case .refund: (.refundRequested, .refundUnknown, .refunded, .refundRefused)
    case .void, .reverse, .chargeback, .chargebackReversal:
      (.cancelWaiting, .cancelUnknown, .cancelled, .cancelRefused)
    }
  }

  /// Whether merchants are shown operations of this kind. A reversal is the gateway's own, and neither a chargeback nor
  /// an increment is in a list of Worldline's.
  package static func isShown(_ kind: OperationKind) -> Bool {
    switch kind {
    case .authorize, .capture, .void, .refund: true
    case .increment, .reverse, .chargeback, .chargebackReversal: false
    }
  }
}
