import Storage

extension RestoredStore {
  /// `backups` has a row for each copy that is a backup: the newest row of a restored store names its backup. `restores`
  /// counts the restores of a store, `restored_routes` says which routes are closed since. `restored_payments` has the
  /// payments that a listing gave back; `basket_mark` is the end of their identifier.
  static let migration = Migration(
    "restore-1",
    """
    CREATE TABLE backups (
      id TEXT PRIMARY KEY NOT NULL,
      begun_at BIGINT NOT NULL
    );
    CREATE TABLE restores (
      number BIGINT PRIMARY KEY NOT NULL CHECK (number > 0),
      backup TEXT NOT NULL,
      lost_from BIGINT NOT NULL,
      restored_at BIGINT NOT NULL,
      ended_at BIGINT
    );
    CREATE TABLE restored_routes (
      restore BIGINT NOT NULL,
      route TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('closed', 'reconciled', 'gap_accepted')),
      adopted BIGINT NOT NULL CHECK (adopted >= 0),
      note TEXT,
      decided_at BIGINT,
      PRIMARY KEY (restore, route)
    );
    CREATE TABLE restored_payments (
      payment TEXT PRIMARY KEY NOT NULL,
      basket_mark TEXT NOT NULL,
      route TEXT NOT NULL,
      amount BIGINT NOT NULL,
      currency TEXT NOT NULL,
      restored_at BIGINT NOT NULL
    );
    CREATE INDEX restored_payments_of_basket ON restored_payments (basket_mark);
    ALTER TABLE operations ADD COLUMN restored BIGINT;
    """)

  /// `restored_by_orders` has what a merchant's orders gave back, and with a negative amount each named operation that it
  /// was. By the index a report's name finds what was adopted under it.
  static let orders = Migration(
    "restore-2",
    """
    CREATE TABLE restored_by_orders (
      payment TEXT NOT NULL,
      kind TEXT NOT NULL,
      restore BIGINT NOT NULL,
      reference TEXT NOT NULL,
      name TEXT,
      amount BIGINT NOT NULL CHECK (amount <> 0),
      noted_at BIGINT NOT NULL,
      PRIMARY KEY (payment, kind, reference)
    );
    CREATE INDEX operations_of_report ON operations (detail) WHERE restored IS NOT NULL;
    """)
}
