import Acquiring
import TenderPayments

/// Adyen's refusal reasons, and what each comes to. Source: Adyen, *Refusal reasons*; the numbers are those of answers,
/// the names those of events.
enum AdyenDeclines {
  private struct Row {
    let code: String
    let name: String
    let reason: DeclineReason

    init(_ code: String, _ name: String, _ reason: DeclineReason) {
      (self.code, self.name, self.reason) = (code, name, reason)
    }
  }

  /// The decline of an answer.
  ///
  /// - Parameters:
  ///   - code: `refusalReasonCode`. One that is in no table is a refusal all the same.
  ///   - resultCode: `Refused`, `Error` or `Cancelled`; an error is temporary unless its code says otherwise.
  static func decline(code: String?, resultCode: String) -> Decline {
    let row = table.first { $0.code == code }
    let other: DeclineReason = resultCode == "Error" ? .issuerUnavailable : .other
    return Decline(reason: row?.reason ?? other, code: code.map(shown) ?? resultCode)
  }

  /// The decline of an event.
  ///
  /// - Parameter reason: Adyen's words, by which events name the refusal.
  static func decline(reason: String, eventCode: String) -> Decline {
    let row = table.first { $0.name.lowercased() == reason.lowercased() }
    return Decline(reason: row?.reason ?? .other, code: row?.code ?? shown(reason.isEmpty ? eventCode : reason))
  }

  /// The error codes of a call that was not accepted. All but these are for the operator.
  static func reason(errorCode: String) -> DeclineReason {
    switch errorCode {
    case "101": .invalidCard
    case "129", "140", "141": .expiredCard
    default: .configuration
    }
  }

  /// What may stand in a log and in the books: visible ASCII and spaces, 80 of them.
  private static func shown(_ text: String) -> String {
    String(text.unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }.prefix(80).map(Character.init))
  }

  private static let table = [
    Row("2", "Refused", .doNotHonor),
    Row("3", "Referral", .doNotHonor),
    Row("4", "Acquirer Error", .issuerUnavailable),
    Row("5", "Blocked Card", .lostOrStolen),
    Row("6", "Expired Card", .expiredCard),
    Row("7", "Invalid Amount", .configuration),
    Row("8", "Invalid Card Number", .invalidCard),
    Row("9", "Issuer Unavailable", .issuerUnavailable),
    Row("10", "Not supported", .notPermitted),
    Row("11", "3D Not Authenticated", .cryptogramInvalid),
    Row("12", "Not enough balance", .insufficientFunds),
    Row("14", "Acquirer Fraud", .suspectedFraud),
    Row("15", "Cancelled", .other),
    Row("16", "Shopper Cancelled", .other),
    Row("17", "Invalid Pin", .authenticationRequired),
    Row("18", "Pin tries exceeded", .authenticationRequired),
    Row("19", "Pin validation not possible", .authenticationRequired),
    Row("20", "FRAUD", .suspectedFraud),
    Row("21", "Not Submitted", .configuration),
    Row("22", "FRAUD-CANCELLED", .suspectedFraud),
    Row("23", "Transaction Not Permitted", .notPermitted),
    Row("24", "CVC Declined", .cryptogramInvalid),
    Row("25", "Restricted Card", .notPermitted),
    Row("26", "Revocation Of Auth", .doNotHonor),
    Row("27", "Declined Non Generic", .doNotHonor),
    Row("28", "Withdrawal amount exceeded", .limitExceeded),
    Row("29", "Withdrawal count exceeded", .limitExceeded),
    Row("31", "Issuer Suspected Fraud", .suspectedFraud),
    Row("32", "AVS Declined", .doNotHonor),
    Row("33", "Card requires online pin", .authenticationRequired),
    Row("34", "No checking account available on Card", .notPermitted),
    Row("35", "No savings account available on Card", .notPermitted),
    Row("36", "Mobile pin required", .authenticationRequired),
    Row("37", "Contactless fallback", .authenticationRequired),
    Row("38", "Authentication required", .authenticationRequired),
  ]
}
