package import Storage

extension Journal {
  /// The ledger's tables. They never hold a payment token, its payload, a device account number or a cryptogram.
  ///
  /// Identifiers begin with the time, so that new rows land on the same pages of an index; the two fingerprints of a
  /// payment token are the only random unique keys. The schema guards the balances: reserved amounts count, so that
  /// what is in flight cannot be promised twice.
  package static let migrations: [Migration] = [
    Migration("ledger-1", payments + operations + tokenUses + outbox + inbox + idempotency + audit),
    FigureCounting.migration, RestoredStore.migration, agreements, retention, agreementEvents, agreementSchedules,
    merchantTokens, RestoredStore.orders, PaymentRecord.traces,
  ]

  private static let payments = """
    CREATE TABLE payments (
      id TEXT PRIMARY KEY NOT NULL,
      order_id TEXT NOT NULL,
      merchant TEXT NOT NULL,
      basket TEXT NOT NULL,
      route TEXT NOT NULL,
      merchant_account TEXT,
      authorization_type TEXT CHECK (authorization_type IN ('final', 'preliminary')),
      statement_descriptor TEXT,
      merchant_category TEXT,
      status TEXT NOT NULL CHECK (status IN ('authorizing', 'pending', 'authorized', 'partially_captured',
        'captured', 'partially_refunded', 'refunded', 'verified', 'voided', 'declined', 'failed', 'unknown')),
      live BIGINT NOT NULL CHECK (live IN (0, 1)),
      amount BIGINT NOT NULL CHECK (amount >= 0),
      currency TEXT NOT NULL,
      amount_confirmed BIGINT NOT NULL CHECK (amount_confirmed IN (0, 1)),
      capture_mode TEXT NOT NULL CHECK (capture_mode IN ('immediate', 'manual')),
      authorized BIGINT NOT NULL CHECK (authorized >= 0),
      incremented BIGINT NOT NULL DEFAULT 0 CHECK (incremented >= 0),
      captured BIGINT NOT NULL CHECK (captured >= 0),
      refunded BIGINT NOT NULL CHECK (refunded >= 0),
      charged_back BIGINT NOT NULL DEFAULT 0 CHECK (charged_back >= 0),
      reserved_capture BIGINT NOT NULL CHECK (reserved_capture >= 0),
      reserved_void BIGINT NOT NULL CHECK (reserved_void >= 0),
      reserved_refund BIGINT NOT NULL CHECK (reserved_refund >= 0),
      authorization_code TEXT,
      decline_reason TEXT,
      decline_code TEXT,
      card_name TEXT,
      card_network TEXT,
      card_type TEXT,
      card_suffix TEXT,
      card_expiry TEXT,
      card_has_eci BIGINT NOT NULL CHECK (card_has_eci IN (0, 1)),
      transaction_identifier TEXT,
      reported_outcome TEXT CHECK (reported_outcome IN ('success', 'pending', 'failure')),
      reported_status TEXT,
      capture_delay BIGINT,
      capture_due BIGINT,
      hold_until BIGINT,
      alarm TEXT,
      version BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      CONSTRAINT authorized_within_amount CHECK (authorized <= amount + incremented),
      CONSTRAINT captured_within_authorized CHECK (captured + reserved_capture + reserved_void <= authorized),
      CONSTRAINT refunded_within_captured CHECK (refunded + charged_back + reserved_refund <= captured),
      CONSTRAINT nothing_taken_after_failure CHECK (reported_outcome <> 'failure' OR captured + reserved_capture = 0)
    );
    CREATE UNIQUE INDEX payments_one_live_per_order ON payments (order_id) WHERE live = 1;
    CREATE INDEX payments_of_order ON payments (order_id, id);
    CREATE INDEX payments_of_basket ON payments (basket, live, id);
    CREATE INDEX payments_of_merchant ON payments (merchant, id);
    CREATE INDEX payments_open ON payments (status, created_at) WHERE status IN ('authorizing', 'pending', 'unknown');
    CREATE INDEX payments_held ON payments (route) WHERE live = 1 AND authorized > captured;
    CREATE INDEX payments_capture_due ON payments (capture_due) WHERE capture_due IS NOT NULL;
    CREATE INDEX payments_hold_until ON payments (hold_until) WHERE hold_until IS NOT NULL;
    CREATE INDEX payments_alarmed ON payments (id) WHERE alarm IS NOT NULL;

    """

