import Acquiring
import TenderPayments

/// The response codes of ISO 8583 field 39 that mean no, and what each comes to. The reason decides whether the gateway
/// asks again: `DeclineReason.declineClass`.
///
/// A code that is not here is no decline: 68 (answered too late), 94 (sent twice) and whatever nobody has heard of
/// say nothing about the money, and leave the outcome unknown.
enum SandboxDeclines {
  static func reason(_ responseCode: String) -> DeclineReason? { table[responseCode] }

  static let table: [String: DeclineReason] = [
    "01": .doNotHonor, "02": .doNotHonor, "05": .doNotHonor,
    "03": .configuration, "06": .configuration, "12": .configuration, "13": .configuration, "30": .configuration,
    "58": .configuration, "76": .configuration, "77": .configuration, "83": .configuration,
    // What the sandbox answers to a capture or void of a hold that has expired or was voided.
    "25": .holdEnded,
    "04": .lostOrStolen, "41": .lostOrStolen, "43": .lostOrStolen,
    "07": .suspectedFraud, "59": .suspectedFraud, "63": .suspectedFraud,
    "14": .invalidCard, "15": .invalidCard, "46": .invalidCard, "78": .invalidCard,
    "51": .insufficientFunds,
    "54": .expiredCard,
    "57": .notPermitted, "62": .notPermitted, "R0": .notPermitted, "R1": .notPermitted, "R3": .notPermitted,
    "61": .limitExceeded, "65": .limitExceeded,
    "1A": .authenticationRequired,
    "82": .cryptogramInvalid, "88": .cryptogramInvalid, "N7": .cryptogramInvalid,
    "91": .issuerUnavailable, "92": .issuerUnavailable, "96": .issuerUnavailable,
  ]
}
