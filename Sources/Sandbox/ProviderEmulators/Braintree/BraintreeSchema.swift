import Storage
import TenderPayments

extension BraintreeLedger {
  static let tables = Migration(
    "braintree-1",
    """
    CREATE TABLE transactions (
      id TEXT PRIMARY KEY NOT NULL,
      merchant TEXT NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('sale', 'credit')),
      status TEXT NOT NULL,
      amount BIGINT NOT NULL CHECK (amount > 0),
      currency TEXT NOT NULL,
      settled_in_parts BIGINT NOT NULL CHECK (settled_in_parts >= 0 AND settled_in_parts <= amount),
      refunded_amount BIGINT NOT NULL CHECK (refunded_amount >= 0 AND refunded_amount <= amount),
      merchant_account TEXT NOT NULL,
      order_id TEXT,
      parent TEXT REFERENCES transactions (id),
      refunded TEXT REFERENCES transactions (id),
      card_type TEXT NOT NULL,
      card_suffix TEXT NOT NULL,
      expiration TEXT NOT NULL,
      fingerprint TEXT,
      code TEXT,
      authorization_code TEXT,
      network_transaction_id TEXT,
      rejection TEXT,
      created_at BIGINT NOT NULL
    );
    CREATE INDEX transactions_order ON transactions (merchant, order_id);
    CREATE INDEX transactions_submitted ON transactions (created_at) WHERE status = 'submitted_for_settlement';
    CREATE TABLE status_events (
      transaction_id TEXT NOT NULL REFERENCES transactions (id),
      position BIGINT NOT NULL,
      status TEXT NOT NULL,
      amount BIGINT NOT NULL,
      source TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (transaction_id, position)
    );
    """)
}

extension BraintreeTransaction {
  init(_ row: Row, _ events: [Row]) throws {
    guard let kind = Kind(rawValue: try row.text("kind")), let currency = Currency(code: try row.text("currency"))
    else { throw StorageError.column("kind") }
    (self.kind, self.currency) = (kind, currency)
    id = try row.text("id")
    (status, amount) = (try row.text("status"), try row.integer("amount"))
    settledInParts = try row.integer("settled_in_parts")
    refundedAmount = try row.integer("refunded_amount")
    merchantAccount = try row.text("merchant_account")
    order = try row.textOrNil("order_id")
    (parent, refunded) = (try row.textOrNil("parent"), try row.textOrNil("refunded"))
    cardType = try row.text("card_type")
    (cardSuffix, expiration) = (try row.text("card_suffix"), try row.text("expiration"))
    (code, rejection) = (try row.textOrNil("code"), try row.textOrNil("rejection"))
    authorizationCode = try row.textOrNil("authorization_code")
    networkTransactionID = try row.textOrNil("network_transaction_id")
    createdAt = try row.time("created_at")
    self.events = try events.map {
      Event(
        status: try $0.text("status"), amount: try $0.integer("amount"), time: try $0.time("at"),
        source: try $0.text("source"))
    }
  }

  /// Writes the transaction, with the events that are not written yet.
  func save(of merchant: String, fingerprint: String? = nil, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO transactions (id, merchant, kind, status, amount, currency, settled_in_parts, refunded_amount,
        merchant_account, order_id, parent, refunded, card_type, card_suffix, expiration, fingerprint, code,
        authorization_code, network_transaction_id, rejection, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
      ON CONFLICT (id) DO UPDATE SET status = $4, amount = $5, settled_in_parts = $7, refunded_amount = $8
      """,
      .text(id), .text(merchant), .text(kind.rawValue), .text(status), .integer(amount), .text(currency.code),
      .integer(settledInParts), .integer(refundedAmount), .text(merchantAccount), .text(optional: order),
      .text(optional: parent), .text(optional: refunded), .text(cardType), .text(cardSuffix), .text(expiration),
      .text(optional: fingerprint), .text(optional: code), .text(optional: authorizationCode),
      .text(optional: networkTransactionID), .text(optional: rejection), .time(createdAt))
    for (position, event) in events.enumerated() {
      try store.run(
        """
        INSERT INTO status_events (transaction_id, position, status, amount, source, at)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
        """, .text(id), .integer(Int64(position)), .text(event.status), .integer(event.amount), .text(event.source),
        .time(event.time))
    }
  }

  static func find(_ id: String, of merchant: String, in store: Transaction) throws -> BraintreeTransaction? {
    let row = try store.row(
      "SELECT * FROM transactions WHERE id = $1 AND merchant = $2", .text(id), .text(merchant))
    return try row.map { try BraintreeTransaction($0, try events(of: id, in: store)) }
  }

  static func all(of merchant: String, in store: Transaction) throws -> [BraintreeTransaction] {
    try store.rows(
      "SELECT * FROM transactions WHERE merchant = $1 ORDER BY created_at DESC, id", .text(merchant)
    ).map { try BraintreeTransaction($0, try events(of: try $0.text("id"), in: store)) }
  }

  private static func events(of id: String, in store: Transaction) throws -> [Row] {
    try store.rows("SELECT * FROM status_events WHERE transaction_id = $1 ORDER BY position", .text(id))
  }
}
