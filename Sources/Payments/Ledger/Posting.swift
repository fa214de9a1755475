package import TenderPayments

/// A payment's status and its balances, in minor units of its currency.
package struct Balances: Sendable, Hashable {
  package var status: PaymentStatus
  /// Held at the acquirer, taken or not.
  package var authorized: Int64 = 0
  /// What of it increments have added to the payment's amount.
  package var incremented: Int64 = 0
  package var captured: Int64 = 0
  package var refunded: Int64 = 0
  /// Taken back by cardholders' banks. It is not refunded, and cannot be refunded any more.
  package var chargedBack: Int64 = 0
  /// In flight: promised to an operation whose answer is still to come.
  package var reservedCapture: Int64 = 0
  package var reservedVoid: Int64 = 0
  package var reservedRefund: Int64 = 0

  package init(status: PaymentStatus) { self.status = status }

  /// What is held, not captured and not reserved: a capture may take it, or a void release it.
  package var free: Int64 { authorized - captured - reservedCapture - reservedVoid }
  /// What a refund may still give back.
  package var refundable: Int64 { captured - refunded - chargedBack - reservedRefund }

  /// Whether what was taken covers what was given back, and what is being given back.
  package var isCovered: Bool { refundable >= 0 }

  /// What an operation of this kind may still take.
  package func available(to kind: OperationKind) -> Int64 {
    switch kind {
    case .capture, .void: free
    case .refund, .chargeback: refundable
    case .chargebackReversal: chargedBack
    case .increment: Self.mostHeld - authorized
    case .authorize, .reverse: 0
    }
  }

  /// What would be available if nothing were in flight.
  package func inFlight(beside kind: OperationKind) -> Int64 {
    switch kind {
    case .capture, .void: reservedCapture + reservedVoid
    case .refund, .chargeback: reservedRefund
    case .authorize, .reverse, .chargebackReversal, .increment: 0
    }
  }

  /// Minor units that a payment can hold.
  package static let mostHeld = Amount.limit.upperBound
}

/// What an operation moves when it is approved.
package struct Movement: Sendable, Hashable {
  package let kind: OperationKind
  /// Minor units that are held, captured, released or refunded.
  package let amount: Int64
  /// Minor units of the hold that a final capture releases beside what it takes.
  package let releases: Int64

  package init(_ kind: OperationKind, _ amount: Int64, releases: Int64 = 0) {
    self.kind = kind
    self.amount = amount
    self.releases = releases
  }

  /// Whether it is an authorization of nothing, which says that the card is good.
  var verifiesCard: Bool { kind == .authorize && amount == 0 }
}

/// Which balances move, for each operation and each answer. Pure: the journal writes what this says.
///
/// An approval moves the amount. A refusal sets free what was reserved. What is pending or unknown keeps its
/// reservation, because the acquirer may have done it.
package enum Posting {
  package static func post(
    _ outcome: Outcome, of movement: Movement, on before: Balances
  ) throws(JournalError) -> Balances {
    let event = PaymentEvent.meets(movement.kind, outcome)
    guard let destination = PaymentState.destination(from: before.status, event) else {
      throw .notPossible(movement.kind, before.status)
    }
    var after = before
    switch outcome {
    case .approved: approve(movement, &after)
    case .declined, .nothing: release(movement, &after)
    case .returned: takeBack(movement, &after)
    case .pending, .unknown: break
    }
    switch destination {
    case .becomes(let status): after.status = status
    case .followsBalances: after.status = movement.verifiesCard ? .verified : statusByBalances(after)
    case .stays: break
    }
    return after
  }

  /// Releases money that is free after an approved final capture, because another capture was refused or returned. The
  /// acquirer keeps no hold for it any more, whichever of the two answers came first.
  package static func close(_ before: Balances) -> (after: Balances, released: Int64) {
    guard before.free > 0 else { return (before, 0) }
    var after = before
    after.authorized -= before.free
    after.status = statusByBalances(after)
    return (after, before.free)
  }

  /// Reserves what the movement needs for an operation that is about to be sent.
  package static func reserve(_ movement: Movement, on before: Balances) throws(JournalError) -> Balances {
    guard PaymentState.allows(movement.kind, in: before.status) else {
      throw .notPossible(movement.kind, before.status)
    }
    var after = before
    switch movement.kind {
    case .capture:
      after.reservedCapture += movement.amount
      after.reservedVoid += movement.releases
    case .void: after.reservedVoid += movement.amount
    case .refund: after.reservedRefund += movement.amount
    case .authorize, .reverse, .chargeback, .chargebackReversal, .increment: break
    }
    return after
  }

  private static func approve(_ movement: Movement, _ balances: inout Balances) {
    release(movement, &balances)
    switch movement.kind {
    case .authorize: balances.authorized = movement.amount
    case .capture:
      balances.captured += movement.amount
      balances.authorized -= movement.releases
    case .refund: balances.refunded += movement.amount
    case .void: balances.authorized -= movement.amount
    case .reverse: balances.authorized = 0
    case .increment:
      balances.authorized += movement.amount
      balances.incremented += movement.amount
    case .chargeback: balances.chargedBack += movement.amount
    case .chargebackReversal: balances.chargedBack -= movement.amount
    }
  }

  private static func release(_ movement: Movement, _ balances: inout Balances) {
    switch movement.kind {
    case .capture:
      balances.reservedCapture -= movement.amount
      balances.reservedVoid -= movement.releases
    case .void: balances.reservedVoid -= movement.amount
    case .refund: balances.reservedRefund -= movement.amount
    case .authorize, .reverse, .chargeback, .chargebackReversal, .increment: break
    }
  }

  /// The money goes back to where it was before the operation: a capture's and a void's to the hold, a refund's to the
  /// merchant.
  ///
  /// What a final capture released counts as held again. If only the failure of the capture is received, it is a
  /// refusal, which releases nothing; both must lead to the same balances.
  private static func takeBack(_ movement: Movement, _ balances: inout Balances) {
    switch movement.kind {
    case .capture:
      balances.captured -= movement.amount
      balances.authorized += movement.releases
    case .refund: balances.refunded -= movement.amount
    case .void: balances.authorized += movement.amount
    case .authorize, .reverse, .chargeback, .chargebackReversal, .increment: break
    }
  }

  private static func statusByBalances(_ balances: Balances) -> PaymentStatus {
    if balances.refunded > 0 { return balances.refunded == balances.captured ? .refunded : .partiallyRefunded }
    if balances.captured > 0 { return balances.captured == balances.authorized ? .captured : .partiallyCaptured }
    return balances.authorized > 0 ? .authorized : .voided
  }
}
