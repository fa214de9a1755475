import ApplePayToken
import Crypto
import Gateway
import StrictJSON
import SwiftASN1
import TenderPayments
import TenderTesting
import TokenIssuer
import X509

/// What every simulation of a process needs and what costs time to make: a merchant's key, orders, and payment tokens
/// for them. The tokens are real; the gateway verifies and opens them.
package struct Supplies: Sendable {
  /// An order, and the tokens that the shopper's wallet will give for it, one after another.
  struct Purchase: Sendable {
    let order: Order
    let tokens: [EncryptedPaymentToken]
    /// The tokens as a merchant's server hands them in.
    let documents: [JSONValue]
  }

  static let merchantIdentifier = "merchant.example.simulated"
  static let start = Timestamp(seconds: 1_795_000_000)

  let purchases: [Purchase]
  let opener: TokenOpener
  /// What must never stand in a store: account numbers, cryptograms.
  let secrets: [String]

  package init() throws {
    let clock = WallClock { Self.start }
    let pki = try SandboxPKI(clock: clock)
    let key = P256.Signing.PrivateKey()
    let request = try CertificateSigningRequest(
      version: .v1, subject: DistinguishedName { CommonName("replaced by the portal") },
      privateKey: Certificate.PrivateKey(key), attributes: .init(), signatureAlgorithm: .ecdsaWithSHA256)
    let certificate = try pki.certificate(
      .processing, for: Self.merchantIdentifier, csr: request.serializeAsPEM().pemString, clock: clock)
    let ring = ProcessingKeyRing([
      "shop": [try ProcessingKey(privateKeyPEM: key.pemRepresentation, certificatePEM: certificate)]
    ])
    opener = TokenOpener(verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)), keys: ring)
    let supply = TokenSupply(
      issuer: PaymentTokenIssuer(pki: pki, clock: clock), recipient: try TokenRecipient(certificatePEM: certificate))
    purchases = try supply.purchases()
    secrets = try Self.secrets(purchases, opener)
  }

  private static func secrets(_ purchases: [Purchase], _ opener: TokenOpener) throws -> [String] {
    try purchases.flatMap { purchase in
      try purchase.tokens.flatMap { token in
        let opened = try opener.open(token, for: purchase.order.merchant, at: start)
        let network = try opened.paymentData.networkToken
        return [network.dpan.revealed, network.cryptogram.revealed]
      }
    }
  }
}

private struct TokenSupply {
  let issuer: PaymentTokenIssuer
  let recipient: TokenRecipient

  /// Five orders, and a sixth with the basket, amount and tokens of the fifth.
  func purchases() throws -> [Supplies.Purchase] {
    let amounts: [(Int64, String, CaptureMode)] = [
      (1250, "EUR", .immediate), (99_999, "EUR", .manual), (1, "EUR", .manual), (4_700, "JPY", .manual),
      (2_000, "EUR", .immediate),
    ]
    var all = try amounts.enumerated().map { try purchase($0.offset, $0.element) }
    let last = all[all.count - 1]
    all.append(
      Supplies.Purchase(order: order(5, basket: 4, amounts[4]), tokens: last.tokens, documents: last.documents))
    return all
  }

  private func purchase(_ number: Int, _ terms: (Int64, String, CaptureMode)) throws -> Supplies.Purchase {
    let order = order(number, basket: number, terms)
    let cards = ["visa-credit", "mastercard-credit", "visa-debit"]
    let documents = try cards.compactMap { SandboxCards.card(id: $0) }.map { card in
      var request = PaymentTokenRequest(
        card: card, amount: order.amount, recipient: recipient, applicationData: Self.applicationData(order.basket))
      // Each order's cards have merchant tokens of their own, but the last card, which has none.
      request.agreementMerchant = order.id.rawValue
      return try issuer.issue(request).json
    }
    return Supplies.Purchase(
      order: order, tokens: try documents.map { try EncryptedPaymentToken(json: $0) }, documents: documents)
  }

  /// As the checkout signs it.
  private static func applicationData(_ basket: BasketID) -> [UInt8] {
    Array("tender:v1:shop:\(basket)".utf8)
  }

  private func order(_ number: Int, basket: Int, _ terms: (Int64, String, CaptureMode)) -> Order {
    let basket = "basket-\(basket)-of-the-simulation"
    return Order(
      id: OrderID("order-\(number)"), merchant: MerchantID("shop"), basket: BasketID(basket),
      amount: Amount(minorUnits: terms.0, currency: Currency(code: terms.1) ?? Currency.all[0]),
      applicationDataHash: Array(SHA256.hash(data: Self.applicationData(BasketID(basket)))),
      merchantReference: "order-\(number)",
      capture: terms.2)
  }
}
