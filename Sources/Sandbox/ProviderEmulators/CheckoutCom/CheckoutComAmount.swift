import StrictJSON
import TenderPayments

/// An amount in the units that Checkout.com counts its currency in: Checkout.com, *Format the amount value*.
struct CheckoutComAmount: Sendable, Hashable {
  let value: Int64
  let currency: Currency

  /// Nil for a currency that Checkout.com does not take, and for a value that it does not: at most nine digits, the last
  /// of three decimals a zero, Chilean pesos whole.
  init?(value: Int64, currency code: String) {
    guard let currency = Currency(code: code), currency.isMoney else { return nil }
    self.init(value: value, currency: currency)
    guard (0...999_999_999).contains(value), value.isMultiple(of: granularity) else { return nil }
  }

  init(value: Int64, currency: Currency) {
    self.value = value
    self.currency = currency
  }

  private static let whole: Set = [
    "BIF", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF",
  ]
  private static let thousandths: Set = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]

  var decimals: Int {
    Self.whole.contains(currency.code) ? 0 : Self.thousandths.contains(currency.code) ? 3 : 2
  }

  private var granularity: Int64 { currency.code == "CLP" ? 100 : decimals == 3 ? 10 : 1 }

  /// Half of it, rounded up.
  var half: CheckoutComAmount { CheckoutComAmount(value: value - value / 2, currency: currency) }

  /// Whether it is the same money as an amount in ISO 4217's units.
  func equals(_ amount: Amount) -> Bool {
    currency == amount.currency && inISO == amount
  }

  /// In ISO 4217's units. Values above are too small to overflow.
  var inISO: Amount {
    let scale = currency.exponent - decimals
    let units = (0..<abs(scale)).reduce(value) { units, _ in scale > 0 ? units * 10 : units / 10 }
    return Amount(minorUnits: units, currency: currency)
  }
}
