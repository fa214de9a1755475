import Storage

extension Journal {
  /// What Apple reports about merchant tokens, and what Apple is to be told.
  ///
  /// A row of `merchant_token_events` is written before the notification is answered. It stays `received` until Apple has
  /// told what happened and the agreements have followed; the other states are final. `merchant_tokens` has the card as
  /// Apple described it last, and whether Apple is to be told that the merchant charges the token no more.
  static let merchantTokens = Migration(
    "merchant-tokens-1",
    """
    CREATE TABLE merchant_token_events (
      merchant TEXT NOT NULL,
      event TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('received', 'applied', 'unknown', 'expired', 'refused')),
      type TEXT,
      detail TEXT,
      tries BIGINT NOT NULL CHECK (tries >= 0),
      next_try BIGINT NOT NULL,
      arrived_at BIGINT NOT NULL,
      settled_at BIGINT,
      PRIMARY KEY (merchant, event)
    );
    CREATE INDEX merchant_token_events_due ON merchant_token_events (next_try) WHERE state = 'received';
    CREATE INDEX merchant_token_events_waiting ON merchant_token_events (merchant) WHERE state = 'received';
    CREATE INDEX merchant_token_events_settled ON merchant_token_events (settled_at) WHERE settled_at IS NOT NULL;
    CREATE TABLE merchant_tokens (
      merchant TEXT NOT NULL,
      token TEXT NOT NULL,
      card_suffix TEXT,
      card_expiry TEXT,
      card_name TEXT,
      card_country TEXT,
      described_at BIGINT,
      unlinking TEXT CHECK (unlinking IN ('due', 'done', 'refused')),
      detail TEXT,
      tries BIGINT NOT NULL CHECK (tries >= 0),
      next_try BIGINT,
      changed_at BIGINT NOT NULL,
      PRIMARY KEY (merchant, token)
    );
    CREATE INDEX merchant_tokens_due ON merchant_tokens (next_try) WHERE unlinking = 'due';
    CREATE INDEX agreements_of_token ON agreements (merchant, merchant_token) WHERE merchant_token IS NOT NULL;

    """)
}
