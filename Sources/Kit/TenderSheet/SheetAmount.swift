public import TenderPayments

extension Amount {
  /// The amount as Apple Pay JS takes it, with the currency's decimals: `"12.50"`, `"1200"`, `"1.234"`.
  ///
  /// The grammar is the W3C's valid decimal monetary value, `-?[0-9]+(\.[0-9]+)?`, which has any number of decimals.
  public var sheetText: String {
    get throws(SheetViolation) {
      guard currency.isMoney else { throw .notMoney(currency) }
      return decimalString
    }
  }

  /// Reads what ``sheetText`` writes: all of the currency's decimals, or none.
  public init(sheetText text: String, currency: Currency) throws(SheetViolation) {
    let decimals = text.split(separator: ".", omittingEmptySubsequences: false).dropFirst().first
    guard decimals == nil || decimals?.utf8.count == currency.exponent else { throw .malformedAmount }
    do {
      try self.init(decimal: text, currency: currency)
    } catch {
      throw .malformedAmount
    }
  }
}

/// Why a payment sheet cannot show something.
public enum SheetViolation: Error, Sendable, Hashable {
  /// A text that is not an amount.
  case malformedAmount
  /// An ISO 4217 code that is not a currency for payments: gold, testing.
  case notMoney(Currency)
  /// Two currencies on one sheet.
  case mixedCurrencies(Currency)
  /// The discounts exceed the goods.
  case negativeTotal(Amount)
  /// A shipping method that pays the shopper.
  case negativeShipping(Amount)
  /// A line, a method or a business without a name.
  case emptyLabel
  /// An overflow of 64 bits.
  case overflow
  /// An agreement that the device would refuse; the text says why.
  case agreement(String)

  /// A stable code.
  public var code: String {
    switch self {
    case .malformedAmount: "amount_malformed"
    case .notMoney: "currency_not_money"
    case .mixedCurrencies: "currency_mismatch"
    case .negativeTotal: "total_negative"
    case .negativeShipping: "shipping_negative"
    case .emptyLabel: "label_empty"
    case .overflow: "amount_overflow"
    case .agreement: "agreement_invalid"
    }
  }

  /// The error, for the operator.
  public var reason: String {
    switch self {
    case .malformedAmount: "an amount is not written with the decimals of its currency"
    case .notMoney(let currency): "nothing can be charged in \(currency)"
    case .mixedCurrencies(let currency): "an amount is not in \(currency), the currency of the sheet"
    case .negativeTotal(let amount): "the total would be \(amount)"
    case .negativeShipping(let amount): "a shipping method costs \(amount)"
    case .emptyLabel: "a line has no label"
    case .overflow: "the sum of the lines does not fit into 64 bits"
    case .agreement(let reason): reason
    }
  }

  /// What to do about it, for the integrator.
  public var advice: String {
    switch self {
    case .malformedAmount: "Write whole units, or units and all decimals of the currency."
    case .notMoney, .mixedCurrencies: "Use one currency of ISO 4217 that has a minor unit."
    case .negativeTotal: "Discounts must not exceed what they are taken from."
    case .negativeShipping: "Give shipping away as a discount line, not as a negative method."
    case .emptyLabel: "Give every line and the business a name."
    case .overflow: "Split the basket."
    case .agreement: "See Apple's page of that kind of payment request; Tender refuses what the device would refuse."
    }
  }
}
