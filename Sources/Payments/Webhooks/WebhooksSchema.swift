package import Storage

extension WebhookDispatcher {
  /// Which event waits for which endpoint. To be opened in the same store as the ledger's tables, so that an event
  /// leaves the outbox and becomes its deliveries in one commit.
  ///
  /// A delivery belongs to an endpoint by its id, because the endpoint's URL may change.
  package static let migrations: [Migration] = [
    Migration(
      "webhooks-1",
      """
      CREATE TABLE webhook_deliveries (
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
        finished_at BIGINT,
        PRIMARY KEY (payment, endpoint, seq)
      );
      CREATE TABLE payment_webhooks (
        payment TEXT NOT NULL,
        url TEXT NOT NULL,
        PRIMARY KEY (payment, url)
      );
      CREATE INDEX webhook_deliveries_due ON webhook_deliveries (merchant, endpoint, next_try) WHERE state = 'waiting';
      CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (payment, seq) WHERE state = 'dead';
      """)
  ]
}
