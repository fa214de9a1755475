package import TenderPayments

/// What a payment token is to say.
package struct TokenOrder: Sendable {
  package var card: SandboxCard
  package var amount: Amount
  package var recipient: TokenRecipient
  /// The request's application data, already decoded from base64; the token carries its hash.
  package var applicationData: [UInt8]?
  package var form = SignatureForm.withNull
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
package struct TokenMint: Sendable {
  let pki: SandboxPKI
  let clock: WallClock
  let random: RandomBytes

  package init(pki: SandboxPKI, clock: WallClock = .system, random: RandomBytes = .system) {
    self.pki = pki
    self.clock = clock
    self.random = random
  }

  /// A new payment token: fresh key, transaction identifier and cryptogram.
  package func mint(_ order: TokenOrder) throws -> MintedPaymentToken {
    let text = PaymentDataText(card: order.card, amount: order.amount, random: random)
    return try mint(plaintext: text.bytes, for: order)
  }

  /// A payment token around a text of the caller's choice, for tests of what a reader does with odd payloads.
  package func mint(plaintext: [UInt8], for order: TokenOrder) throws -> MintedPaymentToken {
    try TokenRecipe(order, by: MintAuthority(pki), at: clock.now(), random: random).token(around: plaintext)
  }
}
