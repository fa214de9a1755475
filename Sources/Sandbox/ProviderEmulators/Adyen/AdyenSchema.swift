import Storage

extension AdyenStore {
  static let additions = [AdyenStoredMethod.table]

  /// Amounts are in the units that Adyen counts their currency in.
  static let tables = Migration(
    "adyen-1",
    """
    CREATE TABLE payments (
      psp_reference TEXT PRIMARY KEY NOT NULL,
      account TEXT NOT NULL,
      reference TEXT NOT NULL,
      state TEXT NOT NULL
        CHECK (state IN ('received', 'authorised', 'refused', 'error', 'cancelled', 'expired')),
      amount BIGINT NOT NULL CHECK (amount >= 0),
      currency TEXT NOT NULL,
      authorised BIGINT NOT NULL CHECK (authorised >= 0 AND authorised <= amount),
      captured BIGINT NOT NULL CHECK (captured >= 0 AND captured <= authorised),
      refunded BIGINT NOT NULL CHECK (refunded >= 0 AND refunded <= captured),
      method TEXT NOT NULL,
      brand TEXT NOT NULL,
      card_suffix TEXT NOT NULL,
      refusal_code TEXT,
      authorization_code TEXT,
      network_reference TEXT,
      late_failure TEXT CHECK (late_failure IN ('capture', 'refund')),
      created_at BIGINT NOT NULL
    );
    CREATE INDEX payments_reference ON payments (account, reference);
    CREATE INDEX payments_received ON payments (created_at) WHERE state = 'received';
    CREATE TABLE modifications (
      psp_reference TEXT PRIMARY KEY NOT NULL,
      account TEXT NOT NULL,
      payment TEXT REFERENCES payments (psp_reference),
      kind TEXT NOT NULL CHECK (kind IN ('capture', 'cancel', 'technical_cancel', 'refund', 'reversal')),
      reference TEXT,
      amount BIGINT,
      state TEXT NOT NULL CHECK (state IN ('received', 'done', 'failed', 'returned')),
      created_at BIGINT NOT NULL
    );
    CREATE INDEX modifications_received ON modifications (created_at) WHERE state = 'received';
    CREATE TABLE bookings (
      sequence BIGINT PRIMARY KEY NOT NULL,
      payment TEXT NOT NULL REFERENCES payments (psp_reference),
      modification TEXT,
      record_type TEXT NOT NULL,
      amount BIGINT NOT NULL,
      modification_reference TEXT,
      booked_at BIGINT NOT NULL
    );
    """)
}
