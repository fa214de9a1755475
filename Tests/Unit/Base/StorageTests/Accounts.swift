import Storage

/// A table with every column type and a constraint of each kind.
enum Accounts {
  static let schema = [
    Migration(
      "test-1",
      """
      CREATE TABLE accounts (
        id TEXT PRIMARY KEY NOT NULL,
        held BIGINT NOT NULL CHECK (held >= 0),
        note TEXT,
        raw BYTEA
      );
      """)
  ]
}
