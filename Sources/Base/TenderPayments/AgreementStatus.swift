/// What an agreement allows.
package enum AgreementStatus: String, Sendable, Hashable, Codable, CaseIterable {
  /// The outcome of its first payment is not known yet.
  case pending
  /// It can be charged.
  case active
  /// It cannot be charged for now.
  case suspended
  /// It can never be charged again.
  case ended
}

/// Who changed an agreement.
package enum AgreementParty: String, Sendable, Hashable, Codable, CaseIterable {
  /// A call of the merchant's server.
  case merchant
  /// A person at the back office or the command line.
  case `operator`
  /// The cardholder, at the merchant or in Wallet.
  case shopper
  /// The issuer or the card scheme.
  case issuer
  /// The outcome of the agreement's first payment.
  case firstPayment = "first_payment"
}
