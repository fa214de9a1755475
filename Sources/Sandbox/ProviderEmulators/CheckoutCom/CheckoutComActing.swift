import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

extension CheckoutComStore {
  /// Accepts a capture, void or refund. It is processed later, and its event tells the result.
  func accept(
    _ kind: CheckoutComAction.Kind, _ request: CheckoutComActionRequest, of id: String, channel: String,
    in transaction: Transaction
  ) throws -> ProviderReply {
    guard let payment = try CheckoutComPayment.find(id, of: channel, in: transaction) else {
      throw CheckoutComProblem.notFound
    }
    let left = try remainder(kind, of: payment, in: transaction)
    let value = request.value ?? left
    try check(kind, value, left, payment)
    let action = CheckoutComAction(
      id: newName("act"), payment: id, kind: kind, reference: request.reference, value: value,
      isFinal: kind == .capture && request.isFinal, metadata: request.metadata)
    try action.insert(in: transaction)
    return ProviderReply(202, action.acceptance)
  }

  /// What is left for such an action, less what is accepted already.
  private func remainder(
    _ kind: CheckoutComAction.Kind, of payment: CheckoutComPayment, in transaction: Transaction
  ) throws -> Int64 {
    let accepted = try CheckoutComAction.findAccepted(kind == .void ? .capture : kind, of: payment.id, in: transaction)
    let promised = accepted.reduce(0) { $0 + $1.value }
    return (kind == .refund ? payment.captured - payment.refunded : payment.available) - promised
  }

  private func check(
    _ kind: CheckoutComAction.Kind, _ value: Int64, _ left: Int64, _ payment: CheckoutComPayment
  ) throws(CheckoutComProblem) {
    guard payment.state == .authorized, left > 0 else { throw .notAllowed }
    guard CheckoutComAmount(value: value, currency: payment.amount.currency.code) != nil else {
      throw .invalid("amount_invalid")
    }
    guard value > left else { return }
    switch kind {
    case .capture where value > payment.authorized: throw .invalid("capture_value_greater_than_authorized")
    case .capture: throw .invalid("capture_value_greater_than_remaining_authorized")
    default: throw .invalid("amount_exceeds_balance")
    }
  }

  /// Processes what was accepted longer than `delay` ago, oldest first.
  func process(olderThan delay: Duration) async throws {
    try await database.write { transaction in
      let time = transaction.now.microseconds - delay.microseconds
      for var payment in try CheckoutComPayment.pending(before: time, in: transaction) {
        try approve(&payment, in: transaction)
      }
      for var action in try CheckoutComAction.findAccepted(before: time, in: transaction) {
        try process(&action, in: transaction)
      }
    }
  }

  private func approve(_ payment: inout CheckoutComPayment, in transaction: Transaction) throws {
    guard var action = try CheckoutComAction.authorization(of: payment.id, in: transaction) else { return }
    payment.authorize(payment.amount.value)
    try payment.save(in: transaction)
    try action.process(CheckoutComResponseCode.approved, in: transaction)
    try announce(action, of: payment, in: transaction)
  }

  /// Moves the payment's balances if it can, and writes the event. An amount of 20.93 is declined.
  private func process(_ action: inout CheckoutComAction, in transaction: Transaction) throws {
    let row = try transaction.row("SELECT channel FROM payments WHERE id = $1", .text(action.payment))
    guard let channel = try row?.text("channel"),
      var payment = try CheckoutComPayment.find(action.payment, of: channel, in: transaction)
    else { return }
    let isDone = action.kind != .void && SandboxAmounts.failsLate(action.value) ? false : apply(action, to: &payment)
    try payment.save(in: transaction)
    try action.process(
      isDone ? CheckoutComResponseCode.approved : CheckoutComResponseCode.doNotHonour, in: transaction)
    try announce(action, of: payment, in: transaction)
  }

  private func apply(_ action: CheckoutComAction, to payment: inout CheckoutComPayment) -> Bool {
    switch action.kind {
    case .authorization: false
    case .capture: payment.capture(action.value, isFinal: action.isFinal)
    case .void: payment.void()
    case .refund: payment.refund(action.value)
    }
  }
}
