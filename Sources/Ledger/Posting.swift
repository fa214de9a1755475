package import TenderPayments

/// Where a payment stands: its status and its balances, in minor units of its currency.
package struct Standing: Sendable, Hashable {
  package var status: PaymentStatus
  /// Held at the acquirer, taken or not.
  package var authorized: Int64 = 0
  package var captured: Int64 = 0
  package var refunded: Int64 = 0
  /// In flight: promised to an operation whose answer is still to come.
  package var reservedCapture: Int64 = 0
  package var reservedRefund: Int64 = 0

  package init(status: PaymentStatus) { self.status = status }

  /// What a capture may still take.
  package var capturable: Int64 { authorized - captured - reservedCapture }
  /// What a refund may still give back.
  package var refundable: Int64 { captured - refunded - reservedRefund }
}

/// Which balances move, for each operation and each answer. Pure: the journal writes what this says.
///
/// An approval moves the amount. A refusal sets free what was reserved. What is pending or unknown keeps its
/// reservation, because the acquirer may have done it.
package enum Posting {
  package static func post(
    _ kind: OperationKind, _ outcome: Outcome, of amount: Int64, on before: Standing
  ) throws(JournalError) -> Standing {
    guard let destination = PaymentState.destination(from: before.status, kind, outcome) else {
      throw .notPossible(kind, before.status)
    }
    var after = before
    switch outcome {
    case .approved: approve(kind, amount, &after)
    case .declined, .notSent: release(kind, amount, &after)
    case .pending, .unknown: break
    }
    switch destination {
    case .becomes(let status): after.status = status
    case .followsBalances: after.status = status(of: after)
    case .stays: break
    }
    return after
  }

  /// Promises `amount` to an operation that is about to be sent.
  package static func reserve(
    _ kind: OperationKind, _ amount: Int64, on before: Standing
  ) throws(JournalError) -> Standing {
    guard PaymentState.allows(kind, in: before.status) else { throw .notPossible(kind, before.status) }
    var after = before
    switch kind {
    case .capture: after.reservedCapture += amount
    case .refund: after.reservedRefund += amount
    case .authorize, .void, .reverse: break
    }
    return after
  }

  private static func approve(_ kind: OperationKind, _ amount: Int64, _ standing: inout Standing) {
    release(kind, amount, &standing)
    switch kind {
    case .authorize: standing.authorized = amount
    case .capture: standing.captured += amount
    case .refund: standing.refunded += amount
    case .void: standing.authorized = standing.captured
    case .reverse: standing.authorized = 0
    }
  }

  private static func release(_ kind: OperationKind, _ amount: Int64, _ standing: inout Standing) {
    switch kind {
    case .capture: standing.reservedCapture -= amount
    case .refund: standing.reservedRefund -= amount
    case .authorize, .void, .reverse: break
    }
  }

  private static func status(of standing: Standing) -> PaymentStatus {
    if standing.refunded > 0 { return standing.refunded == standing.captured ? .refunded : .partiallyRefunded }
    if standing.captured > 0 { return standing.captured == standing.authorized ? .captured : .partiallyCaptured }
    return standing.authorized > 0 ? .authorized : .voided
  }
}
