import Storage
import TenderPayments

/// An approved capture of a payment, of which refunds may give back a part.
struct RefundableCapture: Sendable, Hashable {
  let reference: AttemptReference
  /// As of ``OperationRecord/number``.
  let number: Int
  /// What it took, in minor units.
  let amount: Int64
  /// What of it was not refunded, and is not being refunded. Negative where a provider's own refund was taken from it
  /// that was larger.
  let left: Int64

  /// Whether a refund of so much gives back all that it took.
  func isWhole(_ units: Int64) -> Bool { units == amount && units == left }
}

extension RefundableCapture {
  /// The captures of a payment, oldest first.
  static func all(of payment: PaymentID, in store: Transaction) throws -> [RefundableCapture] {
    try store.rows(
      """
      SELECT reference, number, amount, amount - (SELECT \(SQLSum.of("refunds.amount")) FROM operations AS refunds
          WHERE refunds.target = operations.reference AND refunds.kind = 'refund'
            AND refunds.state NOT IN ('declined', 'failed', 'returned')) AS left_amount
      FROM operations WHERE payment = $1 AND kind = 'capture' AND state = 'approved' ORDER BY number
      """, .text(payment.rawValue)
    ).map {
      RefundableCapture(
        reference: try $0.value("reference"), number: Int(try $0.integer("number")),
        amount: try $0.integer("amount"), left: try $0.integer("left_amount"))
    }
  }
}

extension [RefundableCapture] {
  /// The smallest that has so much left.
  func covering(_ units: Int64) -> RefundableCapture? { filter { $0.left >= units }.min { $0.left < $1.left } }

  /// The one that a refund names which is not divided: one that covers it, or else the one that has most left.
  func named(by units: Int64) -> RefundableCapture? { covering(units) ?? self.max { $0.left < $1.left } }

  /// How a refund is divided among captures of which each gives back no more than it took: one that covers it, or else
  /// what each has left, the oldest first. Nil where they have less left together.
  func shares(of units: Int64) -> [(capture: RefundableCapture, units: Int64)]? {
    if let one = covering(units) { return [(one, units)] }
    var rest = units
    let shares = compactMap { capture -> (RefundableCapture, Int64)? in
      let share = Swift.min(rest, capture.left)
      guard share > 0 else { return nil }
      rest -= share
      return (capture, share)
    }
    return rest == 0 ? shares : nil
  }
}
