import StrictJSON

/// Why a card is declined: Stripe, *Decline codes*.
struct StripeDecline: Sendable, Hashable {
  /// The error's code: `card_declined`, `expired_card`.
  let code: String
  let declineCode: String

  init(_ code: String, _ declineCode: String) {
    self.code = code
    self.declineCode = declineCode
  }

  /// What an issuer's answer becomes.
  ///
  /// - Parameter responseCode: ISO 8583 field 39.
  init(responseCode: String) {
    switch responseCode {
    case "05": self.init("card_declined", "do_not_honor")
    case "14": self.init("incorrect_number", "incorrect_number")
    case "41": self.init("card_declined", "lost_card")
    case "51": self.init("card_declined", "insufficient_funds")
    case "54": self.init("expired_card", "expired_card")
    case "91": self.init("card_declined", "issuer_not_available")
    default: self.init("card_declined", "generic_decline")
    }
  }

  static let generic = StripeDecline("card_declined", "generic_decline")
  static let otherAmount = StripeDecline("card_declined", "invalid_amount")

  var message: String { "Your card was declined." }

  /// As `last_payment_error`.
  var error: JSONValue {
    [
      "type": "card_error", "code": .string(code), "decline_code": .string(declineCode), "message": .string(message),
    ]
  }
}
