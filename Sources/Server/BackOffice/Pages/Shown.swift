import TenderPayments

// How values are written on pages.

extension Timestamp {
  /// `2026-11-23 17:05:09`, UTC.
  var shown: String {
    String(description.prefix(19).map { $0 == "T" ? " " : $0 })
  }

  /// `2026-11-23`
  var day: String { String(description.prefix(10)) }
}

extension Amount {
  /// `12.50 EUR`
  var shown: String { "\(decimalString) \(currency.code)" }
}

extension PaymentStatus {
  /// `partially refunded`
  var shown: String { String(rawValue.map { $0 == "_" ? " " : $0 }) }
}

extension Payment {
  /// `5.00 EUR captured, 7.50 EUR released`; empty where the status says it of the whole amount.
  var shownParts: String {
    let parts = [(captured, "captured"), (released, "released"), (refunded, "refunded")].filter { $0.0 > 0 }
    guard parts.contains(where: { $0.0 != amount.minorUnits }) else { return "" }
    return parts.map { "\(Amount(minorUnits: $0.0, currency: amount.currency).shown) \($0.1)" }.joined(separator: ", ")
  }
}

extension CardSummary {
  /// The card as the shopper saw it, and the end of the device account number, which is on the acquirer's side.
  var shown: String {
    let device = deviceAccountSuffix.map { "device \($0)" } ?? "opened by the provider"
    return name.map { "\($0) (\(device))" } ?? device
  }
}

extension Duration {
  /// `412 ms`
  var shownMilliseconds: String {
    "\(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000) ms"
  }
}
