import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

/// A payment request whose card is known.
struct StripeCardPayment: Sendable {
  let request: StripePaymentRequest
  let owner: StripeOwner
  let card: StripeCard
  /// The token that is used up; nil for a network token.
  let token: String?
  let script: ScriptedResponse?
}

/// Who calls: an account, for itself or for an account that is connected to it.
struct StripeOwner: Sendable, Hashable {
  let account: StripeAccount
  let connected: String?

  /// Whose intents these are.
  var id: String { connected ?? account.id }
}

extension StripeStore {
  /// Charges the card, and writes the intent and its event.
  func pay(
    _ wanted: StripeCardPayment, _ tokens: StripeTokens, _ call: StripeEvent.Cause, in transaction: Transaction
  ) throws -> ProviderReply {
    if let token = wanted.token { try tokens.use(token) }
    let outcome = try decide(wanted, in: transaction)
    let intent = intent(wanted, outcome, at: transaction.now)
    try intent.insert(in: transaction)
    try announce(intent, of: wanted.owner.id, call, in: transaction)
    let json = intent.json(expanding: wanted.request.expands)
    guard let decline = intent.decline else { return ProviderReply(200, json) }
    throw StripeProblem(
      402, decline.message, .card, code: decline.code, declineCode: decline.declineCode, intent: json,
      charge: intent.charge)
  }

  private func decide(_ wanted: StripeCardPayment, in transaction: Transaction) throws -> StripeOutcome {
    guard let card = wanted.card.token else { return wanted.card.outcome }
    guard try accept(card.cryptogram, of: card.dpan, in: transaction) else { return .declined(.generic) }
    if let amount = wanted.card.amount, amount != wanted.request.money.exact { return .declined(.otherAmount) }
    return wanted.script.map { StripeOutcome($0.outcome) } ?? .declined(.generic)
  }

  private func intent(_ wanted: StripeCardPayment, _ outcome: StripeOutcome, at now: Timestamp) -> StripeIntent {
    var intent = StripeIntent(
      id: newID("pi"), account: wanted.owner.id, money: wanted.request.money,
      capturesByItself: wanted.request.capturesByItself,
      multicapture: wanted.request.wantsMulticapture && wanted.owner.account.multicapture, brand: wanted.card.brand,
      cardSuffix: wanted.card.suffix, refunds: wanted.card.refunds, createdAt: now, status: .requiresAction,
      metadata: wanted.request.metadata)
    switch outcome {
    case .requiresAction: return intent
    case .processing: intent.status = .processing
    case .declined(let decline): (intent.status, intent.decline) = (.requiresPaymentMethod, decline)
    case .approved: intent.approve()
    }
    intent.charge = newID("ch")
    if outcome == .approved { nameAuthorization(&intent) }
    return intent
  }

  private func nameAuthorization(_ intent: inout StripeIntent) {
    intent.authorizationCode = random.hex(3).uppercased()
    intent.networkTransaction = random.next(15).map { String($0 % 10) }.joined()
  }

  /// The event that follows a new or newly decided intent.
  func announce(
    _ intent: StripeIntent, of account: String, _ cause: StripeEvent.Cause, in transaction: Transaction
  ) throws {
    let type =
      switch intent.status {
      case .requiresCapture: "payment_intent.amount_capturable_updated"
      case .succeeded: "payment_intent.succeeded"
      case .requiresPaymentMethod: "payment_intent.payment_failed"
      case .processing: "payment_intent.processing"
      case .requiresAction: "payment_intent.requires_action"
      case .canceled: "payment_intent.canceled"
      }
    try write(StripeEvent(type, intent.json(), cause), of: account, in: transaction)
  }

  /// Approves what is processing, and ends what is left of refunds, where it began longer than `delay` ago.
  func resolve(olderThan delay: Duration) async throws {
    try await database.write { transaction in
      let time = transaction.now.microseconds - delay.microseconds
      for var intent in try StripeIntent.processing(before: time, in: transaction) {
        intent.approve()
        try intent.save(in: transaction)
        try announce(intent, of: intent.account, .itself, in: transaction)
      }
      for refund in try StripeRefund.open(before: time, in: transaction) { try end(refund, in: transaction) }
    }
  }
}
