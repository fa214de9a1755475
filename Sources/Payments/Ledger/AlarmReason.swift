/// Why an operator must look at a payment. Stable: programs and dashboards rely on the names, which `docs/errors.md`
/// explains.
package enum AlarmReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// An operation has had no answer for a day.
  case authorizeUnknown = "authorize_unknown"
  case captureUnknown = "capture_unknown"
  case voidUnknown = "void_unknown"
  case refundUnknown = "refund_unknown"
  case reverseUnknown = "reverse_unknown"
  case incrementUnknown = "increment_unknown"
  /// The payment waits for an acquirer that is not configured.
  case acquirerNotConfigured = "acquirer_not_configured"
  /// The capture of an order with immediate capture was declined for good.
  case captureDeclined = "capture_declined"
  /// It was refused because our credentials, our request or our account is wrong; recovery goes on trying.
  case captureMisconfigured = "capture_misconfigured"
  /// It failed several times, or until the hold ended.
  case captureOverdue = "capture_overdue"
  /// The hold of an order with immediate capture ended before its money was captured.
  case uncapturedHoldEnded = "uncaptured_hold_ended"
  /// The acquirer refuses to release a hold that has expired; recovery goes on trying.
  case voidRefused = "void_refused"
  /// The acquirer took back what it had approved.
  case captureReturned = "capture_returned"
  case refundReturned = "refund_returned"
  /// A capture was returned of which more was refunded than would be left.
  case returnedAfterRefund = "returned_after_refund"
  /// The acquirer did what is recorded as declined or failed, and the balances do not allow it any more.
  case captureApprovedLate = "capture_approved_late"
  case voidApprovedLate = "void_approved_late"
  case refundApprovedLate = "refund_approved_late"
  case incrementApprovedLate = "increment_approved_late"
  /// An event contradicts what an operator decided about an operation. It is booked where the balances allow it.
  case resolvedOtherwise = "resolved_otherwise"
  /// Money is held for a payment that has ended; it is being reversed.
  case heldAfterEnd = "held_after_end"
  /// The acquirer refuses to reverse an authorization.
  case reversalRefused = "reversal_refused"
  /// An event came through another connector, or account there, than the payment's.
  case anotherConnector = "another_connector"
  /// The provider, a card scheme or a person in the provider's dashboard moved money that the balances do not have.
  case movedElsewhere = "moved_elsewhere"
  /// The payment was lost with the store and adopted after its restore: its order is not known here.
  case restored
  /// An event names another amount than the operation's.
  case eventAmountMismatch = "event_amount_mismatch"
  /// An event contradicts the operation's state.
  case eventContradictsApproved = "event_contradicts_approved"
  case eventContradictsDeclined = "event_contradicts_declined"
  case eventContradictsFailed = "event_contradicts_failed"
  case eventContradictsReversed = "event_contradicts_reversed"
  case eventContradictsReturned = "event_contradicts_returned"
}

extension AlarmReason {
  /// An operation of this kind has had no answer for a day.
  package static func unknown(_ kind: OperationKind) -> AlarmReason {
    switch kind {
    case .authorize: .authorizeUnknown
    case .capture: .captureUnknown
    case .void: .voidUnknown
    case .refund: .refundUnknown
    case .increment: .incrementUnknown
    case .reverse, .chargeback, .chargebackReversal: .reverseUnknown
    }
  }

  /// The acquirer took back a capture or a refund.
  static func returned(_ kind: OperationKind) -> AlarmReason { kind == .refund ? .refundReturned : .captureReturned }

  /// The acquirer did a capture, void, refund or increment after all.
  static func approvedLate(_ kind: OperationKind) -> AlarmReason {
    switch kind {
    case .refund: .refundApprovedLate
    case .void: .voidApprovedLate
    case .increment: .incrementApprovedLate
    case .capture, .authorize, .reverse, .chargeback, .chargebackReversal: .captureApprovedLate
    }
  }

  /// An event contradicts the state.
  static func contradicts(_ state: OperationState) -> AlarmReason {
    switch state {
    case .declined: .eventContradictsDeclined
    case .failed: .eventContradictsFailed
    case .reversed: .eventContradictsReversed
    case .returned: .eventContradictsReturned
    case .approved, .sending, .pending, .unknown: .eventContradictsApproved
    }
  }

  /// The alarms that end by themselves with an answer. Any answer shows that the payment's acquirer is configured.
  static func ended(byAnswer outcome: Outcome, to kind: OperationKind) -> Set<String> {
    let ended = outcome == .approved ? ended(by: kind) : []
    return ended.union([acquirerNotConfigured.rawValue])
  }

  /// The alarms that end by themselves when an operation of this kind is approved.
  static func ended(by kind: OperationKind) -> Set<String> {
    let reasons: [AlarmReason] =
      switch kind {
      case .capture: [.captureDeclined, .captureMisconfigured, .captureOverdue, .captureApprovedLate]
      case .void: [.voidRefused, .voidApprovedLate]
      case .refund: [.refundApprovedLate]
      case .increment: [.incrementApprovedLate]
      case .reverse: [.reversalRefused]
      case .authorize, .chargeback, .chargebackReversal: []
      }
    return Set(reasons.map(\.rawValue))
  }
}
