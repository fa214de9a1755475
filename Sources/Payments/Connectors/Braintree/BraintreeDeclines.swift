import Acquiring
import TenderPayments

/// What Braintree's refusals mean. The reason decides whether the gateway asks again: `DeclineReason.declineClass`.
///
/// Source: Braintree's documentation, *Authorization responses*, *Gateway rejections* and *Validation errors*.
enum BraintreeDeclines {
  /// A processor's response code. A 2000-class code that is not listed is a generic refusal of the bank; 3000-class
  /// codes are failures of the network behind Braintree.
  static func reason(processor code: String) -> DeclineReason {
    if let reason = processor[code] { return reason }
    switch code.first {
    case "2": return .doNotHonor
    case "3": return .issuerUnavailable
    default: return .other
    }
  }

  /// Why Braintree's own rules rejected the transaction; nil for `duplicate`, which says that another transaction like
  /// it exists: perhaps this very one, delivered twice.
  static func reason(rejection: String) -> DeclineReason? {
    rejection.lowercased() == "duplicate" ? nil : rejections[rejection.lowercased()] ?? .other
  }

  /// Why Braintree did not accept a request. It did nothing then. A code that is not listed is a fault of the request
  /// or of the account.
  static func reason(validation code: String) -> DeclineReason { validations[code] ?? .configuration }

  private static let processor: [String: DeclineReason] = [
    "2001": .insufficientFunds,
    "2002": .limitExceeded, "2003": .limitExceeded, "2056": .limitExceeded,
    "2004": .expiredCard, "2006": .expiredCard, "2022": .expiredCard,
    "2005": .invalidCard, "2007": .invalidCard, "2008": .invalidCard, "2009": .invalidCard, "2051": .invalidCard,
    "2107": .invalidCard, "2108": .invalidCard,
    "2012": .lostOrStolen, "2013": .lostOrStolen, "2047": .lostOrStolen, "2053": .lostOrStolen,
    "2014": .suspectedFraud, "2021": .suspectedFraud,
    "2015": .notPermitted, "2019": .notPermitted, "2020": .notPermitted, "2057": .notPermitted,
    "2106": .notPermitted,
    "2034": .issuerUnavailable,
    "2035": .approvedForLess,
    "2036": .holdEnded, "2037": .holdEnded, "2067": .holdEnded,
    "2058": .authenticationRequired, "2099": .authenticationRequired, "2101": .authenticationRequired,
    "2078": .cryptogramInvalid,
    "2023": .configuration, "2024": .configuration, "2025": .configuration, "2026": .configuration,
    "2027": .configuration, "2028": .configuration, "2029": .configuration, "2030": .configuration,
    "2031": .configuration, "2040": .configuration, "2042": .configuration, "2045": .configuration,
    "2048": .configuration, "2055": .configuration, "2064": .configuration, "2080": .configuration,
  ]

  private static let rejections: [String: DeclineReason] = [
    "avs": .doNotHonor, "avs_and_cvv": .doNotHonor, "cvv": .doNotHonor,
    "fraud": .suspectedFraud, "risk_threshold": .suspectedFraud, "payment_method_blocked": .notPermitted,
    "excessive_retry": .limitExceeded,
    "three_d_secure": .authenticationRequired,
    "application_incomplete": .configuration, "token_issuance": .configuration,
    "manual_transactions_disabled": .configuration,
  ]

  /// A transaction in another state than the request needs.
  static let wrongState: Set<String> = ["91504", "91507", "915103"]
  /// The capture is not settled yet: it can only be voided.
  static let notSettled = "91506"

  private static let validations: [String: DeclineReason] = [
    // Settling on an account that refunds settled transactions only, and not settled: a later request succeeds.
    "91574": .issuerUnavailable, notSettled: .issuerUnavailable,
    // The single-use payment method was used or is too old; the payment token cannot be read.
    "91564": .cryptogramInvalid, "91565": .cryptogramInvalid, "91566": .cryptogramInvalid,
    "93504": .cryptogramInvalid, "93505": .cryptogramInvalid, "93506": .cryptogramInvalid, "83520": .cryptogramInvalid,
    // The card's brand is not accepted by this account.
    "83501": .notPermitted, "83518": .notPermitted, "91517": .notPermitted, "91567": .notPermitted,
    "915101": .notPermitted,
    // Done already, or more than there is: it will not be accepted later either.
    "91504": .other, "91507": .other, "915103": .other, "91512": .other, "91521": .other, "91522": .other,
    "915200": .other, "915201": .issuerUnavailable, "915282": .issuerUnavailable,
  ]
}
