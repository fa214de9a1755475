import Acquiring
import TenderPayments

/// What Checkout.com's refusals mean. The reason decides whether the gateway asks again: `DeclineReason.declineClass`.
///
/// Source: Checkout.com, *Response codes* and *Error codes*. 10xxx is approved, 20xxx a soft decline, 30xxx a hard one,
/// 40xxx Checkout.com's own risk rules. A soft decline is retriable only where the same request may succeed at once: a
/// system did not answer.
enum CheckoutComDeclines {
  static func isApproval(_ code: String) -> Bool { isCode(code) && code.hasPrefix("10") }

  /// The decline of a payment or an action.
  ///
  /// - Parameter code: `response_code`; nil or no five digits is a refusal all the same.
  static func decline(_ code: String?) -> Decline {
    guard let code, isCode(code) else { return Decline(reason: .other, code: "no response code") }
    return Decline(reason: reason(code), code: code)
  }

  private static func reason(_ code: String) -> DeclineReason {
    if let reason = responses[code] { return reason }
    switch code.first {
    case "2": return .doNotHonor
    case "3": return .lostOrStolen
    case "4": return .suspectedFraud
    default: return .other
    }
  }

  /// Why Checkout.com did not accept a request. It did nothing then. A code that is not listed is a fault of the request
  /// or of the account.
  ///
  /// - Parameter codes: `error_codes`.
  static func decline(errors codes: [String]) -> Decline {
    let known = codes.first { errors[$0] != nil }
    let code = known ?? codes.first(where: isName) ?? "no error code"
    return Decline(reason: known.flatMap { errors[$0] } ?? .configuration, code: code)
  }

  /// What may stand in a log and in the books.
  private static func isName(_ text: String) -> Bool {
    (1...80).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5F }
  }

  private static func isCode(_ text: String) -> Bool {
    text.utf8.count == 5 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  private static let responses: [String: DeclineReason] = [
    "20010": .approvedForLess, "20032": .approvedForLess,
    "20014": .invalidCard, "20015": .invalidCard, "20025": .invalidCard, "20042": .invalidCard, "20056": .invalidCard,
    "20101": .invalidCard, "20179": .invalidCard, "30015": .invalidCard,
    "20051": .insufficientFunds, "20046": .insufficientFunds, "20116": .insufficientFunds,
    "20054": .expiredCard, "20100": .expiredCard, "30033": .expiredCard,
    "20057": .notPermitted, "20058": .notPermitted, "20062": .notPermitted, "20064": .notPermitted,
    "20078": .notPermitted, "20093": .notPermitted, "20103": .notPermitted, "20111": .notPermitted,
    "20112": .notPermitted, "20182": .notPermitted, "30036": .notPermitted,
    "20038": .limitExceeded, "20061": .limitExceeded, "20065": .limitExceeded, "20075": .limitExceeded,
    "20059": .suspectedFraud, "20183": .suspectedFraud, "30007": .suspectedFraud, "30034": .suspectedFraud,
    "20063": .cryptogramInvalid, "20082": .cryptogramInvalid, "20087": .cryptogramInvalid, "20102": .cryptogramInvalid,
    "20055": .authenticationRequired, "20070": .authenticationRequired, "20150": .authenticationRequired,
    "20151": .authenticationRequired, "20152": .authenticationRequired, "20153": .authenticationRequired,
    "20154": .authenticationRequired,
    "20009": .issuerUnavailable, "20019": .issuerUnavailable, "20022": .issuerUnavailable,
    "20068": .issuerUnavailable, "20088": .issuerUnavailable, "20090": .issuerUnavailable,
    "20091": .issuerUnavailable, "20092": .issuerUnavailable, "20096": .issuerUnavailable,
    "20003": .configuration, "20012": .configuration, "20013": .configuration, "20023": .configuration,
    "20030": .configuration, "20031": .configuration, "20040": .configuration, "20060": .configuration,
    "20104": .configuration, "20105": .configuration, "20119": .configuration, "20123": .configuration,
  ]

  private static let errors: [String: DeclineReason] = [
    "action_failure_limit_exceeded": .limitExceeded, "payment_attempts_exceeded": .limitExceeded,
    "velocity_amount_limit_exceeded": .limitExceeded, "velocity_count_limit_exceeded": .limitExceeded,
    "card_disabled": .notPermitted, "card_not_found": .invalidCard, "card_number_invalid": .invalidCard,
    "card_authorization_failed": .doNotHonor, "not_enough_funds": .insufficientFunds,
    "card_expired": .expiredCard, "card_expiry_month_invalid": .expiredCard, "card_expiry_year_invalid": .expiredCard,
    // The token was used or is too old, or the payment token cannot be read: the shopper has to pay again.
    "token_expired": .cryptogramInvalid, "token_in_use": .cryptogramInvalid, "token_invalid": .cryptogramInvalid,
    "token_used": .cryptogramInvalid, "token_data_invalid": .cryptogramInvalid,
    "cryptogram_invalid": .cryptogramInvalid,
    // Done already, or more than there is: it will not be accepted later either.
    "amount_exceeds_balance": .other, "capture_value_greater_than_authorized": .other,
    "capture_value_greater_than_remaining_authorized": .other, "refund_amount_exceeds_balance": .other,
    "void_amount_invalid": .other,
    "payment_expired": .holdEnded,
    "api_calls_quota_exceeded": .issuerUnavailable, "processing_error": .issuerUnavailable,
    "too_many_requests": .issuerUnavailable,
  ]
}
