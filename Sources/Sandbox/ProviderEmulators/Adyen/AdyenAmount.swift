import StrictJSON
import TenderPayments

/// An amount in the units that Adyen counts its currency in.
///
/// They are those of ISO 4217 but for four currencies: Adyen, *Currency codes and minor units*.
struct AdyenAmount: Sendable, Hashable {
  let value: Int64
  let currency: Currency

  /// Nil for a currency that Adyen does not take.
  init?(value: Int64, currency code: String) {
    guard let currency = Currency(code: code), currency.isMoney else { return nil }
    self.value = value
    self.currency = currency
  }

  init(value: Int64, currency: Currency) {
    self.value = value
    self.currency = currency
  }

  private static let decimals = ["CLP": 2, "CVE": 0, "IDR": 0, "ISK": 2]
  var decimals: Int { Self.decimals[currency.code] ?? currency.exponent }

  var json: JSONValue { ["currency": .string(currency.code), "value": .integer(value)] }

  /// Half of it, rounded up.
  var half: AdyenAmount { AdyenAmount(value: value - value / 2, currency: currency) }

  /// Whether it is the same money as an amount in ISO 4217's units.
  func equals(_ amount: Amount) -> Bool {
    currency == amount.currency
      && value.scaled(by: max(0, currency.exponent - decimals))
        == amount.minorUnits.scaled(by: max(0, decimals - currency.exponent))
  }

  /// In major units, as Adyen's reports have it.
  var decimalString: String {
    let digits = String(value.magnitude)
    guard decimals > 0 else { return digits }
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    let point = padded.index(padded.endIndex, offsetBy: -decimals)
    return "\(padded[..<point]).\(padded[point...])"
  }
}

extension Int64 {
  /// Times ten to the power; nil when it does not fit.
  fileprivate func scaled(by power: Int) -> Int64? {
    (0..<power).reduce(self as Int64?) { number, _ in
      number.flatMap { $0.multipliedReportingOverflow(by: 10).overflow ? nil : $0 * 10 }
    }
  }
}