  /// `number` is an operation's place within its payment, which merchants know it by. It is written and not counted by
  /// time, because the clock may be set back. `part_of` is the first operation of a request that began several.
  /// `decided` says that an operator ended the operation. `merchant_reference` is the merchant's own name of it.
  private static let operations = """
    CREATE TABLE operations (
      reference TEXT PRIMARY KEY NOT NULL,
      payment TEXT NOT NULL REFERENCES payments (id),
      number BIGINT NOT NULL CHECK (number >= 0),
      route TEXT NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('authorize', 'capture', 'void', 'refund', 'reverse', 'increment', 'chargeback',
        'chargeback_reversal')),
      target TEXT,
      part_of TEXT,
      merchant_reference TEXT,
      amount BIGINT NOT NULL CHECK (amount > 0 OR amount = 0 AND kind = 'authorize'),
      released_amount BIGINT NOT NULL CHECK (released_amount >= 0),
      is_final BIGINT NOT NULL CHECK (is_final IN (0, 1)),
      is_whole BIGINT NOT NULL CHECK (is_whole IN (0, 1)),
      prepared_reference TEXT,
      cause TEXT NOT NULL CHECK (cause IN ('shopper', 'merchant', 'order', 'expiry', 'recovery', 'provider')),
      state TEXT NOT NULL CHECK (state IN ('sending', 'approved', 'declined', 'pending', 'unknown', 'failed',
        'reversed', 'returned')),
      acquirer_reference TEXT,
      network_transaction_id TEXT,
      code TEXT,
      decline_reason TEXT,
      detail TEXT,
      decided BIGINT NOT NULL DEFAULT 0 CHECK (decided IN (0, 1)),
      awaited_event TEXT,
      tries BIGINT NOT NULL CHECK (tries >= 0),
      next_try BIGINT NOT NULL,
      lease_owner TEXT NOT NULL,
      lease_until BIGINT NOT NULL,
      fence BIGINT NOT NULL,
      sent_at BIGINT NOT NULL,
      sent_until BIGINT,
      answered_at BIGINT
    );
    CREATE INDEX operations_of_payment ON operations (payment, reference);
    CREATE INDEX operations_of_acquirer ON operations (acquirer_reference) WHERE acquirer_reference IS NOT NULL;
    CREATE INDEX operations_of_request ON operations (part_of) WHERE part_of IS NOT NULL;
    CREATE INDEX operations_of_target ON operations (target) WHERE target IS NOT NULL;
    CREATE INDEX operations_open ON operations (next_try) WHERE state IN ('sending', 'pending', 'unknown');

    """

  private static let tokenUses = """
    CREATE TABLE token_uses (
      transaction_id TEXT PRIMARY KEY NOT NULL,
      payload_hash TEXT NOT NULL UNIQUE,
      payment TEXT NOT NULL,
      used_at BIGINT NOT NULL
    );

    """

  /// An event gets its `position` when webhooks take it, not when it happens: transactions commit in another order than
  /// they begin. `outbox_head` has the last position. `waits_for_mail` is 1 until mail takes it, and NULL from the start
  /// where mail is not set up.
  private static let outbox = """
    CREATE TABLE outbox (
      payment TEXT NOT NULL REFERENCES payments (id),
      seq BIGINT NOT NULL,
      merchant TEXT NOT NULL,
      operation TEXT NOT NULL,
      status TEXT NOT NULL,
      authorized BIGINT NOT NULL,
      captured BIGINT NOT NULL,
      refunded BIGINT NOT NULL,
      charged_back BIGINT NOT NULL DEFAULT 0,
      happened_at BIGINT NOT NULL,
      waits_for_mail BIGINT,
      delivered_at BIGINT,
      position BIGINT,
      PRIMARY KEY (payment, seq)
    );
    CREATE UNIQUE INDEX outbox_position ON outbox (position) WHERE position IS NOT NULL;
    CREATE INDEX outbox_of_merchant ON outbox (merchant, position) WHERE position IS NOT NULL;
    CREATE INDEX outbox_due ON outbox (happened_at) WHERE delivered_at IS NULL OR waits_for_mail = 1;
    CREATE TABLE outbox_head (
      id BIGINT PRIMARY KEY NOT NULL CHECK (id = 1),
      position BIGINT NOT NULL,
      handed_over_at BIGINT NOT NULL
    );

    """

  private static let inbox = """
    CREATE TABLE inbox (
      route TEXT NOT NULL,
      event TEXT NOT NULL,
      reference TEXT NOT NULL,
      outcome TEXT NOT NULL,
      amount BIGINT NOT NULL,
      currency TEXT NOT NULL,
      verdict TEXT NOT NULL CHECK (verdict IN ('applied', 'known', 'contradicted', 'refused')),
      reason TEXT,
      received_at BIGINT NOT NULL,
      PRIMARY KEY (route, event)
    );

    """

  /// Until `lease_until` the first call may still be working. Afterwards its answer is read from its operation.
  private static let idempotency = """
    CREATE TABLE idempotency (
      merchant TEXT NOT NULL,
      call TEXT NOT NULL,
      key TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      subject TEXT NOT NULL,
      operation TEXT NOT NULL,
      lease_until BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (merchant, call, key)
    );
    CREATE INDEX idempotency_expiry ON idempotency (expires_at);

    """

  private static let audit = """
    CREATE TABLE audit (
      chain TEXT NOT NULL,
      seq BIGINT NOT NULL,
      payment TEXT NOT NULL,
      operation TEXT NOT NULL,
      event TEXT NOT NULL,
      status_before TEXT NOT NULL,
      status_after TEXT NOT NULL,
      authorized BIGINT NOT NULL,
      captured BIGINT NOT NULL,
      refunded BIGINT NOT NULL,
      charged_back BIGINT NOT NULL DEFAULT 0,
      version BIGINT NOT NULL,
      recorded_at BIGINT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (chain, seq)
    );
    CREATE INDEX audit_of_payment ON audit (payment, version);
    CREATE TABLE audit_heads (
      chain TEXT PRIMARY KEY NOT NULL,
      seq BIGINT NOT NULL,
      hash TEXT NOT NULL
    );

    """
}
