import Acquiring
import TenderPayments

/// Braintree's amounts: decimal numbers with the currency's decimals.
enum BraintreeAmount {
  /// - Parameter decimals: of the units in which the amount is counted.
  static func text(_ amount: Amount, decimals: Int) -> String {
    let digits = String(amount.minorUnits.magnitude)
    let sign = amount.minorUnits < 0 ? "-" : ""
    guard decimals > 0 else { return sign + digits }
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.utf8.count)) + digits
    return "\(sign)\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
  }

  /// Further decimals must be zeros. Nil for anything but digits with at most one point, and for more than ``Amount/limit``.
  static func read(_ text: String, _ currency: Currency, decimals: Int) -> Amount? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isNumber = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    guard (1...2).contains(parts.count), isNumber else { return nil }
    let fraction = parts.count == 2 ? parts[1] : ""
    guard fraction.dropFirst(decimals).allSatisfy({ $0 == "0" }) else { return nil }
    let kept = fraction.prefix(decimals)
    let zeros = String(repeating: "0", count: decimals - kept.utf8.count)
    return Int64(parts[0] + kept + zeros).flatMap { Amount(received: $0, currency: currency) }
  }
}
