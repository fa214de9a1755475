import Acquiring
import DirectWire
import TenderPayments

/// Worldline's error codes, and what each comes to.
///
/// Source: the codes that are known of Worldline Direct are `30511001` (insufficient funds), `30591001` (fraud),
/// `30041001` (refused by the issuer) and `30171001` (cancelled by the customer). Their third and fourth digit are those
/// of ISO 8583, by which the others are read.
enum WorldlineDirectDeclines {
  /// The payment's state does not allow the operation.
  static let wrongState: Set<String> = ["50002015", "2015"]

  /// The decline of a refused payment, capture or refund. One without a code is a refusal all the same.
  static func decline(_ faults: [PlatformFault], else code: String) -> Decline {
    guard let fault = faults.first else { return Decline(reason: .other, code: code) }
    if fault.retriable { return Decline(reason: .issuerUnavailable, code: shown(fault.errorCode)) }
    return Decline(reason: issuer(fault.errorCode) ?? .other, code: shown(fault.errorCode))
  }

  /// The decline of a call that was not valid: nothing was done.
  static func refusal(_ faults: [PlatformFault], status: Int) -> Decline {
    guard let fault = faults.first else { return Decline(reason: .configuration, code: "HTTP \(status)") }
    if fault.retriable { return Decline(reason: .issuerUnavailable, code: shown(fault.errorCode)) }
    if fault.isWrongState { return Decline(reason: .other, code: "50002015") }
    return Decline(reason: property(fault) ?? .configuration, code: shown(fault.errorCode))
  }

  /// Which of the card's data was not accepted.
  private static func property(_ fault: PlatformFault) -> DeclineReason? {
    guard let path = fault.propertyName else { return nil }
    return switch path.split(separator: ".").last {
    case "dpan": .invalidCard
    case "expiryDate": .expiredCard
    case "cryptogram": .cryptogramInvalid
    default: nil
    }
  }

  /// `30` and the response code of ISO 8583 begin the codes of refusals by the issuer.
  private static func issuer(_ errorCode: String) -> DeclineReason? {
    if errorCode == "40001134" { return .authenticationRequired }
    guard errorCode.utf8.count == 8, errorCode.hasPrefix("30") else { return nil }
    return table[String(errorCode.dropFirst(2).prefix(2))]
  }

  private static let table: [String: DeclineReason] = [
    "03": .configuration, "04": .doNotHonor, "05": .doNotHonor, "07": .lostOrStolen, "12": .notPermitted,
    "13": .configuration, "14": .invalidCard, "17": .other, "33": .expiredCard, "34": .suspectedFraud,
    "41": .lostOrStolen, "43": .lostOrStolen, "51": .insufficientFunds, "54": .expiredCard, "57": .notPermitted,
    "59": .suspectedFraud, "61": .limitExceeded, "62": .notPermitted, "63": .cryptogramInvalid, "65": .limitExceeded,
    "82": .cryptogramInvalid, "91": .issuerUnavailable, "96": .issuerUnavailable,
  ]

  /// What may stand in a log and in the books: visible ASCII and spaces, 40 of them.
  private static func shown(_ text: String) -> String {
    String(text.unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }.prefix(40).map(Character.init))
  }
}

extension PlatformFault {
  fileprivate var isWrongState: Bool {
    let name = PlatformFault.actionNotAllowed.id
    return id == name || message == name || WorldlineDirectDeclines.wrongState.contains(errorCode)
      || WorldlineDirectDeclines.wrongState.contains(code)
  }
}
