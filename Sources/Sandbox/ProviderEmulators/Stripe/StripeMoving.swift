import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

// Captures and cancels.
extension StripeStore {
  func capture(
    _ id: String, _ wanted: StripeCaptureRequest, of account: String, _ cause: StripeEvent.Cause,
    in transaction: Transaction
  ) throws -> ProviderReply {
    guard var intent = try StripeIntent.find(id, of: account, in: transaction) else {
      throw StripeProblem.unknown("payment_intent", id, parameter: "intent")
    }
    let value = wanted.value ?? intent.capturable
    try check(intent, value, wanted)
    let released = wanted.isFinal ? intent.capturable - value : 0
    intent.received += value
    intent.capturable -= value + released
    if intent.capturable == 0 { intent.status = .succeeded }
    intent.metadata.merge(wanted.metadata) { _, new in new }
    try intent.save(in: transaction)
    try release(released, of: intent, cause, in: transaction)
    try announce(intent, of: account, cause, in: transaction)
    return ProviderReply(200, intent.json(expanding: wanted.expands))
  }

  private func check(_ intent: StripeIntent, _ value: Int64, _ wanted: StripeCaptureRequest) throws(StripeProblem) {
    guard intent.status == .requiresCapture else { throw .unexpectedState("captured", intent) }
    guard value <= intent.capturable else {
      throw StripeProblem(
        400, "The amount to capture is greater than the amount that can be captured.", code: "amount_too_large",
        parameter: "amount_to_capture", intent: intent.json())
    }
    guard wanted.isFinal || intent.multicapture else {
      throw .invalid("final_capture", "Multicapture is not available for this PaymentIntent.")
    }
  }

  func cancel(
    _ id: String, _ wanted: StripeCancelRequest, of account: String, _ cause: StripeEvent.Cause,
    in transaction: Transaction
  ) throws -> ProviderReply {
    guard var intent = try StripeIntent.find(id, of: account, in: transaction) else {
      throw StripeProblem.unknown("payment_intent", id, parameter: "intent")
    }
    guard [.requiresCapture, .requiresAction, .requiresPaymentMethod].contains(intent.status) else {
      throw StripeProblem.unexpectedState("canceled", intent)
    }
    try cancel(&intent, because: wanted.reason, cause, in: transaction)
    return ProviderReply(200, intent.json())
  }

  /// Releases what is held; an intent of which a part was captured has succeeded.
  func cancel(
    _ intent: inout StripeIntent, because reason: String?, _ cause: StripeEvent.Cause, in transaction: Transaction
  ) throws {
    let released = intent.capturable
    (intent.status, intent.capturable) = (intent.received > 0 ? .succeeded : .canceled, 0)
    (intent.cancellationReason, intent.canceledAt) = (reason, transaction.now)
    try intent.save(in: transaction)
    try release(released, of: intent, cause, in: transaction)
    try announce(intent, of: intent.account, cause, in: transaction)
  }

  /// Stripe shows what it releases of a hold as a refund that no balance has felt.
  private func release(
    _ value: Int64, of intent: StripeIntent, _ cause: StripeEvent.Cause, in transaction: Transaction
  ) throws {
    guard value > 0 else { return }
    let refund = StripeRefund(
      id: newID("re"), account: intent.account, intent: intent.id, value: value, code: intent.money.code,
      metadata: [:], reason: nil, ending: .none, isRelease: true, createdAt: transaction.now, status: .succeeded)
    try refund.insert(in: transaction)
    try write(StripeEvent("refund.created", refund.json, cause), of: intent.account, in: transaction)
  }
}

extension StripeProblem {
  fileprivate static func unexpectedState(_ verb: String, _ intent: StripeIntent) -> StripeProblem {
    StripeProblem(
      400, "This PaymentIntent could not be \(verb) because it has a status of \(intent.status.rawValue).",
      code: "payment_intent_unexpected_state", intent: intent.json())
  }
}
