import Storage

extension StripeStore {
  /// Amounts are in the units that Stripe counts their currency in.
  static let tables = Migration(
    "stripe-1",
    """
    CREATE TABLE intents (
      sequence BIGINT PRIMARY KEY NOT NULL,
      id TEXT UNIQUE NOT NULL,
      account TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('requires_capture', 'succeeded', 'processing', 'requires_action',
        'requires_payment_method', 'canceled')),
      amount BIGINT NOT NULL CHECK (amount > 0),
      currency TEXT NOT NULL,
      capturable BIGINT NOT NULL CHECK (capturable >= 0),
      received BIGINT NOT NULL CHECK (received >= 0 AND received + capturable <= amount),
      refunded BIGINT NOT NULL CHECK (refunded >= 0 AND refunded <= received),
      metadata TEXT NOT NULL,
      captures_by_itself BIGINT NOT NULL,
      multicapture BIGINT NOT NULL,
      brand TEXT NOT NULL,
      card_suffix TEXT NOT NULL,
      charge TEXT,
      authorization_code TEXT,
      network_transaction TEXT,
      error_code TEXT,
      decline_code TEXT,
      cancellation_reason TEXT,
      refunds TEXT NOT NULL CHECK (refunds IN ('now', 'later', 'returned')),
      created_at BIGINT NOT NULL,
      canceled_at BIGINT
    );
    CREATE INDEX intents_processing ON intents (created_at) WHERE status = 'processing';
    CREATE TABLE refunds (
      sequence BIGINT PRIMARY KEY NOT NULL,
      id TEXT UNIQUE NOT NULL,
      account TEXT NOT NULL,
      intent TEXT NOT NULL REFERENCES intents (id),
      amount BIGINT NOT NULL CHECK (amount > 0),
      status TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'canceled')),
      metadata TEXT NOT NULL,
      reason TEXT,
      ending TEXT NOT NULL CHECK (ending IN ('succeeded', 'failed', 'none')),
      is_release BIGINT NOT NULL,
      created_at BIGINT NOT NULL
    );
    CREATE INDEX refunds_open ON refunds (created_at) WHERE ending <> 'none';
    CREATE TABLE rolling_secrets (account TEXT PRIMARY KEY NOT NULL);
    """)
}
