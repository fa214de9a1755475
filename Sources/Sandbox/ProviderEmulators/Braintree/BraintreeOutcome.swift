import TenderPayments
import TokenIssuer

/// What becomes of a sale: by Braintree's own test amounts, by the card, and by the sandbox's amounts.
struct BraintreeOutcome: Sendable, Hashable {
  var status = "authorized"
  /// The processor's response code.
  var code: String? = "1000"
  var rejection: String?

  static let authorizing = BraintreeOutcome(status: "authorizing", code: nil)

  static func declined(_ code: String) -> BraintreeOutcome {
    BraintreeOutcome(status: code.hasPrefix("3") ? "failed" : "processor_declined", code: code)
  }

  static func rejected(_ reason: String) -> BraintreeOutcome {
    BraintreeOutcome(status: "gateway_rejected", code: nil, rejection: reason)
  }

  /// Source: Braintree's documentation, *Testing*: the whole units of the amount are the response.
  init?(testAmount amount: Amount) {
    let units = amount.currency.exponent == 0 ? amount.minorUnits : amount.majorUnits
    switch units {
    case 2000...2999: self = .declined(String(units))
    case 3000: self = .declined("3000")
    case 5001 where amount.minorUnits == 5001 * amount.scale: self = .rejected("application_incomplete")
    default: return nil
    }
  }

  /// - Parameter scripted: of the sandbox's cards and amounts, with response codes of ISO 8583.
  init(_ scripted: SandboxOutcome) {
    switch scripted {
    case .approve, .noAnswer, .noAnswerAfterApproval: self.init()
    case .approveForLess: self = .declined("2035")
    case .pending: self = .authorizing
    case .decline(let code): self = .declined(Self.processor[code] ?? "2000")
    }
  }

  private init(status: String = "authorized", code: String? = "1000", rejection: String? = nil) {
    (self.status, self.code, self.rejection) = (status, code, rejection)
  }

  /// The outcome of a transaction that was refused.
  init(of transaction: BraintreeTransaction) {
    self.init(status: transaction.status, code: transaction.code, rejection: transaction.rejection)
  }

  private static let processor = [
    "05": "2000", "14": "2005", "41": "2012", "51": "2001", "54": "2004", "91": "3000", "N7": "2078",
  ]

  var isApproved: Bool { status == "authorized" }

  /// For people.
  var text: String { code.flatMap { Self.texts[$0] } ?? (rejection.map { "Gateway Rejected: \($0)" } ?? "Declined") }

  private static let texts = [
    "1000": "Approved", "2000": "Do Not Honor", "2001": "Insufficient Funds", "2004": "Expired Card",
    "2005": "Invalid Credit Card Number", "2012": "Processor Declined - Possible Lost Card", "2035": "Partial Approval",
    "2078": "Invalid Secure Payment Data", "3000": "Processor Network Unavailable - Try Again",
  ]
}

extension Amount {
  fileprivate var scale: Int64 { (0..<currency.exponent).reduce(1) { power, _ in power * 10 } }
  fileprivate var majorUnits: Int64 { minorUnits / scale }
}
