import Ledger
package import MerchantIdentity
package import Storage
package import TenderPayments
import TenderSheet

/// The tables `mail_messages` and `mail_notices`.
package enum MailOutbox {
  /// Queues a message in the caller's commit.
  ///
  /// - Parameters:
  ///   - notice: what the message says, if it is to be said once: a second message of the same notice is not queued,
  ///     whichever node says it and whenever.
  ///   - keys: seal what is confidential.
  /// - Returns: how many messages were queued.
  /// - Throws: ``MerchantStoreError`` with `store_key_missing` for a confidential message without keys.
  @discardableResult
  package static func add(
    _ mail: QueuedMail, once notice: String? = nil, keys: MasterKeys? = nil, random: RandomBytes,
    in store: Transaction
  ) throws -> Int {
    if let notice, try !isNew(notice, in: store) { return 0 }
    for recipient in mail.recipients { try insert(mail, recipient, keys, random, store) }
    return mail.recipients.count
  }

  /// Notes that something is said. False where it was said before.
  private static func isNew(_ notice: String, in store: Transaction) throws -> Bool {
    try store.changes(
      "INSERT INTO mail_notices (notice, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(notice),
      .time(store.now)) == 1
  }

  private static func insert(
    _ mail: QueuedMail, _ recipient: MailAddress, _ keys: MasterKeys?, _ random: RandomBytes, _ store: Transaction
  ) throws {
    let now = store.now
    let id = random.timeOrderedID(WallClock { now })
    let (text, html) = (mail.content.text(mail.brand), mail.content.html(mail.brand))
    let sealed = mail.kind.isConfidential ? try seal(text, html, id, keys) : nil
    try store.run(
      """
      INSERT INTO mail_messages (id, kind, merchant, recipient, sender_name, reply_to, language, subject, text, html,
        key_id, nonce, sealed, state, tries, next_try, lease_until, fence, created_at, order_id)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'waiting', 0, $14, 0, 0, $14, $15)
      """,
      .text(id), .text(mail.kind.rawValue), .text(optional: mail.merchant?.rawValue), .text(recipient.text),
      .text(mail.brand.name), .text(optional: mail.replyTo?.text), .text(mail.brand.language.rawValue),
      .text(mail.content.subject), .text(optional: sealed == nil ? text : nil),
      .text(optional: sealed == nil ? html : nil), .text(optional: sealed?.keyID), .blob(optional: sealed?.nonce),
      .blob(optional: sealed?.sealed), .time(now), .text(optional: mail.order?.rawValue))
  }

  /// Claims what is due, in the order of the times. Kinds of a later version are left to its nodes.
  static func claim(limit: Int, until: Timestamp, in store: Transaction) throws -> [(mail: StoredMail, SealedText?)] {
    let due = try store.unclaimedRows(
      """
      SELECT * FROM mail_messages
      WHERE state = 'waiting' AND next_try <= $1 AND lease_until <= $1 AND kind IN (\(kinds))
      ORDER BY next_try, id LIMIT $2
      """, .time(store.now), .integer(Int64(limit)))
    return try due.map { row in
      let mail = try StoredMail(row, fence: row.integer("fence") + 1)
      try store.run(
        "UPDATE mail_messages SET lease_until = $2, fence = $3 WHERE id = $1", .text(mail.id), .time(until),
        .integer(mail.fence))
      return (mail, try SealedText(row))
    }
  }

  private static let kinds = MailKind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")

  /// Writes the result of a try; false when another process has acquired the lease in between.
  static func finish(
    _ mail: StoredMail, _ state: StoredMail.State, result: String, next: Timestamp, in store: Transaction
  ) throws -> Bool {
    try store.changes(
      """
      UPDATE mail_messages SET state = $3, result = $4, next_try = $5, lease_until = 0,
        tries = tries + CASE WHEN $3 = 'sent' THEN 0 ELSE 1 END, finished_at = $6,
        sealed = CASE WHEN $3 = 'sent' THEN NULL ELSE sealed END
      WHERE id = $1 AND fence = $2 AND state = 'waiting'
      """,
      .text(mail.id), .integer(mail.fence), .text(state.rawValue), .text(result), .time(next),
      .integer(optional: state == .waiting ? nil : store.now.microseconds)) == 1
  }

  /// The newest first.
  ///
  /// - Parameter state: nil for every state.
  package static func list(_ state: StoredMail.State?, limit: Int, in store: Transaction) throws -> [StoredMail] {
    try store.rows(
      "SELECT * FROM mail_messages WHERE state = $1 OR $1 IS NULL ORDER BY id DESC LIMIT $2",
      .text(optional: state?.rawValue), .integer(Int64(limit))
    ).map { try StoredMail($0, fence: $0.integer("fence")) }
  }

  package static func find(_ id: String, in store: Transaction) throws -> StoredMail? {
    try store.row("SELECT * FROM mail_messages WHERE id = $1", .text(id))
      .map { try StoredMail($0, fence: $0.integer("fence")) }
  }

  /// Has messages tried now: a waiting one sooner, a dead one again.
  ///
  /// - Parameter id: nil for every dead message.
  /// - Returns: how many.
  package static func retry(_ id: String?, in store: Transaction) throws -> Int {
    try store.changes(
      """
      UPDATE mail_messages SET state = 'waiting', tries = 0, next_try = $2, lease_until = 0, finished_at = NULL
      WHERE (id = $1 AND state <> 'sent') OR ($1 IS NULL AND state = 'dead')
      """, .text(optional: id), .time(store.now))
  }

  /// Removes messages that were finished before a moment: they name shoppers. What was said stays said. One step.
  ///
  /// - Parameter limit: how many messages one step removes.
  /// - Returns: whether all are removed.
  package static func forget(before end: Timestamp, atMost limit: Int, in store: Transaction) throws -> Bool {
    try RetentionProgress.advance(.mails, in: store) { progress in
      let removed = try store.changes(
        """
        DELETE FROM mail_messages WHERE id IN
          (SELECT id FROM mail_messages WHERE finished_at < $1 ORDER BY finished_at LIMIT $2)
        """, .time(end), .integer(Int64(limit)))
      progress.removed += Int64(removed)
      guard removed < limit else { return false }
      progress.until = max(progress.until, end)
      return true
    }
  }

  /// The messages to an order's shopper, the newest first.
  ///
  /// - Parameter address: the shopper's, by which messages of a version before are found, which have no order; nil
  ///   where it is not known.
  package static func list(of order: OrderID, to address: String?, in store: Transaction) throws -> [StoredMail] {
    try store.rows(
      "SELECT * FROM mail_messages WHERE \(condition) ORDER BY id DESC", .text(order.rawValue),
      .text(optional: address?.lowercased())
    ).map { try StoredMail($0, fence: $0.integer("fence")) }
  }

  /// Removes the messages to an order's shopper, also those that wait.
  ///
  /// - Parameter address: as of ``list(of:to:in:)``.
  /// - Returns: how many.
  package static func forget(_ order: OrderID, to address: String?, in store: Transaction) throws -> Int {
    try store.changes(
      "DELETE FROM mail_messages WHERE \(condition)", .text(order.rawValue), .text(optional: address?.lowercased()))
  }

  /// Removes all messages to shoppers, also those that wait.
  package static func forgetShoppers(in store: Transaction) throws {
    try store.run("DELETE FROM mail_messages WHERE order_id IS NOT NULL OR kind IN ('order', 'refund')")
  }

  private static let condition =
    "order_id = $1 OR (order_id IS NULL AND kind IN ('order', 'refund') AND lower(recipient) = $2)"

  package static func backlog(in store: Transaction) throws -> MailBacklog {
    let row = try store.row(
      """
      SELECT (SELECT count(*) FROM mail_messages WHERE state = 'waiting') AS waiting,
        (SELECT count(*) FROM mail_messages WHERE state = 'dead') AS dead,
        (SELECT MIN(created_at) FROM mail_messages WHERE state = 'waiting') AS oldest
      """)
    let oldest = try row?.integerOrNil("oldest").map { store.now.since(Timestamp(microseconds: $0)) }
    return MailBacklog(
      waiting: try row?.integer("waiting") ?? 0, dead: try row?.integer("dead") ?? 0, oldestWaiting: oldest ?? .zero)
  }
}

/// How many messages wait or were given up, for metrics and the doctor.
package struct MailBacklog: Sendable, Hashable {
  package let waiting: Int64
  package let dead: Int64
  /// How long the oldest of the waiting has been waiting.
  package let oldestWaiting: Duration
}

extension StoredMail {
  fileprivate init(_ row: Row, fence: Int64) throws {
    guard let state = State(rawValue: try row.text("state")) else { throw StorageError.column("state") }
    guard let kind = MailKind(rawValue: try row.text("kind")) else { throw StorageError.column("kind") }
    (self.state, self.kind, self.fence) = (state, kind, fence)
    id = try row.text("id")
    merchant = try row.textOrNil("merchant").map { MerchantID($0) }
    recipient = try row.text("recipient")
    (senderName, replyTo) = (try row.text("sender_name"), try row.textOrNil("reply_to"))
    (language, subject) = (try row.text("language"), try row.text("subject"))
    tries = try row.integer("tries")
    nextTry = try row.time("next_try")
    result = try row.textOrNil("result")
    createdAt = try row.time("created_at")
    (text, html) = (try row.textOrNil("text"), try row.textOrNil("html"))
  }
}
