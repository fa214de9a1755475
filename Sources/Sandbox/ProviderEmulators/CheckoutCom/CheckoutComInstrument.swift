import AcquirerSandbox
import Storage
import TenderPayments
import TokenIssuer

/// A card that the emulated Checkout.com stores: which of the wallet's cards it was, and not its number.
struct CheckoutComInstrument: Sendable {
  let card: SandboxCard?
  /// The payment that it was stored with.
  let payment: String
  let paymentType: String
  let isMerchantToken: Bool

  var cardSuffix: String? { card?.number(ofMerchantToken: isMerchantToken)?.lastFour }

  static let table = Migration(
    "checkout-com-2",
    """
    CREATE TABLE instruments (
      id TEXT PRIMARY KEY NOT NULL,
      channel TEXT NOT NULL,
      payment TEXT NOT NULL UNIQUE REFERENCES payments (id),
      payment_type TEXT NOT NULL,
      card TEXT,
      is_merchant_token BIGINT NOT NULL CHECK (is_merchant_token IN (0, 1)),
      created_at BIGINT NOT NULL
    );

    """)

  static func keep(
    _ dpan: DPAN, as id: String, for type: String, of payment: CheckoutComPayment, in transaction: Transaction
  ) throws {
    let card = SandboxCards.card(dpan: dpan)
    try transaction.run(
      """
      INSERT INTO instruments (id, channel, payment, payment_type, card, is_merchant_token, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      """,
      .text(id), .text(payment.channel), .text(payment.id), .text(type), .text(optional: card?.id),
      .integer(card?.merchantToken == dpan ? 1 : 0), .time(transaction.now))
  }

  /// Nil for one that is unknown or another channel's.
  static func find(_ id: String, of channel: String, in transaction: Transaction) throws -> CheckoutComInstrument? {
    try transaction.row("SELECT * FROM instruments WHERE id = $1 AND channel = $2", .text(id), .text(channel)).map {
      CheckoutComInstrument(
        card: try $0.textOrNil("card").flatMap { SandboxCards.card(id: $0) }, payment: try $0.text("payment"),
        paymentType: try $0.text("payment_type"), isMerchantToken: try $0.integer("is_merchant_token") == 1)
    }
  }

  /// Visa declines later payments of a device's own number.
  var refusal: String? {
    card?.network == .visa && !isMerchantToken ? CheckoutComResponseCode.code(iso: "57") : nil
  }
}
