public import Storage

extension Journal {
  /// The ledger's tables. Never a payment token, its payload, a device account number or a cryptogram among them.
  ///
  /// Identifiers begin with the time, so that new rows land on the same pages of an index; the two fingerprints of a
  /// payment token are the only random unique keys. The guards of the money are here and not in code: a balance
  /// counts what is reserved, so that what is in flight cannot be promised twice.
  public static let migrations: [Migration] = [
    Migration(
      "ledger-1",
      """
      CREATE TABLE payments (
        id TEXT PRIMARY KEY NOT NULL,
        order_id TEXT NOT NULL,
        merchant TEXT NOT NULL,
        basket TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('authorizing', 'pending', 'authorized', 'partially_captured',
          'captured', 'partially_refunded', 'refunded', 'voided', 'declined', 'failed', 'unknown')),
        live BIGINT NOT NULL CHECK (live IN (0, 1)),
        amount BIGINT NOT NULL CHECK (amount > 0),
        currency TEXT NOT NULL,
        capture_mode TEXT NOT NULL CHECK (capture_mode IN ('immediate', 'manual')),
        authorized BIGINT NOT NULL CHECK (authorized >= 0),
        captured BIGINT NOT NULL CHECK (captured >= 0),
        refunded BIGINT NOT NULL CHECK (refunded >= 0),
        reserved_capture BIGINT NOT NULL CHECK (reserved_capture >= 0),
        reserved_refund BIGINT NOT NULL CHECK (reserved_refund >= 0),
        authorization_code TEXT,
        decline_reason TEXT,
        decline_code TEXT,
        card_suffix TEXT,
        card_expiry TEXT,
        card_has_eci BIGINT NOT NULL CHECK (card_has_eci IN (0, 1)),
        told TEXT CHECK (told IN ('success', 'pending', 'failure')),
        version BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        CONSTRAINT authorized_within_amount CHECK (authorized <= amount),
        CONSTRAINT captured_within_authorized CHECK (captured + reserved_capture <= authorized),
        CONSTRAINT refunded_within_captured CHECK (refunded + reserved_refund <= captured)
      );
      CREATE UNIQUE INDEX payments_one_live_per_order ON payments (order_id) WHERE live = 1;
      CREATE INDEX payments_of_order ON payments (order_id, id);
      CREATE INDEX payments_of_basket ON payments (basket, id);
      CREATE INDEX payments_unsettled ON payments (status) WHERE status IN ('authorizing', 'pending', 'unknown');
      CREATE TABLE operations (
        reference TEXT PRIMARY KEY NOT NULL,
        payment TEXT NOT NULL REFERENCES payments (id),
        kind TEXT NOT NULL CHECK (kind IN ('authorize', 'capture', 'void', 'refund', 'reverse')),
        amount BIGINT NOT NULL CHECK (amount > 0),
        state TEXT NOT NULL CHECK (state IN ('sending', 'approved', 'declined', 'pending', 'unknown', 'failed')),
        acquirer_reference TEXT,
        network_transaction_id TEXT,
        code TEXT,
        detail TEXT,
        lease_owner TEXT NOT NULL,
        lease_until BIGINT NOT NULL,
        fence BIGINT NOT NULL,
        sent_at BIGINT NOT NULL,
        answered_at BIGINT
      );
      CREATE INDEX operations_of_payment ON operations (payment, reference);
      CREATE INDEX operations_open ON operations (lease_until) WHERE state IN ('sending', 'pending', 'unknown');
      CREATE TABLE token_uses (
        transaction_id TEXT PRIMARY KEY NOT NULL,
        payload_hash TEXT NOT NULL UNIQUE,
        payment TEXT NOT NULL,
        used_at BIGINT NOT NULL
      );
      CREATE TABLE outbox (
        payment TEXT NOT NULL REFERENCES payments (id),
        seq BIGINT NOT NULL,
        type TEXT NOT NULL,
        operation TEXT NOT NULL,
        status TEXT NOT NULL,
        authorized BIGINT NOT NULL,
        captured BIGINT NOT NULL,
        refunded BIGINT NOT NULL,
        happened_at BIGINT NOT NULL,
        next_try BIGINT NOT NULL,
        tries BIGINT NOT NULL,
        delivered_at BIGINT,
        PRIMARY KEY (payment, seq)
      );
      CREATE INDEX outbox_due ON outbox (next_try) WHERE delivered_at IS NULL;
      """)
  ]
}
