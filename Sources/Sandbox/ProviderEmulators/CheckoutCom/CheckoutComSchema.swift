import Storage

extension CheckoutComStore {
  static let additions = [CheckoutComInstrument.table]

  /// Amounts are in the units that Checkout.com counts their currency in.
  static let tables = Migration(
    "checkout-com-1",
    """
    CREATE TABLE payments (
      id TEXT PRIMARY KEY NOT NULL,
      channel TEXT NOT NULL,
      reference TEXT,
      state TEXT NOT NULL CHECK (state IN ('pending', 'authorized', 'declined', 'voided', 'expired')),
      amount BIGINT NOT NULL CHECK (amount >= 0),
      currency TEXT NOT NULL,
      authorized BIGINT NOT NULL CHECK (authorized >= 0 AND authorized <= amount),
      available BIGINT NOT NULL CHECK (available >= 0 AND available + captured <= authorized),
      captured BIGINT NOT NULL CHECK (captured >= 0),
      refunded BIGINT NOT NULL CHECK (refunded >= 0 AND refunded <= captured),
      source TEXT NOT NULL,
      scheme TEXT NOT NULL,
      card_suffix TEXT NOT NULL,
      response_code TEXT NOT NULL,
      auth_code TEXT,
      scheme_id TEXT,
      created_at BIGINT NOT NULL
    );
    CREATE INDEX payments_reference ON payments (channel, reference);
    CREATE INDEX payments_created ON payments (channel, created_at);
    CREATE INDEX payments_pending ON payments (created_at) WHERE state = 'pending';
    CREATE TABLE actions (
      id TEXT PRIMARY KEY NOT NULL,
      payment TEXT NOT NULL REFERENCES payments (id),
      type TEXT NOT NULL CHECK (type IN ('Authorization', 'Capture', 'Void', 'Refund')),
      reference TEXT,
      amount BIGINT NOT NULL,
      is_final BIGINT NOT NULL,
      metadata TEXT,
      response_code TEXT,
      created_at BIGINT NOT NULL,
      processed_at BIGINT
    );
    CREATE INDEX actions_payment ON actions (payment);
    CREATE INDEX actions_accepted ON actions (created_at) WHERE processed_at IS NULL;
    """)
}
