package import Storage
package import TenderPayments

/// What is known of the processing keys and of Apple's signers from one start of the server to the next. Nothing in it
/// is secret: a key is named by the hash of its public half.
package struct ProcessingKeyStore: Sendable {
  private let database: Database

  package init(_ database: Database) { self.database = database }

  package static let migrations: [Migration] = [
    Migration(
      "processing-keys-1",
      """
      CREATE TABLE processing_keys (
        owner TEXT NOT NULL,
        public_key_hash TEXT NOT NULL,
        version TEXT NOT NULL CHECK (version IN ('EC_v1', 'RSA_v1')),
        state TEXT NOT NULL CHECK (state IN ('next', 'active', 'draining', 'retired')),
        state_since BIGINT,
        last_used BIGINT,
        PRIMARY KEY (owner, public_key_hash)
      );
      CREATE TABLE observed_signatures (
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        detail TEXT NOT NULL,
        first_seen BIGINT NOT NULL,
        PRIMARY KEY (kind, name)
      );
      """)
  ]

  /// One key.
  package struct Record: Sendable, Hashable {
    /// The merchant's id; empty for the platform.
    package let owner: String
    /// SHA-256 of the public key, 64 hexadecimal digits.
    package let publicKeyHash: String
    package let version: EncryptedPaymentToken.Version
    /// `next`, `active`, `draining` or `retired`.
    package let state: String
    package let since: Timestamp?
    package let lastUsed: Timestamp?

    package init(
      owner: String, publicKeyHash: String, version: EncryptedPaymentToken.Version, state: String, since: Timestamp?,
      lastUsed: Timestamp?
    ) {
      self.owner = owner
      self.publicKeyHash = publicKeyHash
      self.version = version
      self.state = state
      self.since = since
      self.lastUsed = lastUsed
    }
  }

  /// The keys that a server has had, by owner, whose rows this version can read.
  package func records() async throws -> [Record] { try await rows().compactMap(\.record) }

  /// Every key that a server has had, by owner; no record where this version cannot read the row.
  package func rows() async throws -> [(owner: String, publicKeyHash: String, record: Record?)] {
    try await database.read { store in
      try store.rows("SELECT * FROM processing_keys ORDER BY owner, public_key_hash").map {
        (try $0.text("owner"), try $0.text("public_key_hash"), try [$0].readable(Record.init).first)
      }
    }
  }

  /// Writes what is known of the key now over what was known. Of several nodes' states and last uses the latest is kept:
  /// a node that has not read of a retirement yet does not undo it.
  package func write(_ record: Record) async throws {
    try await database.write { store in
      let changed = try store.changes(
        """
        UPDATE processing_keys SET version = $3,
          state = CASE WHEN state_since IS NULL OR state_since <= $5 THEN $4 ELSE state END,
          state_since = CASE WHEN state_since IS NULL OR state_since <= $5 THEN $5 ELSE state_since END,
          last_used = CASE WHEN last_used IS NULL OR last_used < $6 THEN $6 ELSE last_used END
        WHERE owner = $1 AND public_key_hash = $2
        """,
        .text(record.owner), .text(record.publicKeyHash), .text(record.version.rawValue), .text(record.state),
        .moment(record.since), .moment(record.lastUsed))
      guard changed == 0 else { return }
      try store.run(
        """
        INSERT INTO processing_keys (owner, public_key_hash, version, state, state_since, last_used)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
        """,
        .text(record.owner), .text(record.publicKeyHash), .text(record.version.rawValue), .text(record.state),
        .moment(record.since), .moment(record.lastUsed))
    }
  }

  /// The names of the signers and encodings that payment tokens have been signed with, by kind.
  package func observedSignatures() async throws -> [String: Set<String>] {
    try await database.read { store in
      try store.rows("SELECT kind, name FROM observed_signatures").reduce(into: [:]) { seen, row in
        seen[try row.text("kind"), default: []].insert(try row.text("name"))
      }
    }
  }

  /// Records a signer or encoding, unless it is known.
  ///
  /// - Returns: whether no node had recorded it.
  package func write(observedSignature kind: String, _ name: String, _ detail: String) async throws -> Bool {
    try await database.write { store in
      try store.changes(
        """
        INSERT INTO observed_signatures (kind, name, detail, first_seen) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING
        """,
        .text(kind), .text(name), .text(detail), .integer(store.now.microseconds)) == 1
    }
  }
}

extension ProcessingKeyStore.Record {
  /// A state of a later version is not read as any of this one's.
  fileprivate init(_ row: Row) throws {
    let state = try row.text("state")
    guard ["next", "active", "draining", "retired"].contains(state) else { throw StorageError.column("state") }
    self.init(
      owner: try row.text("owner"), publicKeyHash: try row.text("public_key_hash"), version: try row.value("version"),
      state: state, since: try row.integerOrNil("state_since").map(Timestamp.init(microseconds:)),
      lastUsed: try row.integerOrNil("last_used").map(Timestamp.init(microseconds:)))
  }
}

extension SQLValue {
  fileprivate static func moment(_ time: Timestamp?) -> SQLValue { .integer(optional: time?.microseconds) }
}
