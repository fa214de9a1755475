import Storage

extension WorldlineAcquiringStore {
  /// Amounts are in ISO 4217's minor units. `merchant` is the acquirer's number and the merchant's, with a slash.
  static let tables = Migration(
    "worldline-acquiring-1",
    """
    CREATE TABLE payments (
      payment_id TEXT PRIMARY KEY NOT NULL,
      merchant TEXT NOT NULL,
      reference TEXT NOT NULL,
      status TEXT NOT NULL
        CHECK (status IN ('AUTHORIZED', 'NOT_AUTHORIZED', 'PENDING', 'CONFIRMED', 'REVERSED', 'CANCELLED')),
      amount BIGINT NOT NULL CHECK (amount > 0),
      currency TEXT NOT NULL,
      authorized BIGINT NOT NULL CHECK (authorized >= 0),
      captured BIGINT NOT NULL CHECK (captured >= 0 AND captured <= authorized),
      refunded BIGINT NOT NULL CHECK (refunded >= 0 AND refunded <= captured),
      is_pre_authorization BIGINT NOT NULL CHECK (is_pre_authorization IN (0, 1)),
      brand TEXT NOT NULL,
      card_suffix TEXT NOT NULL,
      authorization_code TEXT,
      scheme_transaction_id TEXT,
      created_at BIGINT NOT NULL,
      changed_at BIGINT NOT NULL
    );
    CREATE TABLE operations (
      sequence BIGINT PRIMARY KEY NOT NULL,
      merchant TEXT NOT NULL,
      operation_id TEXT NOT NULL,
      payment TEXT REFERENCES payments (payment_id),
      refund_id TEXT UNIQUE,
      kind TEXT NOT NULL CHECK (kind IN ('AUTHORIZATION', 'CAPTURE', 'REFUND', 'INCREMENT',
        'AUTHORIZATION_REVERSAL', 'TECHNICAL_REVERSAL', 'ACCOUNT_VERIFICATION')),
      amount BIGINT,
      currency TEXT,
      capture_number BIGINT,
      response_code TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      UNIQUE (merchant, operation_id)
    );
    CREATE INDEX operations_of_payment ON operations (payment, sequence);
    """)
}
