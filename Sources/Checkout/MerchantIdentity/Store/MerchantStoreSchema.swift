package import Storage

extension MerchantStore {
  /// The merchants, what belongs to them, and a counter that tells other nodes of a change.
  package static let migrations: [Migration] = [
    Migration("merchants-1", merchants + certificates + secrets + terms + bookkeeping),
    // 1 where a rotation has set the end of a shared key, which then says nothing of its successor.
    Migration("merchants-2", "ALTER TABLE merchant_secrets ADD COLUMN replaced BIGINT;\n"),
  ]

  private static let merchants = """
    CREATE TABLE merchants (
      id TEXT PRIMARY KEY NOT NULL,
      settings TEXT NOT NULL,
      enabled BIGINT NOT NULL,
      version BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      changed_at BIGINT NOT NULL
    );
    CREATE TABLE merchant_domains (
      domain TEXT PRIMARY KEY NOT NULL,
      merchant TEXT NOT NULL REFERENCES merchants (id),
      enabled BIGINT NOT NULL,
      association BYTEA,
      registered_at BIGINT,
      checked_at BIGINT,
      finding TEXT
    );
    CREATE INDEX merchant_domains_of ON merchant_domains (merchant);

    """

  /// A row begins with the request; the certificate comes later. Its key is a row of `merchant_secrets`.
  private static let certificates = """
    CREATE TABLE merchant_certificates (
      id TEXT PRIMARY KEY NOT NULL,
      merchant TEXT NOT NULL REFERENCES merchants (id),
      kind TEXT NOT NULL CHECK (kind IN ('identity', 'processing')),
      algorithm TEXT NOT NULL CHECK (algorithm IN ('P-256', 'RSA-2048')),
      state TEXT NOT NULL CHECK (state IN ('requested', 'next', 'active', 'draining', 'retired')),
      state_since BIGINT NOT NULL,
      request TEXT,
      certificate TEXT,
      public_key_hash TEXT NOT NULL,
      expires_at BIGINT,
      created_at BIGINT NOT NULL
    );
    CREATE INDEX merchant_certificates_of ON merchant_certificates (merchant);

    """

  /// Each row is sealed under the key that it names; see ``MasterKeys``. `merchant` is no reference, because the platform
  /// and the back office's operators have secrets too, under an empty name.
  private static let secrets = """
    CREATE TABLE merchant_secrets (
      merchant TEXT NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('certificate-key', 'api-key', 'webhook-key', 'callback-key',
        'customer-input-key', 'one-time-code')),
      name TEXT NOT NULL,
      key_id TEXT NOT NULL,
      nonce BYTEA NOT NULL,
      sealed BYTEA NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT,
      scopes TEXT,
      last_used_at BIGINT,
      PRIMARY KEY (merchant, kind, name)
    );
    CREATE INDEX merchant_secrets_by_key ON merchant_secrets (key_id);

    """

  /// `merchant` is not a reference: merchants of the configuration accept terms too.
  private static let terms = """
    CREATE TABLE terms (
      version TEXT PRIMARY KEY NOT NULL,
      wording TEXT NOT NULL,
      published_at BIGINT NOT NULL,
      required_at BIGINT NOT NULL
    );
    CREATE TABLE terms_events (
      merchant TEXT NOT NULL,
      seq BIGINT NOT NULL,
      event TEXT NOT NULL CHECK (event IN ('accepted', 'unsubscribed')),
      version TEXT,
      actor TEXT NOT NULL,
      happened_at BIGINT NOT NULL,
      PRIMARY KEY (merchant, seq)
    );

    """

  private static let bookkeeping = """
    CREATE TABLE merchant_environments (
      merchant_identifier TEXT NOT NULL,
      environment TEXT NOT NULL,
      first_used_at BIGINT NOT NULL,
      PRIMARY KEY (merchant_identifier, environment)
    );
    CREATE TABLE merchant_revision (
      name TEXT PRIMARY KEY NOT NULL,
      revision BIGINT NOT NULL
    );

    """
}
