import TokenIssuer

/// Checkout.com's answer to a payment or an action: five digits, of which the first says who decided.
enum CheckoutComResponseCode {
  static let approved = "10000"
  static let doNotHonour = "20005"
  static let partiallyApproved = "20010"
  static let invalidValue = "20013"
  static let securityViolation = "20063"

  /// What an issuer's answer becomes: a card to be retained is a hard decline.
  ///
  /// - Parameter iso: ISO 8583 field 39.
  static func code(iso: String) -> String {
    let hard = ["04", "07", "41", "43"]
    guard iso.utf8.count == 2, iso.allSatisfy(\.isNumber) else { return securityViolation }
    return (hard.contains(iso) ? "300" : "200") + iso
  }

  static func summary(_ code: String) -> String { summaries[code] ?? "Declined" }

  private static let summaries = [
    approved: "Approved", doNotHonour: "Declined - Do Not Honour", partiallyApproved: "Partial Value Approved",
    invalidValue: "Invalid Value/Amount", "20014": "Invalid Card Number", "20051": "Insufficient Funds",
    "20054": "Expired Card", "20059": "Suspected Fraud", securityViolation: "Security Violation",
    "20091": "Issuer Unavailable or Unable to Process Request", "30004": "Pick Up Card", "30041": "Lost Card",
    "30043": "Stolen Card",
  ]
}
