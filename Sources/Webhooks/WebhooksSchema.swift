public import Storage

extension WebhookCourier {
  /// What waits to be told to whom. To be opened in the same store as the ledger's tables, so that an event leaves the
  /// outbox and becomes its deliveries in one commit.
  public static let migrations: [Migration] = [
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
      """)
  ]
}
