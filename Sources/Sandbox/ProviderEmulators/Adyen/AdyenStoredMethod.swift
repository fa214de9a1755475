import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// A card that the emulated Adyen stores for a shopper: which of the wallet's cards it was, and not its number.
struct AdyenStoredMethod: Sendable {
  /// That a payment's card is to be stored.
  struct Wish: Sendable {
    let shopper: String
    let model: String

    /// Nil for a payment that stores nothing.
    init?(_ fields: AdyenFields) throws(AdyenProblem) {
      guard fields.value("storePaymentMethod") == .bool(true) else { return nil }
      shopper = try AdyenStoredMethod.shopper(fields)
      model = try AdyenStoredMethod.model(fields)
      guard try fields.text("shopperInteraction") == "Ecommerce" else {
        throw AdyenProblem(422, "168", "Shopper interaction does not allow to store a payment method")
      }
    }
  }

  /// That a stored card pays.
  struct Use: Sendable {
    let id: String
    let shopper: String
    let model: String

    init(_ method: JSONField, _ fields: AdyenFields) throws(AdyenProblem) {
      let stored = try AdyenFields(method, "CardDetails", known: ["type", "storedPaymentMethodId"])
      id = try stored.text("storedPaymentMethodId", limit: 64)
      shopper = try AdyenStoredMethod.shopper(fields)
      model = try AdyenStoredMethod.model(fields)
      guard try fields.text("shopperInteraction") == "ContAuth" else {
        throw AdyenProblem(422, "168", "A payment without its shopper is a ContAuth")
      }
    }
  }

  let shopper: String
  let model: String
  let card: SandboxCard?
  let isMerchantToken: Bool

  var cardSuffix: String? { card?.number(ofMerchantToken: isMerchantToken)?.lastFour }

  private static let models = ["CardOnFile", "Subscription", "UnscheduledCardOnFile"]

  private static func shopper(_ fields: AdyenFields) throws(AdyenProblem) -> String {
    let shopper = try fields.text("shopperReference", limit: 256)
    guard shopper.utf8.count >= 3 else { throw AdyenProblem(422, "702", "Field 'shopperReference' is too short.") }
    return shopper
  }

  private static func model(_ fields: AdyenFields) throws(AdyenProblem) -> String {
    let model = try fields.text("recurringProcessingModel")
    guard models.contains(model) else { throw .notReadable("recurringProcessingModel is \(model)") }
    return model
  }

  static let table = Migration(
    "adyen-2",
    """
    CREATE TABLE stored_methods (
      id TEXT PRIMARY KEY NOT NULL,
      account TEXT NOT NULL,
      shopper TEXT NOT NULL,
      model TEXT NOT NULL,
      payment TEXT NOT NULL UNIQUE REFERENCES payments (psp_reference),
      card TEXT,
      is_merchant_token BIGINT NOT NULL CHECK (is_merchant_token IN (0, 1)),
      created_at BIGINT NOT NULL
    );

    """)

  static func keep(
    _ dpan: DPAN, as id: String, _ wish: Wish, of payment: AdyenPayment, in transaction: Transaction
  ) throws {
    let card = SandboxCards.card(dpan: dpan)
    try transaction.run(
      """
      INSERT INTO stored_methods (id, account, shopper, model, payment, card, is_merchant_token, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """,
      .text(id), .text(payment.account), .text(wish.shopper), .text(wish.model), .text(payment.pspReference),
      .text(optional: card?.id), .integer(card?.merchantToken == dpan ? 1 : 0), .time(transaction.now))
  }

  /// Adyen's name of the card that it stored with a payment; nil for none.
  static func name(keptWith payment: String, in transaction: Transaction) throws -> String? {
    try transaction.row("SELECT id FROM stored_methods WHERE payment = $1", .text(payment))?.text("id")
  }

  /// - Throws: Adyen's *contract not found* for a card of another shopper or account.
  static func find(_ use: Use, of account: String, in transaction: Transaction) throws -> AdyenStoredMethod {
    let row = try transaction.row(
      "SELECT * FROM stored_methods WHERE id = $1 AND account = $2 AND shopper = $3", .text(use.id), .text(account),
      .text(use.shopper))
    guard let row else { throw AdyenProblem(422, "800", "Contract not found") }
    return AdyenStoredMethod(
      shopper: use.shopper, model: try row.text("model"),
      card: try row.textOrNil("card").flatMap { SandboxCards.card(id: $0) },
      isMerchantToken: try row.integer("is_merchant_token") == 1)
  }

  /// Why a later payment is refused whatever its card says: Visa declines those of a device's own number, and a series keeps
  /// its model.
  func refusal(of use: Use) -> AdyenRefusal? {
    guard use.model == model else { return AdyenRefusal(code: "10") }
    return card?.network == .visa && !isMerchantToken ? AdyenRefusal(code: "23") : nil
  }
}
