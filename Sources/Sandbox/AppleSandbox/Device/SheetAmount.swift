package import TenderPayments

extension Amount {
  /// An amount as a page gives it to the sheet, rounded half up to the currency's minor unit, as the sheet shows it.
  ///
  /// The grammar is the W3C's valid decimal monetary value without the sign: any number of decimals, because pages
  /// compute totals in binary floating point.
  package init(sheet text: String, currency: Currency) throws(AmountError) {
    guard !text.hasPrefix("-") else { throw .malformed }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count > currency.exponent else {
      try self.init(decimal: text, currency: currency)
      return
    }
    guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .malformed }
    let (kept, rest) = (parts[1].prefix(currency.exponent), parts[1].dropFirst(currency.exponent))
    let below = try Amount(decimal: kept.isEmpty ? "\(parts[0])" : "\(parts[0]).\(kept)", currency: currency)
    self = try below.adding(Amount(minorUnits: rest >= "5" ? 1 : 0, currency: currency))
  }
}
