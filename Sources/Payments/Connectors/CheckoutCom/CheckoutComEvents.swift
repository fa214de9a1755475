import Acquiring
import StrictJSON
import TenderPayments

/// An event of Checkout.com's workflow: one a call, signed as a whole, in any order and perhaps more than once.
///
/// Checkout.com signs no time, so an old event is told by its id alone, which is kept for good.
enum CheckoutComEvents {
  static func read(_ event: InboundEvent, _ settings: CheckoutComSettings) throws(EventRefusal) -> EventBatch {
    guard settings.workflow.isAuthentic(event) else { throw .notAuthentic }
    do throws(JSONError) {
      let root = JSONField(try JSONReader.read(event.body))
      return try read(root).map { EventBatch(events: [$0]) } ?? .nothing
    } catch { throw .unintelligible }
  }

  /// Nil for what says nothing about money.
  private static func read(_ root: JSONField) throws(JSONError) -> AcquirerEvent? {
    guard let meaning = meanings[try root.member("type").string] else { return nil }
    let id = try CheckoutComAnswers.name(root.member("id"))
    let data = try root.member("data")
    switch meaning {
    case .authorization(let isApproved): return try authorization(id, data, isApproved)
    case .action(let kind, let isApproved): return try action(id, kind, data, isApproved)
    case .expiry: return try expiry(id, data)
    case .dispute(let movement): return try dispute(movement, data)
    }
  }

  private enum Meaning {
    case authorization(isApproved: Bool)
    case action(CheckoutComAction, isApproved: Bool)
    case expiry
    case dispute(MoneyMovement)
  }

  /// The money of a dispute goes back when it is opened and comes again when it is won, canceled, or resolved because it
  /// had been refunded before.
  private static let meanings: [String: Meaning] = [
    "payment_approved": .authorization(isApproved: true), "payment_declined": .authorization(isApproved: false),
    "payment_canceled": .authorization(isApproved: false),
    "payment_captured": .action(.capture, isApproved: true),
    "payment_capture_declined": .action(.capture, isApproved: false),
    "payment_voided": .action(.void, isApproved: true), "payment_void_declined": .action(.void, isApproved: false),
    "payment_refunded": .action(.refund, isApproved: true),
    "payment_refund_declined": .action(.refund, isApproved: false),
    "payment_expired": .expiry,
    "dispute_received": .dispute(.chargeback), "dispute_evidence_required": .dispute(.chargeback),
    "dispute_lost": .dispute(.chargeback), "dispute_accepted": .dispute(.chargeback),
    "dispute_expired": .dispute(.chargeback), "dispute_arbitration_lost": .dispute(.chargeback),
    "dispute_won": .dispute(.chargebackReversed), "dispute_canceled": .dispute(.chargebackReversed),
    "dispute_resolved": .dispute(.chargebackReversed), "dispute_arbitration_won": .dispute(.chargebackReversed),
  ]

  private static func authorization(
    _ id: String, _ data: JSONField, _ isApproved: Bool
  ) throws(JSONError) -> AcquirerEvent {
    let name = try CheckoutComAnswers.name(data.member("id"))
    let answer: AcquirerAnswer =
      isApproved
      ? .approved(
        Approval(
          acquirerReference: name, authorizationCode: try data.memberIfPresent("auth_code")?.string,
          networkTransactionID: try data.memberIfPresent("scheme_id")?.string,
          storedReference: try data.memberIfPresent("source")?.memberIfPresent("id")?.string))
      : .declined(CheckoutComDeclines.decline(try data.memberIfPresent("response_code")?.string))
    return AcquirerEvent(
      id: id, reference: AttemptReference(try data.member("reference").string), amount: try amount(data), answer: answer
    )
  }

  /// The answer to an operation of ours, or what a person did in the dashboard; nil for what a person tried in vain.
  private static func action(
    _ id: String, _ kind: CheckoutComAction, _ data: JSONField, _ isApproved: Bool
  ) throws(JSONError) -> AcquirerEvent? {
    let name = try CheckoutComAnswers.name(data.member("action_id"))
    if let operation = try kind.operation(data) {
      let decline = CheckoutComDeclines.decline(try data.memberIfPresent("response_code")?.string)
      let answer: AcquirerAnswer = isApproved ? .approved(Approval(acquirerReference: name)) : .declined(decline)
      return AcquirerEvent(id: id, reference: operation, amount: try amount(data), answer: answer)
    }
    guard isApproved else { return nil }
    return try movement(id, kind.movement, of: data.member("id"), data, called: name)
  }

  private static func expiry(_ id: String, _ data: JSONField) throws(JSONError) -> AcquirerEvent {
    let payment = try data.member("id")
    return try movement(id, .holdExpired, of: payment, data, called: CheckoutComAnswers.name(payment))
  }

  /// Every event by which the money is gone has the name of the first, so that it is booked once, also if the first was
  /// never received.
  private static func dispute(_ movement: MoneyMovement, _ data: JSONField) throws(JSONError) -> AcquirerEvent {
    let name = try CheckoutComAnswers.name(data.member("id"))
    return try self.movement(
      "\(movement.rawValue):\(name)", movement, of: data.member("payment_id"), data, called: name)
  }

  private static func movement(
    _ id: String, _ movement: MoneyMovement, of payment: JSONField, _ data: JSONField, called name: String
  ) throws(JSONError) -> AcquirerEvent {
    AcquirerEvent(
      id: id, subject: .authorization(try CheckoutComAnswers.name(payment)), amount: try amount(data),
      content: .movement(movement), name: name)
  }

  private static func amount(_ data: JSONField) throws(JSONError) -> Amount {
    try CheckoutComAmount.read(data.member("amount"), data.member("currency"))
  }
}

extension CheckoutComAction {
  /// What a person did, where it was no operation of ours.
  fileprivate var movement: MoneyMovement {
    switch self {
    case .capture: .capture
    case .void: .void
    case .refund: .refund
    }
  }
}
