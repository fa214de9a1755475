import Storage

extension WorldlineDirectStore {
  static let additions = [WorldlineDirectSeries.table]

  /// Amounts are in minor units, states are Worldline's status codes.
  static let tables = Migration(
    "worldline-direct-1",
    """
    CREATE TABLE payments (
      id TEXT PRIMARY KEY NOT NULL,
      merchant TEXT NOT NULL,
      reference TEXT,
      parameters TEXT,
      amount BIGINT NOT NULL CHECK (amount > 0),
      currency TEXT NOT NULL,
      status BIGINT NOT NULL CHECK (status IN (2, 5, 9, 51)),
      captures_at_once BIGINT NOT NULL,
      network TEXT NOT NULL,
      card_suffix TEXT NOT NULL,
      expiry TEXT NOT NULL,
      eci TEXT,
      error_code TEXT,
      authorization_code TEXT,
      created_at BIGINT NOT NULL,
      changed_at BIGINT NOT NULL
    );
    CREATE INDEX payments_open ON payments (created_at) WHERE status = 51;
    CREATE TABLE operations (
      payment TEXT NOT NULL REFERENCES payments (id),
      number BIGINT NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('capture', 'cancel', 'refund')),
      amount BIGINT NOT NULL CHECK (amount > 0),
      is_final BIGINT NOT NULL,
      reference TEXT,
      status BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      changed_at BIGINT NOT NULL,
      PRIMARY KEY (payment, number)
    );
    CREATE INDEX operations_open ON operations (created_at) WHERE status IN (81, 82, 91, 92);
    """)
}
