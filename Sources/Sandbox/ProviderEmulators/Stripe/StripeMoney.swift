import TenderPayments

/// An amount in the units that Stripe counts its currency in: Stripe, *Supported currencies*.
struct StripeMoney: Sendable, Hashable {
  let value: Int64
  let currency: Currency

  /// - Parameter code: in capitals or not; Stripe answers in small letters.
  init?(value: Int64, currency code: String) {
    guard let currency = Currency(code: code.uppercased()), currency.isMoney else { return nil }
    self.value = value
    self.currency = currency
  }

  var code: String { currency.code.lowercased() }

  /// Ariary has no decimals at Stripe. Króna and the Ugandan shilling have two, which have to be zeros.
  private static let others = ["ISK": 2, "MGA": 0, "UGX": 2]
  var decimals: Int { Self.others[currency.code] ?? currency.exponent }

  /// Whether Stripe takes the amount: the last of three decimals, and both of a currency without, are zeros.
  var isWhole: Bool {
    if decimals == 3 { return value.isMultiple(of: 10) }
    return decimals > currency.exponent ? value.isMultiple(of: 100) : true
  }

  /// The money in ISO 4217's units; nil where it has none.
  var exact: Amount? {
    var units = value
    for _ in currency.exponent..<max(currency.exponent, decimals) { units /= 10 }
    for _ in decimals..<max(currency.exponent, decimals) {
      let (product, overflow) = units.multipliedReportingOverflow(by: 10)
      guard !overflow else { return nil }
      units = product
    }
    return Amount(minorUnits: units, currency: currency)
  }
}
