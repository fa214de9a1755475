package import TenderPayments

/// What a payment token is to contain, and for whom.
package struct PaymentTokenRequest: Sendable {
  package var card: SandboxCard
  package var amount: Amount
  package var recipient: TokenRecipient
  /// The request's application data, already decoded from base64; the token carries its hash.
  package var applicationData: [UInt8]?
  package var form = SignatureForm.withNull
  /// The merchant whose agreement the sheet showed, for which the card gives its merchant token, if it has one; nil for a
  /// payment by itself.
  package var agreementMerchant: String?
  /// When the signature says it was made; nil for now.
  package var signingTime: Timestamp?

  package init(card: SandboxCard, amount: Amount, recipient: TokenRecipient, applicationData: [UInt8]? = nil) {
    self.card = card
    self.amount = amount
    self.recipient = recipient
    self.applicationData = applicationData
  }
}

/// The simulated Secure Element together with Apple's broker: it makes payment tokens that differ from Apple's only in
/// the root they lead to. The recipient's key decides between EC_v1 and RSA_v1.
package struct PaymentTokenIssuer: Sendable {
  let pki: SandboxPKI
  let clock: WallClock
  let random: RandomBytes

  package init(pki: SandboxPKI, clock: WallClock = .system, random: RandomBytes = .system) {
    self.pki = pki
    self.clock = clock
    self.random = random
  }

  /// A new payment token: fresh key, transaction identifier and cryptogram.
  package func issue(_ request: PaymentTokenRequest) throws -> IssuedPaymentToken {
    let text = PaymentDataText(request, random: random)
    return try issue(plaintext: text.bytes, for: request)
  }

  /// A payment token around a text of the caller's choice, for tests with unusual payloads.
  package func issue(plaintext: [UInt8], for request: PaymentTokenRequest) throws -> IssuedPaymentToken {
    try PaymentTokenBuilder(request, by: TokenAuthority(pki), at: clock.now(), random: random).token(around: plaintext)
  }
}
