/// Adyen's reasons for refusing an authorization: Adyen, *Refusal reasons*.
struct AdyenRefusal: Sendable, Hashable {
  let code: String
  let reason: String

  /// An acquirer's error is no refusal of the issuer.
  var resultCode: String { code == "4" ? "Error" : "Refused" }

  init?(code: String) {
    guard let reason = Self.reasons[code] else { return nil }
    self.init(code: code, reason: reason)
  }

  private init(code: String, reason: String) {
    self.code = code
    self.reason = reason
  }

  static let refused = AdyenRefusal(code: "2", reason: "Refused")
  static let invalidAmount = AdyenRefusal(code: "7", reason: "Invalid Amount")
  static let notAuthenticated = AdyenRefusal(code: "11", reason: "3D Not Authenticated")
  static let notEnoughBalance = AdyenRefusal(code: "12", reason: "Not enough balance")

  /// What an issuer's answer becomes.
  ///
  /// - Parameter responseCode: ISO 8583 field 39.
  init(responseCode: String) {
    let code = ["04": "5", "14": "8", "41": "5", "43": "5", "51": "12", "54": "6", "59": "31", "91": "9"][responseCode]
    self = code.flatMap(AdyenRefusal.init) ?? .refused
  }

  /// What Adyen's test platform does with a card holder of this name; nil for other names.
  init?(holderName: String?) {
    switch holderName {
    case "DECLINED": self = .refused
    case "NOT_ENOUGH_BALANCE": self = .notEnoughBalance
    default: return nil
    }
  }

  private static let reasons = [
    "2": "Refused", "3": "Referral", "4": "Acquirer Error", "5": "Blocked Card", "6": "Expired Card",
    "7": "Invalid Amount", "8": "Invalid Card Number", "9": "Issuer Unavailable", "10": "Not supported",
    "11": "3D Not Authenticated", "12": "Not enough balance", "14": "Acquirer Fraud", "15": "Cancelled",
    "16": "Shopper Cancelled", "17": "Invalid Pin", "18": "Pin tries exceeded", "19": "Pin validation not possible",
    "20": "FRAUD", "21": "Not Submitted", "22": "FRAUD-CANCELLED", "23": "Transaction Not Permitted",
    "24": "CVC Declined", "25": "Restricted Card", "26": "Revocation Of Auth", "27": "Declined Non Generic",
    "28": "Withdrawal amount exceeded", "29": "Withdrawal count exceeded", "31": "Issuer Suspected Fraud",
    "32": "AVS Declined", "33": "Card requires online pin", "34": "No checking account available on Card",
    "35": "No savings account available on Card", "36": "Mobile pin required", "37": "Contactless fallback",
    "38": "Authentication required",
  ]
}
