package import Storage

extension MailOutbox {
  /// The messages, and what was said already. To be opened in the same store as what messages are about, so that a
  /// message is queued in the commit of its cause.
  ///
  /// A message to a shopper has the order that it is about. A row has its text, or is sealed: then it has the key's
  /// name, the nonce and the sealed text, until it is sent.
  package static let migrations: [Migration] = [
    Migration(
      "mail-1",
      """
      CREATE TABLE mail_messages (
        id TEXT PRIMARY KEY NOT NULL,
        kind TEXT NOT NULL,
        merchant TEXT,
        recipient TEXT NOT NULL,
        sender_name TEXT NOT NULL,
        reply_to TEXT,
        language TEXT NOT NULL,
        subject TEXT NOT NULL,
        text TEXT,
        html TEXT,
        key_id TEXT,
        nonce BYTEA,
        sealed BYTEA,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'dead')),
        tries BIGINT NOT NULL CHECK (tries >= 0),
        next_try BIGINT NOT NULL,
        lease_until BIGINT NOT NULL,
        fence BIGINT NOT NULL,
        result TEXT,
        created_at BIGINT NOT NULL,
        finished_at BIGINT
      );
      CREATE INDEX mail_messages_due ON mail_messages (next_try) WHERE state = 'waiting';
      CREATE INDEX mail_messages_finished ON mail_messages (finished_at) WHERE finished_at IS NOT NULL;
      CREATE TABLE mail_notices (
        notice TEXT PRIMARY KEY NOT NULL,
        created_at BIGINT NOT NULL
      );
      """),
    Migration(
      "privacy-mail-1",
      """
      ALTER TABLE mail_messages ADD COLUMN order_id TEXT;
      CREATE INDEX mail_messages_of_order ON mail_messages (order_id);
      """),
  ]
}
