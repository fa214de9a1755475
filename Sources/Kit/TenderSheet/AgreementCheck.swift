package import TenderPayments

extension PaymentAgreement {
  /// Refuses agreements for which the device would close the sheet without an error.
  package func check(_ currency: Currency) throws(SheetViolation) {
    try checkWords()
    for amount in amounts {
      guard amount.currency == currency else { throw .mixedCurrencies(currency) }
      guard !amount.isNegative else { throw .agreement("an amount of the agreement is negative") }
      _ = try amount.sheetText
    }
    guard intervals.allSatisfy({ $0.count >= 1 }) else { throw .agreement("an interval is shorter than one unit") }
  }

  private func checkWords() throws(SheetViolation) {
    guard !terms.paymentDescription.isEmpty, labels.allSatisfy({ !$0.isEmpty }) else { throw .emptyLabel }
    guard TextLimits.holds(terms.billingAgreement ?? "", most: AgreementTerms.longestBillingAgreement) else {
      throw .agreement("the billing agreement has more than \(AgreementTerms.longestBillingAgreement) characters")
    }
    let notified = terms.tokenNotificationURL.map(Self.isHTTPSOrOwn) ?? true
    guard Self.isHTTPS(terms.managementURL), notified else {
      throw .agreement("a URL of the agreement is not https")
    }
  }

  private static func isHTTPS(_ url: String) -> Bool { url.hasPrefix("https://") && url.count > 8 }

  /// The simulated Apple notifies this machine without TLS.
  private static func isHTTPSOrOwn(_ url: String) -> Bool {
    isHTTPS(url) || ["http://localhost:", "http://127.0.0.1:"].contains { url.hasPrefix($0) }
  }

  private var labels: [String] {
    switch self {
    case .recurring(let payment): [payment.regular.label] + (payment.trial.map { [$0.label] } ?? [])
    case .automaticReload(let reload): [reload.label]
    case .deferred(let payment): [payment.label]
    }
  }

  private var amounts: [Amount] {
    switch self {
    case .recurring(let payment): [payment.regular.amount] + (payment.trial.map { [$0.amount] } ?? [])
    case .automaticReload(let reload): [reload.amount, reload.threshold]
    case .deferred(let payment): [payment.amount]
    }
  }

  private var intervals: [BillingInterval] {
    guard case .recurring(let payment) = self else { return [] }
    return [payment.regular.interval] + (payment.trial.map { [$0.interval] } ?? [])
  }
}
