import Storage
import TenderPayments

/// How what is listed after a restore is found in the journal.
extension Operations {
  /// The open operation here that is listed. A reversal is listed under its authorization's reference.
  static func findOpen(
    _ listed: ListedOperation, through route: String, in store: Transaction
  ) throws -> Attempt? {
    let reference =
      listed.kind == .reverse
      ? try store.row(
        "SELECT reference FROM operations WHERE target = $1 AND kind = 'reverse' AND \(isOpen) LIMIT 1",
        .text(listed.reference.rawValue))?.value("reference") : listed.reference
    guard let reference, let (attempt, state) = try find(reference, in: store), state.isOpen,
      attempt.kind == listed.kind, attempt.route == route
    else { return nil }
    return attempt
  }

  /// Rows of what a person did. The listed name of an operation of ours that a restore adopted is its reference; what
  /// orders gave back was not listed.
  private static let isPersons = "cause = 'provider' AND (restored IS NULL OR detail <> reference)"

  /// Whether the journal has what is listed: by our reference, or by the provider's name of what it moved by itself, which
  /// an event has reported or an earlier listing has given.
  static func isKnown(
    _ listed: ListedOperation, through route: String, in store: Transaction
  ) throws -> Bool {
    if listed.kind != .reverse, try find(listed.reference, in: store) != nil { return true }
    let amounts = try personsAmounts(of: listed, through: route, in: store)
    let amount = listed.amount.minorUnits
    if listed.endsHold { return !amounts.isEmpty }
    // Operations may share a name, as captures of one intent do, of which a listing says what persons took together.
    return amounts.contains(amount) || !amounts.isEmpty && amounts.reduce(0) { $0.addingClamped($1) } == amount
  }

  /// Whether it has a name that the journal has with another amount.
  static func isNamedOtherwise(
    _ listed: ListedOperation, of payment: PaymentID, in store: Transaction
  ) throws -> Bool {
    guard !listed.endsHold, !listed.isOurs(at: store.now) else { return false }
    return try store.row(
      """
      SELECT reference FROM operations WHERE acquirer_reference = $1 AND kind = $2 AND payment = $3 AND \(isPersons)
      LIMIT 1
      """, .text(listed.name ?? listed.reference.rawValue), .text(listed.kind.rawValue), .text(payment.rawValue)) != nil
  }

  /// What persons took under the name of what is listed. Of ours, what an event has told without our reference.
  private static func personsAmounts(
    of listed: ListedOperation, through route: String, in store: Transaction
  ) throws -> [Int64] {
    try store.rows(
      """
      SELECT amount FROM operations WHERE acquirer_reference = $1 AND kind = $2 AND route = $3 AND \(isPersons)
        AND ($4 = 0 OR restored IS NULL AND amount = $5)
      """, .text(listed.name ?? listed.reference.rawValue), .text(listed.bookedKind.rawValue), .text(route),
      .integer(listed.isOurs(at: store.now) ? 1 : 0), .integer(listed.amount.minorUnits)
    ).map { try $0.integer("amount") }
  }

  /// Whether an earlier report gave it, by which it may have had no name yet.
  static func isKnown(
    _ listed: ListedOperation, of payment: PaymentID, in store: Transaction
  ) throws -> Bool {
    let found = try store.row(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND kind = $2 AND restored IS NOT NULL AND detail = $3 LIMIT 1
      """, .text(payment.rawValue), .text(listed.bookedKind.rawValue), .text(listed.reference.rawValue))
    guard let found else { return false }
    try store.run(
      "UPDATE operations SET acquirer_reference = $2 WHERE reference = $1 AND acquirer_reference IS NULL",
      .text(try found.text("reference")), .text(optional: listed.name))
    return true
  }

  /// The amount of an operation of a person's that a listing gave back under the provider's name.
  ///
  /// - Parameter amount: which of several under one name is meant, as captures of one intent are.
  static func findAdoptedAmount(
    of kind: OperationKind, called name: String, near amount: Int64, of payment: PaymentID, in store: Transaction
  ) throws -> Int64? {
    let amounts = try store.rows(
      """
      SELECT amount FROM operations
      WHERE payment = $1 AND kind = $2 AND restored IS NOT NULL AND detail <> reference
        AND (acquirer_reference = $3 OR detail = $3)
      """, .text(payment.rawValue), .text(kind.rawValue), .text(name)
    ).map { try $0.integer("amount") }
    return amounts.contains(amount) ? amount : amounts.first
  }

  /// Whether a report gave an operation of a person's of this amount back and did not say the provider's name of it.
  static func hasAdoptedWithoutName(
    _ kind: OperationKind, _ amount: Int64, of payment: PaymentID, in store: Transaction
  ) throws -> Bool {
    try store.row(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND kind = $2 AND amount = $3 AND restored IS NOT NULL AND detail <> reference
        AND acquirer_reference IS NULL LIMIT 1
      """, .text(payment.rawValue), .text(kind.rawValue), .integer(amount)) != nil
  }
}
