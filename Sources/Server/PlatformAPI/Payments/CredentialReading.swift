import ApplePayToken
import DirectWire
import Gateway
import StrictJSON
import TenderPayments

// The forms in which a merchant's server hands Apple Pay data in. Each is a credential of its own: what can be verified
// differs.
extension PlatformPayments {
  /// - Parameter isOfBasket: whether the order has a basket, to which the payment token must be tied.
  func credential(
    _ input: MobilePaymentInput, _ merchant: PlatformMerchant, isOfBasket: Bool
  ) throws -> PaymentCredential {
    if case .data(let text)? = input.encryptedPaymentData, let mistake = EncryptedPaymentToken.mistake(in: text) {
      throw mistake
    }
    switch (input.encryptedPaymentData, input.decryptedPaymentData) {
    case (.token(let json)?, nil):
      let token = try EncryptedPaymentToken(json: json)
      return isOfBasket ? .token(token) : .handedIn(token)
    case (.data, nil) where isOfBasket:
      throw PlatformRefusal.invalid(
        Self.encryptedData,
        "The order has a basket, and this form lacks the application data that names it. Send the whole paymentData.")
    case (.data(let data)?, nil): return try unsigned(data, input, merchant)
    case (nil, let data?): return .decrypted(DecryptedCard(data.card, key: fingerprintKey))
    case (nil, nil): throw PlatformRefusal.missing(Self.encryptedData)
    case (.some, .some):
      throw PlatformRefusal.invalid(Self.input + ".decryptedPaymentData", "Beside encryptedPaymentData it is too much.")
    }
  }

  private func unsigned(
    _ data: String, _ input: MobilePaymentInput, _ merchant: PlatformMerchant
  ) throws -> PaymentCredential {
    guard let key = input.ephemeralKey else { throw PlatformRefusal.missing(Self.input + ".ephemeralKey") }
    guard let hash = input.publicKeyHash else { throw PlatformRefusal.missing(Self.input + ".publicKeyHash") }
    guard merchant.takesUnsignedData else {
      throw PlatformRefusal.invalid(
        Self.encryptedData,
        "This form lacks Apple's signature. Send the whole paymentData, or set unsignedPaymentData in merchant.yaml.")
    }
    return .unsigned(try UnsignedPaymentData(data: data, ephemeralPublicKey: key, publicKeyHash: hash))
  }
}
