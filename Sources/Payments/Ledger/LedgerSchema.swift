package import Storage

extension Journal {
  /// The ledger's tables. Never a payment token, its payload, a device account number or a cryptogram among them.
  ///
  /// Identifiers begin with the time, so that new rows land on the same pages of an index; the two fingerprints of a
  /// payment token are the only random unique keys. The guards of the money are here and not in code: a balance
  /// counts what is reserved, so that what is in flight cannot be promised twice.
  package static let migrations: [Migration] = [
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
      """),
    rebuilt,
    Migration(
      "ledger-3",
      """
      ALTER TABLE operations ADD COLUMN sent_until BIGINT;
      UPDATE operations SET sent_until = COALESCE(answered_at, sent_at + 60000000);
      """),
    Migration("ledger-4", "ALTER TABLE idempotency ADD COLUMN operation TEXT;\n"),
    numbered,
    Migration("ledger-6", "ALTER TABLE payments ADD COLUMN shown TEXT;\n"),
    Migration("ledger-7", "ALTER TABLE operations ADD COLUMN decline_reason TEXT;\n"),
    Migration(
      "ledger-8", "CREATE INDEX payments_held ON payments (connector) WHERE live = 1 AND authorized > captured;\n"),
    Migration("ledger-9", "ALTER TABLE operations ADD COLUMN awaited TEXT;\n"),
  ]

  /// An operation's place within its payment, which merchants know it by: written once, because the clock by which it
  /// was counted before may be set back.
  private static let numbered = Migration(
    "ledger-5",
    """
    ALTER TABLE operations ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
    UPDATE operations SET number = (SELECT count(*) FROM operations AS other
      WHERE other.payment = operations.payment AND other.reference <> operations.reference
        AND (other.kind = 'authorize' OR other.sent_at < operations.sent_at
          OR (other.sent_at = operations.sent_at AND other.reference < operations.reference)))
    WHERE kind <> 'authorize';
    """)

  /// Every table again, with what recovery, part voids, expiry, the merchant's events and the audit chain need. Rows
  /// are copied; references are never changed.
  private static let rebuilt = Migration(
    "ledger-2",
    """
    CREATE TABLE payments_2 (
      id TEXT PRIMARY KEY NOT NULL,
      order_id TEXT NOT NULL,
      merchant TEXT NOT NULL,
      basket TEXT NOT NULL,
      connector TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('authorizing', 'pending', 'authorized', 'partially_captured',
        'captured', 'partially_refunded', 'refunded', 'voided', 'declined', 'failed', 'unknown')),
      live BIGINT NOT NULL CHECK (live IN (0, 1)),
      amount BIGINT NOT NULL CHECK (amount > 0),
      currency TEXT NOT NULL,
      amount_confirmed BIGINT NOT NULL CHECK (amount_confirmed IN (0, 1)),
      capture_mode TEXT NOT NULL CHECK (capture_mode IN ('immediate', 'manual')),
      authorized BIGINT NOT NULL CHECK (authorized >= 0),
      captured BIGINT NOT NULL CHECK (captured >= 0),
      refunded BIGINT NOT NULL CHECK (refunded >= 0),
      reserved_capture BIGINT NOT NULL CHECK (reserved_capture >= 0),
      reserved_void BIGINT NOT NULL CHECK (reserved_void >= 0),
      reserved_refund BIGINT NOT NULL CHECK (reserved_refund >= 0),
      authorization_code TEXT,
      decline_reason TEXT,
      decline_code TEXT,
      card_suffix TEXT,
      card_expiry TEXT,
      card_has_eci BIGINT NOT NULL CHECK (card_has_eci IN (0, 1)),
      told TEXT CHECK (told IN ('success', 'pending', 'failure')),
      capture_due BIGINT,
      hold_until BIGINT,
      alarm TEXT,
      version BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      CONSTRAINT authorized_within_amount CHECK (authorized <= amount),
      CONSTRAINT captured_within_authorized CHECK (captured + reserved_capture + reserved_void <= authorized),
      CONSTRAINT refunded_within_captured CHECK (refunded + reserved_refund <= captured),
      CONSTRAINT nothing_taken_after_failure CHECK (told <> 'failure' OR captured + reserved_capture = 0)
    );
    INSERT INTO payments_2 (id, order_id, merchant, basket, connector, status, live, amount, currency,
        amount_confirmed, capture_mode, authorized, captured, refunded, reserved_capture, reserved_void,
        reserved_refund, authorization_code, decline_reason, decline_code, card_suffix, card_expiry, card_has_eci,
        told, version, created_at, updated_at)
      SELECT id, order_id, merchant, basket, 'sandbox', status, live, amount, currency, 1, capture_mode, authorized,
        captured, refunded, reserved_capture, 0, reserved_refund, authorization_code, decline_reason, decline_code,
        card_suffix, card_expiry, card_has_eci, told, version, created_at, updated_at
      FROM payments;
    CREATE TABLE operations_2 (
      reference TEXT PRIMARY KEY NOT NULL,
      payment TEXT NOT NULL REFERENCES payments_2 (id),
      kind TEXT NOT NULL CHECK (kind IN ('authorize', 'capture', 'void', 'refund', 'reverse')),
      target TEXT,
      amount BIGINT NOT NULL CHECK (amount > 0),
      lets_go BIGINT NOT NULL CHECK (lets_go >= 0),
      is_final BIGINT NOT NULL CHECK (is_final IN (0, 1)),
      cause TEXT NOT NULL CHECK (cause IN ('shopper', 'merchant', 'order', 'expiry', 'recovery')),
      state TEXT NOT NULL CHECK (state IN ('sending', 'approved', 'declined', 'pending', 'unknown', 'failed',
        'reversed', 'returned')),
      acquirer_reference TEXT,
      network_transaction_id TEXT,
      code TEXT,
      detail TEXT,
      tries BIGINT NOT NULL CHECK (tries >= 0),
      next_try BIGINT NOT NULL,
      lease_owner TEXT NOT NULL,
      lease_until BIGINT NOT NULL,
      fence BIGINT NOT NULL,
      sent_at BIGINT NOT NULL,
      answered_at BIGINT
    );
    INSERT INTO operations_2 (reference, payment, kind, amount, lets_go, is_final, cause, state, acquirer_reference,
        network_transaction_id, code, detail, tries, next_try, lease_owner, lease_until, fence, sent_at, answered_at)
      SELECT reference, payment, kind, amount, 0, 0, CASE kind WHEN 'authorize' THEN 'shopper' ELSE 'merchant' END,
        state, acquirer_reference, network_transaction_id, code, detail, 0, lease_until, lease_owner, lease_until,
        fence, sent_at, answered_at
      FROM operations;
    CREATE TABLE outbox_2 (
      payment TEXT NOT NULL REFERENCES payments_2 (id),
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
    INSERT INTO outbox_2 (payment, seq, type, operation, status, authorized, captured, refunded, happened_at, next_try,
        tries, delivered_at)
      SELECT payment, seq, type, operation, status, authorized, captured, refunded, happened_at, next_try, tries,
        delivered_at
      FROM outbox;
    DROP TABLE outbox;
    DROP TABLE operations;
    DROP TABLE payments;
    ALTER TABLE payments_2 RENAME TO payments;
    ALTER TABLE operations_2 RENAME TO operations;
    ALTER TABLE outbox_2 RENAME TO outbox;
    CREATE UNIQUE INDEX payments_one_live_per_order ON payments (order_id) WHERE live = 1;
    CREATE INDEX payments_of_order ON payments (order_id, id);
    CREATE INDEX payments_of_basket ON payments (basket, id);
    CREATE INDEX payments_of_merchant ON payments (merchant, id);
    CREATE INDEX payments_unsettled ON payments (status, created_at)
      WHERE status IN ('authorizing', 'pending', 'unknown');
    CREATE INDEX payments_capture_due ON payments (capture_due) WHERE capture_due IS NOT NULL;
    CREATE INDEX payments_hold_until ON payments (hold_until) WHERE hold_until IS NOT NULL;
    CREATE INDEX payments_alarmed ON payments (id) WHERE alarm IS NOT NULL;
    CREATE INDEX operations_of_payment ON operations (payment, reference);
    CREATE INDEX operations_open ON operations (next_try) WHERE state IN ('sending', 'pending', 'unknown');
    CREATE INDEX outbox_due ON outbox (next_try) WHERE delivered_at IS NULL;
    CREATE TABLE inbox (
      connector TEXT NOT NULL,
      event TEXT NOT NULL,
      reference TEXT NOT NULL,
      outcome TEXT NOT NULL,
      amount BIGINT NOT NULL,
      currency TEXT NOT NULL,
      verdict TEXT NOT NULL CHECK (verdict IN ('applied', 'known', 'contradicted', 'refused')),
      reason TEXT,
      received_at BIGINT NOT NULL,
      PRIMARY KEY (connector, event)
    );
    CREATE TABLE idempotency (
      merchant TEXT NOT NULL,
      call TEXT NOT NULL,
      key TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      subject TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('running', 'done')),
      status BIGINT,
      response BYTEA,
      lease_until BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (merchant, call, key)
    );
    CREATE INDEX idempotency_expiry ON idempotency (expires_at);
    CREATE TABLE audit (
      lane TEXT NOT NULL,
      seq BIGINT NOT NULL,
      payment TEXT NOT NULL,
      operation TEXT NOT NULL,
      event TEXT NOT NULL,
      status_before TEXT NOT NULL,
      status_after TEXT NOT NULL,
      authorized BIGINT NOT NULL,
      captured BIGINT NOT NULL,
      refunded BIGINT NOT NULL,
      at BIGINT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (lane, seq)
    );
    CREATE INDEX audit_of_payment ON audit (payment, at);
    CREATE TABLE audit_heads (
      lane TEXT PRIMARY KEY NOT NULL,
      seq BIGINT NOT NULL,
      hash TEXT NOT NULL
    );
    """)
}
