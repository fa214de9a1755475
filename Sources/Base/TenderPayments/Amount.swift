/// An amount of money: a whole number of a currency's minor units (cents, yen, fils).
///
/// There is no floating point and no implicit currency. Arithmetic is checked: an overflow or a second currency
/// throws ``AmountError`` instead of trapping, because amounts come from outside.
public struct Amount: Sendable, Hashable {
  /// Signed; discounts are negative.
  public let minorUnits: Int64
  /// What the minor units are of.
  public let currency: Currency

  /// An amount of this many minor units: 1250 and EUR are 12.50 euros.
  public init(minorUnits: Int64, currency: Currency) {
    self.minorUnits = minorUnits
    self.currency = currency
  }

  /// The minor units that are taken from outside: as many as the twelve digits of ISO 8583 hold, with either sign. No sum
  /// and no product of a few of them leaves 64 bits.
  public static let limit: ClosedRange<Int64> = -999_999_999_999...999_999_999_999

  /// An amount that somebody sent. Nil beyond ``limit``.
  public init?(received minorUnits: Int64, currency: Currency) {
    guard Self.limit.contains(minorUnits) else { return nil }
    self.init(minorUnits: minorUnits, currency: currency)
  }

  /// Nothing, in a currency.
  public static func zero(_ currency: Currency) -> Amount { Amount(minorUnits: 0, currency: currency) }

  /// Less than zero, as a discount is.
  public var isNegative: Bool { minorUnits < 0 }
  /// More than zero, as anything that is charged must be.
  public var isPositive: Bool { minorUnits > 0 }

  /// The sum; of two currencies there is none.
  public func adding(_ other: Amount) throws(AmountError) -> Amount {
    guard currency == other.currency else { throw .currencyMismatch(currency, other.currency) }
    let (sum, overflow) = minorUnits.addingReportingOverflow(other.minorUnits)
    guard !overflow else { throw .overflow }
    return Amount(minorUnits: sum, currency: currency)
  }

  /// The difference; of two currencies there is none.
  public func subtracting(_ other: Amount) throws(AmountError) -> Amount {
    try adding(other.negated())
  }

  /// The amount with the other sign. The smallest `Int64` has none.
  public func negated() throws(AmountError) -> Amount {
    guard minorUnits != .min else { throw .overflow }
    return Amount(minorUnits: -minorUnits, currency: currency)
  }

  /// `amount × quantity`, for line items.
  public func times(_ quantity: Int64) throws(AmountError) -> Amount {
    let (product, overflow) = minorUnits.multipliedReportingOverflow(by: quantity)
    guard !overflow else { throw .overflow }
    return Amount(minorUnits: product, currency: currency)
  }

  /// A whole part, as a divisor makes it. Nil where that would be rounded.
  public func divided(by divisor: Int64) -> Amount? {
    guard divisor > 0, minorUnits.isMultiple(of: divisor) else { return nil }
    return Amount(minorUnits: minorUnits / divisor, currency: currency)
  }

  /// The share of `basisPoints` hundredths of a percent, rounded half away from zero, for coupons and fees.
  public func share(basisPoints: Int64) throws(AmountError) -> Amount {
    let scaled = try times(basisPoints).minorUnits
    let (quotient, remainder) = scaled.quotientAndRemainder(dividingBy: 10_000)
    let carry: Int64 = abs(remainder) >= 5_000 ? (scaled < 0 ? -1 : 1) : 0
    return Amount(minorUnits: quotient + carry, currency: currency)
  }

  /// The amount in major units with exactly the currency's number of decimals: `"12.50"`, `"-0.05"`, `"1200"`.
  public var decimalString: String {
    let digits = String(minorUnits.magnitude)
    let sign = minorUnits < 0 ? "-" : ""
    guard currency.exponent > 0 else { return sign + digits }
    let padded = String(repeating: "0", count: max(0, currency.exponent + 1 - digits.count)) + digits
    let point = padded.index(padded.endIndex, offsetBy: -currency.exponent)
    return "\(sign)\(padded[..<point]).\(padded[point...])"
  }

  /// Reads `-?[0-9]+(\.[0-9]+)?` with at most the currency's number of decimals, within ``limit``.
  public init(decimal text: some StringProtocol, currency: Currency) throws(AmountError) {
    let negative = text.hasPrefix("-")
    let parts = (negative ? text.dropFirst() : text[...]).split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isDigit) }) else {
      throw .malformed
    }
    let fraction = parts.count == 2 ? parts[1] : ""
    guard fraction.utf8.count <= currency.exponent else { throw .tooManyDecimals(currency) }
    let zeros = String(repeating: "0", count: currency.exponent - fraction.utf8.count)
    guard let units = Int64((negative ? "-" : "") + parts[0] + fraction + zeros),
      let amount = Amount(received: units, currency: currency)
    else { throw .overflow }
    self = amount
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

extension Amount: CustomStringConvertible {
  /// For people and logs: `12.50 EUR`.
  public var description: String { "\(decimalString) \(currency.code)" }
}

extension Sequence<Amount> {
  /// The sum; every amount must be in `currency`.
  public func total(in currency: Currency) throws(AmountError) -> Amount {
    var sum = Amount.zero(currency)
    for amount in self { sum = try sum.adding(amount) }
    return sum
  }
}

extension Int64 {
  /// The sum, or the nearest number that 64 bits hold. For counters, times and what is shown: no number may stop them.
  package func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the nearest number that 64 bits hold.
  package func subtractingClamped(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// The product, or the nearest number that 64 bits hold.
  package func multipliedClamped(by factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? ((self < 0) == (factor < 0) ? .max : .min) : product
  }
}

/// Why an amount could not be made.
public enum AmountError: Error, Sendable, Equatable {
  /// Two amounts that cannot be added up.
  case currencyMismatch(Currency, Currency)
  /// More than 64 bits hold, or more than ``Amount/limit`` where a text is read.
  case overflow
  /// A text that is no decimal number.
  case malformed
  /// More decimals than the currency's minor unit has.
  case tooManyDecimals(Currency)
}
