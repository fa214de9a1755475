import Synchronization
import TenderPayments
import TokenIssuer

/// What a payment is made with: a network token, or one of Stripe's test tokens.
struct StripeCard: Sendable {
  /// Nil for a test token.
  let token: NetworkToken?
  let brand: String
  let suffix: String
  /// The amount that a sealed payment token names, in ISO 4217's units.
  var amount: Amount?
  /// What Stripe's test tokens are for.
  var outcome: StripeOutcome = .approved
  var refunds: StripeIntent.Refunds = .now

  init(_ token: NetworkToken, amount: Amount? = nil) {
    self.token = token
    self.amount = amount
    suffix = token.dpan.lastFour
    brand = Self.brand(SandboxCards.card(dpan: token.dpan)?.network)
  }

  /// Source: Stripe, *Testing*. Nil for a token that Stripe has not published.
  init?(testToken id: String) {
    guard let (outcome, refunds) = Self.tests[id] else { return nil }
    (token, brand, suffix) = (nil, "visa", "4242")
    (self.outcome, self.refunds) = (outcome, refunds)
  }

  private static let tests: [String: (StripeOutcome, StripeIntent.Refunds)] = [
    "tok_visa": (.approved, .now), "tok_pendingRefund": (.approved, .later), "tok_refundFail": (.approved, .returned),
    "tok_chargeDeclined": (.declined(.generic), .now),
    "tok_chargeDeclinedInsufficientFunds": (.declined(StripeDecline(responseCode: "51")), .now),
    "tok_chargeDeclinedLostCard": (.declined(StripeDecline(responseCode: "41")), .now),
    "tok_chargeDeclinedExpiredCard": (.declined(StripeDecline(responseCode: "54")), .now),
    "tok_chargeDeclinedProcessingError": (.declined(StripeDecline("processing_error", "processing_error")), .now),
    "tok_threeDSecure2Required": (.requiresAction, .now),
  ]

  private static func brand(_ network: CardNetwork?) -> String {
    switch network {
    case .masterCard: "mastercard"
    case .amex: "amex"
    case .discover: "discover"
    case .jcb: "jcb"
    default: "visa"
    }
  }
}

/// What becomes of a payment.
enum StripeOutcome: Sendable, Hashable {
  case approved, processing, requiresAction
  case declined(StripeDecline)

  /// - Parameter scripted: of the sandbox's cards and amounts. Stripe approves for less only on request.
  init(_ scripted: SandboxOutcome) {
    switch scripted {
    case .approve, .noAnswer, .noAnswerAfterApproval: self = .approved
    case .approveForLess: self = .declined(StripeDecline(responseCode: "51"))
    case .pending: self = .processing
    case .decline(let code): self = .declined(StripeDecline(responseCode: code))
    }
  }
}

/// Tokens of cards, in memory only: each is used once, within ten minutes.
final class StripeTokens: Sendable {
  private struct Entry: Sendable {
    let card: StripeCard
    let account: String
    let end: Timestamp
    var isUsed = false
  }

  private let entries = Mutex<[String: Entry]>([:])

  func keep(_ card: StripeCard, as id: String, of account: String, at now: Timestamp) {
    let entry = Entry(card: card, account: account, end: now.adding(.seconds(600)))
    entries.withLock { entries in
      entries = entries.filter { $0.value.end > now }
      entries[id] = entry
    }
  }

  /// - Throws: for a token that is unknown, too old or another account's.
  func find(_ id: String, of account: String, at now: Timestamp) throws(StripeProblem) -> StripeCard {
    if let test = StripeCard(testToken: id) { return test }
    let entry = entries.withLock { $0[id] }
    guard let entry, entry.account == account, entry.end > now else {
      throw .unknown("token", id, parameter: "payment_method_data[card][token]", status: 400)
    }
    return entry.card
  }

  /// - Throws: for a token that was used before.
  func use(_ id: String) throws(StripeProblem) {
    let isUsed = entries.withLock { entries in
      defer { entries[id]?.isUsed = true }
      return entries[id]?.isUsed == true
    }
    guard !isUsed else {
      throw StripeProblem(400, "You cannot use a Stripe token more than once: \(id).", code: "token_already_used")
    }
  }
}
