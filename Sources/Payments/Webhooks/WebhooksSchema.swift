package import Storage

extension WebhookDispatcher {
  /// Which event waits for which endpoint. To be opened in the same store as the ledger's tables, so that an event leaves the
  /// outbox and becomes its deliveries in one commit.
  package static let migrations: [Migration] = [
    Migration(
      "webhooks-1",
      """
      CREATE TABLE webhook_deliveries (
        payment TEXT NOT NULL,
        seq BIGINT NOT NULL,
        url TEXT NOT NULL,
        merchant TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead')),
        tries BIGINT NOT NULL CHECK (tries >= 0),
        next_try BIGINT NOT NULL,
        lease_until BIGINT NOT NULL,
        fence BIGINT NOT NULL,
        result TEXT,
        created_at BIGINT NOT NULL,
        settled_at BIGINT,
        PRIMARY KEY (payment, url, seq)
      );
      CREATE INDEX webhook_deliveries_due ON webhook_deliveries (merchant, url, next_try) WHERE state = 'waiting';
      CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (payment, seq) WHERE state = 'dead';
      """),
    endpoints,
  ]

  /// A delivery belongs to an endpoint, whose URL may change. What was written before is named by its URL, until
  /// ``adopt(_:of:in:)`` gives it to the endpoint that has this URL.
  private static let endpoints = Migration(
    "webhooks-2",
    """
    CREATE TABLE webhook_deliveries_2 (
      payment TEXT NOT NULL,
      seq BIGINT NOT NULL,
      endpoint TEXT NOT NULL,
      url TEXT NOT NULL,
      merchant TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead')),
      tries BIGINT NOT NULL CHECK (tries >= 0),
      next_try BIGINT NOT NULL,
      lease_until BIGINT NOT NULL,
      fence BIGINT NOT NULL,
      result TEXT,
      created_at BIGINT NOT NULL,
      settled_at BIGINT,
      PRIMARY KEY (payment, endpoint, seq)
    );
    INSERT INTO webhook_deliveries_2 (payment, seq, endpoint, url, merchant, state, tries, next_try, lease_until, fence,
        result, created_at, settled_at)
      SELECT payment, seq, url, url, merchant, state, tries, next_try, lease_until, fence, result, created_at, settled_at
      FROM webhook_deliveries;
    DROP TABLE webhook_deliveries;
    ALTER TABLE webhook_deliveries_2 RENAME TO webhook_deliveries;
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (merchant, endpoint, next_try) WHERE state = 'waiting';
    CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (payment, seq) WHERE state = 'dead';
    """)
}
