import AcquirerSandbox
import DirectWire
import Storage
import TenderPayments
import TokenIssuer

/// A recurring series at the emulated Worldline Direct: which of the wallet's cards began it, and not its number.
struct WorldlineDirectSeries: Sendable {
  let card: SandboxCard?
  let cardSuffix: String
  let expiry: String
  let isMerchantToken: Bool

  static let table = Migration(
    "worldline-direct-2",
    """
    CREATE TABLE series (
      payment TEXT PRIMARY KEY NOT NULL REFERENCES payments (id),
      card TEXT,
      is_merchant_token BIGINT NOT NULL CHECK (is_merchant_token IN (0, 1)),
      created_at BIGINT NOT NULL
    );

    """)

  static func keep(_ dpan: DPAN, begunBy payment: WorldlineDirectPayment, in transaction: Transaction) throws {
    let card = SandboxCards.card(dpan: dpan)
    try transaction.run(
      "INSERT INTO series (payment, card, is_merchant_token, created_at) VALUES ($1, $2, $3, $4)", .text(payment.id),
      .text(optional: card?.id), .integer(card?.merchantToken == dpan ? 1 : 0), .time(transaction.now))
  }

  /// Nil where the payment began none.
  static func find(_ payment: WorldlineDirectPayment, in transaction: Transaction) throws -> WorldlineDirectSeries? {
    try transaction.row("SELECT * FROM series WHERE payment = $1", .text(payment.id)).map { row in
      WorldlineDirectSeries(
        card: try row.textOrNil("card").flatMap { SandboxCards.card(id: $0) }, cardSuffix: payment.cardSuffix,
        expiry: payment.expiry, isMerchantToken: try row.integer("is_merchant_token") == 1)
    }
  }

  /// Visa declines later payments of a device's own number.
  var refusal: String? {
    card?.network == .visa && !isMerchantToken ? WorldlineDirectStore.errorCode("57") : nil
  }
}
