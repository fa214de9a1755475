import Storage
package import TenderPayments

extension AcquirerStore {
  static let tables = Migration("acquirer-1", operations)
  static let additions = [StoredCredential.table]

  /// `is_final` is whether a capture is the last one, for one that is decided later; `approved_amount` is what was
  /// approved where it is less than the amount.
  private static let operations = """
    CREATE TABLE holds (
      acquirer_reference TEXT PRIMARY KEY NOT NULL,
      merchant TEXT NOT NULL,
      reference TEXT NOT NULL,
      merchant_reference TEXT NOT NULL,
      card_suffix TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('held', 'pending', 'declined', 'voided', 'reversed')),
      amount BIGINT NOT NULL CHECK (amount >= 0),
      currency TEXT NOT NULL,
      authorized BIGINT NOT NULL CHECK (authorized >= 0 AND authorized <= amount),
      captured BIGINT NOT NULL CHECK (captured >= 0 AND captured <= authorized),
      refunded BIGINT NOT NULL CHECK (refunded >= 0 AND refunded <= captured),
      created_at BIGINT NOT NULL,
      UNIQUE (merchant, reference)
    );
    CREATE TABLE operations (
      merchant TEXT NOT NULL,
      reference TEXT NOT NULL,
      hold TEXT NOT NULL REFERENCES holds (acquirer_reference),
      kind TEXT NOT NULL CHECK (kind IN ('authorize', 'capture', 'void', 'refund')),
      acquirer_reference TEXT NOT NULL,
      amount BIGINT NOT NULL,
      approved_amount BIGINT CHECK (approved_amount > 0),
      currency TEXT NOT NULL,
      is_final BIGINT NOT NULL CHECK (is_final IN (0, 1)),
      response_code TEXT NOT NULL,
      authorization_code TEXT,
      network_transaction_id TEXT,
      request TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (merchant, reference)
    );
    CREATE INDEX operations_pending ON operations (created_at) WHERE response_code = '09';
    CREATE TABLE reversals (
      merchant TEXT NOT NULL,
      reference TEXT NOT NULL,
      PRIMARY KEY (merchant, reference)
    );

    """

  static func insert(
    _ reply: AcquirerReply, _ kind: String, isFinal: Bool = false, on hold: String, of merchant: String,
    _ request: String, in transaction: Transaction
  ) throws {
    try transaction.run(
      """
      INSERT INTO operations (merchant, reference, hold, kind, acquirer_reference, amount, currency, response_code,
        authorization_code, network_transaction_id, request, created_at, is_final,
        approved_amount)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      """,
      .text(merchant), .text(reply.reference), .text(hold), .text(kind), .text(reply.acquirerReference),
      .integer(reply.amount.minorUnits), .text(reply.amount.currency.code), .text(reply.responseCode),
      .text(optional: reply.authorizationCode), .text(optional: reply.networkTransactionID), .text(request),
      .time(transaction.now), .integer(isFinal ? 1 : 0),
      reply.approvedAmount.map { .integer($0.minorUnits) } ?? .null)
  }

  static func reply(
    _ reference: String, _ merchant: String, _ transaction: Transaction
  ) throws -> (reply: AcquirerReply, request: String, at: Timestamp)? {
    let row = try transaction.row(
      "SELECT * FROM operations WHERE merchant = $1 AND reference = $2", .text(merchant), .text(reference))
    guard let row else { return nil }
    let amount = try row.amount()
    let approved = try row.integerOrNil("approved_amount")
    let reply = AcquirerReply(
      reference: reference, acquirerReference: try row.text("acquirer_reference"), amount: amount,
      responseCode: try row.text("response_code"), authorizationCode: try row.textOrNil("authorization_code"),
      networkTransactionID: try row.textOrNil("network_transaction_id"),
      approvedAmount: approved.map { Amount(minorUnits: $0, currency: amount.currency) },
      storedCredential: try row.text("kind") == "authorize"
        ? StoredCredential.name(keptOf: row.text("hold"), in: transaction) : nil)
    return (reply, try row.text("request"), try row.time("created_at"))
  }
}

extension Row {
  package func amount() throws -> Amount {
    guard let currency = Currency(code: try text("currency")) else { throw StorageError.column("currency") }
    return Amount(minorUnits: try integer("amount"), currency: currency)
  }
}
