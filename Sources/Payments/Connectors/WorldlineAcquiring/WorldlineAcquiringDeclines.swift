import Acquiring
import TenderPayments

/// What Worldline Acquiring's response codes and the schemes' advice mean.
///
/// Source: Worldline's documentation, *Response handling*; ISO 8583 for the response codes, which have no leading zeros;
/// the list of advice codes of Worldline's libraries.
enum WorldlineAcquiringDeclines {
  /// - Parameters:
  ///   - code: `responseCode`. One that is not in the table is a refusal all the same.
  ///   - advice: `merchantAdviceCode`.
  ///   - retryAfter: how long to wait before another attempt. Worldline sends it only where one may be approved.
  static func decline(code: String, advice: String?, retryAfter: String?) -> Decline {
    let reason = reason(code: code, advice: advice, mayRetry: retryAfter != nil)
    let notes = [advice.map { "advice \($0)" }, retryAfter.map { "retry after \($0)" }].compactMap { $0 }
    return Decline(reason: reason, code: ([code] + notes).joined(separator: ", "))
  }

  /// The advice decides where the response code leaves it open: whether another attempt may be approved.
  private static func reason(code: String, advice: String?, mayRetry: Bool) -> DeclineReason {
    let own = reasons[code] ?? .other
    if let advice, let forbidden = forbidding[advice] {
      return [.issuerUnavailable, .doNotHonor, .other].contains(own) ? forbidden : own
    }
    let isAdvised = mayRetry || (advice.map { retriable.contains($0) } ?? false)
    return isAdvised && (own == .doNotHonor || own == .other) ? .issuerUnavailable : own
  }

  /// The response came too late, or the message was there before: what became of it is not known.
  static let uncertain: Set<String> = ["68", "94"]
  /// The operation to undo is not known.
  static let notFound: Set<String> = ["7204", "25", "76"]

  /// Try again later: at once, or after an hour to ten days.
  private static let retriable: Set<String> = ["02", "24", "25", "26", "27", "28", "29", "30"]

  /// Do not try again: the account is closed or has a new number, the token is not accepted, the cardholder has
  /// cancelled, the product is not for this merchant, the card is for one use, sanctions.
  private static let forbidding: [String: DeclineReason] = [
    "01": .invalidCard, "03": .doNotHonor, "04": .cryptogramInvalid, "05": .doNotHonor, "21": .notPermitted,
    "22": .notPermitted, "41": .notPermitted, "42": .notPermitted,
  ]

  private static let reasons: [String: DeclineReason] = [
    "1": .doNotHonor, "2": .doNotHonor, "5": .doNotHonor,
    "4": .lostOrStolen, "7": .lostOrStolen, "41": .lostOrStolen, "43": .lostOrStolen,
    "14": .invalidCard, "15": .invalidCard, "46": .invalidCard, "77": .invalidCard, "78": .invalidCard,
    "51": .insufficientFunds, "54": .expiredCard, "61": .limitExceeded, "65": .limitExceeded,
    "57": .notPermitted, "58": .notPermitted, "62": .notPermitted, "R0": .notPermitted, "R1": .notPermitted,
    "R3": .notPermitted,
    "59": .suspectedFraud, "63": .suspectedFraud,
    "1A": .authenticationRequired,
    "82": .cryptogramInvalid, "88": .cryptogramInvalid, "N7": .cryptogramInvalid,
    "91": .issuerUnavailable, "92": .issuerUnavailable, "96": .issuerUnavailable,
    "3": .configuration, "6": .configuration, "12": .configuration, "13": .configuration, "30": .configuration,
  ]
}
