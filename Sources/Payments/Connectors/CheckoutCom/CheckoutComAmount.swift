import Acquiring
import StrictJSON
import TenderPayments

/// How Checkout.com counts amounts: Checkout.com, *Format the amount value*.
///
/// In currencies with three decimals the last must be zero, and Chilean pesos must be whole although they are counted
/// in hundredths. The connector therefore works with two decimals and none, so that an amount that Checkout.com would
/// refuse cannot be asked for, and multiplies on the wire.
enum CheckoutComAmount {
  private static let whole: Set = [
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF",
  ]
  private static let thousandths: Set = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]

  /// The decimals that an amount can have; nil for what is no money.
  static func decimals(_ currency: Currency) -> Int? {
    guard currency.isMoney else { return nil }
    return whole.contains(currency.code) ? 0 : 2
  }

  /// What stands in a request.
  static func wire(_ amount: Amount) throws(AmountError) -> JSONValue {
    .integer(try amount.times(factor(amount.currency)).minorUnits)
  }

  /// - Parameter code: the currency's.
  static func read(_ value: JSONField, _ code: JSONField) throws(JSONError) -> Amount {
    guard let currency = Currency(code: try code.string), currency.isMoney else {
      throw JSONError(.invalid, path: code.path, "no currency")
    }
    return try read(value, currency)
  }

  static func read(_ value: JSONField, _ currency: Currency) throws(JSONError) -> Amount {
    guard let amount = try value.amount(in: currency).divided(by: factor(currency)), !amount.isNegative else {
      throw JSONError(.invalid, path: value.path, "no amount of \(currency.code)")
    }
    return amount
  }

  private static func factor(_ currency: Currency) -> Int64 {
    currency.code == "CLP" ? 100 : thousandths.contains(currency.code) ? 10 : 1
  }
}
