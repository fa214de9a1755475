import Ledger
import TenderPayments
import Webhooks

// How what has a name in the store is written on pages.

extension PaymentStatus {
  /// `partially refunded`
  var shown: String { rawValue.spaced }
}

extension DeclineReason {
  /// `insufficient funds`
  var shown: String { rawValue.spaced }
}

extension String {
  /// `do not honor` of `do_not_honor`.
  var spaced: String { String(map { $0 == "_" ? " " : $0 }) }

  /// With a capital at its beginning.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension Payment {
  /// `€5.00 captured, €7.50 released`; empty where the status says it of the whole amount.
  func parts(_ format: OfficeFormat) -> String {
    let parts = [(captured, "captured"), (released, "released"), (refunded, "refunded")].filter { $0.0 > 0 }
    guard parts.contains(where: { $0.0 != amount.minorUnits }) else { return "" }
    return parts.map { "\(format.amount(Amount(minorUnits: $0.0, currency: amount.currency))) \($0.1)" }
      .joined(separator: ", ")
  }
}

extension Delivery {
  /// `1 failed try`; nil for none.
  func failedTries(_ format: OfficeFormat) -> String? {
    tries > 0 ? "\(format.number(tries)) failed \(tries == 1 ? "try" : "tries")" : nil
  }
}

extension CardSummary {
  /// The card as the shopper saw it, and the end of the device account number, which is on the acquirer's side.
  var shown: String {
    let device = deviceAccountSuffix.map { "device \($0)" } ?? "opened by the provider"
    return name.map { "\($0) (\(device))" } ?? device
  }
}
