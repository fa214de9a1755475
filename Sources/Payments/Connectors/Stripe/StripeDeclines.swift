import Acquiring
import TenderPayments

/// Stripe's codes, and what each comes to. Source: Stripe, *Decline codes* and *Error codes*.
enum StripeDeclines {
  /// The decline of a card.
  ///
  /// - Parameters:
  ///   - code: the error's: `card_declined`, `expired_card`.
  ///   - declineCode: the issuer's reason, which is more exact where it is given. One that is in no table is a decline
  ///     all the same.
  static func decline(code: String?, declineCode: String?) -> Decline {
    let reason = [declineCode, code].lazy.compactMap { $0.flatMap { cards[$0] } }.first
    return Decline(reason: reason ?? .other, code: shown(declineCode ?? code ?? "card_error"))
  }

  /// The decline of a call that Stripe refused. All but these are for the operator.
  static func refusal(code: String?, status: Int) -> Decline {
    let name = code.map(shown) ?? "HTTP \(status)"
    return Decline(reason: code.flatMap { calls[$0] } ?? .configuration, code: name)
  }

  /// What may stand in a log and in the books: 80 letters, digits, hyphens and underscores.
  static func shown(_ text: String) -> String {
    String(text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }.prefix(80))
  }

  private static let calls: [String: DeclineReason] = [
    "charge_already_captured": .other, "charge_already_refunded": .other, "charge_expired_for_capture": .holdEnded,
    "expired_card": .expiredCard, "incorrect_number": .invalidCard, "invalid_expiry_month": .expiredCard,
    "invalid_expiry_year": .expiredCard, "invalid_number": .invalidCard,
  ]

  private static let cards: [String: DeclineReason] = [
    "approve_with_id": .issuerUnavailable, "authentication_not_handled": .authenticationRequired,
    "authentication_required": .authenticationRequired, "call_issuer": .doNotHonor,
    "card_not_supported": .notPermitted, "card_velocity_exceeded": .limitExceeded,
    "currency_not_supported": .notPermitted, "do_not_honor": .doNotHonor, "do_not_try_again": .doNotHonor,
    "duplicate_transaction": .other, "expired_card": .expiredCard, "fraudulent": .suspectedFraud,
    "generic_decline": .doNotHonor, "incorrect_cvc": .cryptogramInvalid, "incorrect_number": .invalidCard,
    "incorrect_pin": .authenticationRequired, "insufficient_funds": .insufficientFunds,
    "invalid_account": .invalidCard, "invalid_amount": .limitExceeded, "invalid_cvc": .cryptogramInvalid,
    "invalid_expiry_month": .expiredCard, "invalid_expiry_year": .expiredCard, "invalid_number": .invalidCard,
    "invalid_pin": .authenticationRequired, "issuer_not_available": .issuerUnavailable,
    "lost_card": .lostOrStolen, "merchant_blacklist": .suspectedFraud, "new_account_information_available": .doNotHonor,
    "no_action_taken": .doNotHonor, "not_permitted": .notPermitted,
    "offline_pin_required": .authenticationRequired, "online_or_offline_pin_required": .authenticationRequired,
    "pickup_card": .lostOrStolen, "pin_try_exceeded": .authenticationRequired,
    "processing_error": .issuerUnavailable, "reenter_transaction": .issuerUnavailable,
    "restricted_card": .notPermitted, "revocation_of_all_authorizations": .doNotHonor,
    "revocation_of_authorization": .doNotHonor, "security_violation": .doNotHonor,
    "service_not_allowed": .notPermitted, "stolen_card": .lostOrStolen, "stop_payment_order": .doNotHonor,
    "testmode_decline": .configuration, "transaction_not_allowed": .notPermitted, "try_again_later": .issuerUnavailable,
    "withdrawal_count_limit_exceeded": .limitExceeded,
  ]
}
