package import ApplePayToken
import Crypto
package import TenderPayments

/// What an order is paid with.
package enum PaymentCredential: Sendable {
  /// A payment token for a basket, that a page, an app or a merchant's server hands in. It must carry the basket's
  /// application data.
  case token(EncryptedPaymentToken)
  /// A payment token that a merchant's server hands in for an order without a basket. Application data is compared
  /// where there is any.
  case handedIn(EncryptedPaymentToken)
  /// Encrypted data without its signature.
  case unsigned(UnsignedPaymentData)
  /// Decrypted by the merchant.
  case decrypted(DecryptedCard)

  /// What keeps it from paying twice.
  package var use: TokenUse {
    switch self {
    case .token(let token), .handedIn(let token): TokenUse(of: token)
    case .unsigned(let data): data.use
    case .decrypted(let card): card.use
    }
  }

  /// What of Apple's procedure cannot be done with it: `signature`, `signingTime`, `applicationData`, `amount`.
  package var notVerified: [String] {
    switch self {
    case .token: []
    case .handedIn(let token): token.applicationDataHash == nil ? ["applicationData"] : []
    case .unsigned: ["signature", "signingTime", "applicationData"]
    case .decrypted: ["signature", "signingTime", "applicationData", "amount"]
    }
  }
}

/// A network token that the merchant decrypted, with a fingerprint in the place of the payment token's.
package struct DecryptedCard: Sendable {
  package let card: NetworkToken
  /// A keyed hash of number and cryptogram: the database alone does not say whether it holds a card's.
  package let use: TokenUse

  /// - Parameter key: not in the database; at least 32 bytes.
  package init(_ card: NetworkToken, key: [UInt8]) {
    self.card = card
    var code = HMAC<SHA256>(key: SymmetricKey(data: key))
    code.update(data: Array(card.dpan.revealed.utf8))
    code.update(data: [0])
    code.update(data: Base64.decode(card.cryptogram.revealed) ?? Array(card.cryptogram.revealed.utf8))
    let hash = Hex.encode(code.finalize())
    use = TokenUse(transactionID: "decrypted:" + hash, payloadHash: "decrypted:" + hash)
  }
}

extension DecryptedCard: CustomStringConvertible, CustomReflectable {
  package var description: String { "DecryptedCard(•••)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
