package import Storage
package import TenderPayments

/// What retention does, each in small steps beside the payments.
package enum RetentionTask: String, Sendable, Hashable, Codable, CaseIterable {
  /// Takes out of old orders what names the shopper.
  case contacts
  /// Messages that were sent or given up.
  case mails
  /// Webhooks that were acknowledged or given up.
  case deliveries
  /// Baskets of which no order was made.
  case baskets
  /// Fingerprints of payment tokens.
  case tokens
  /// Seals contacts that a version before has written in clear.
  case seals
}

/// How far a task is: a row of the table `retention`, which all nodes share.
package struct RetentionProgress: Sendable, Hashable {
  package let task: RetentionTask
  /// The last row that was looked at; empty at the beginning.
  package var position = ""
  /// Up to which time everything is done.
  package var until = Timestamp(microseconds: 0)
  /// When the walk began, or `until` was set for the last time, as the task needs it.
  package var since = Timestamp(microseconds: 0)
  /// How many rows were removed in all.
  package var removed: Int64 = 0

  /// Does one step of a task, and writes how far it is then. No other node does one of the same task meanwhile.
  ///
  /// - Parameter step: returns whether all is done for now.
  package static func advance(
    _ task: RetentionTask, in store: Transaction, _ step: (inout RetentionProgress) throws -> Bool
  ) throws -> Bool {
    try store.run(
      "INSERT INTO retention (task, position, until, since, removed) VALUES ($1, '', 0, 0, 0) ON CONFLICT DO NOTHING",
      .text(task.rawValue))
    var progress = RetentionProgress(task: task)
    if let row = try store.lockedRow("SELECT * FROM retention WHERE task = $1", .text(task.rawValue)) {
      progress = try RetentionProgress(row, task)
    }
    let isDone = try step(&progress)
    try store.run(
      "UPDATE retention SET position = $2, until = $3, since = $4, removed = $5 WHERE task = $1", .text(task.rawValue),
      .text(progress.position), .time(progress.until), .time(progress.since), .integer(progress.removed))
    return isDone
  }

  /// How far all tasks are that have begun. The mark of the tokens counts as up to now where no payment allows a later one:
  /// nothing is left to do then.
  package static func all(in store: Transaction) throws -> [RetentionProgress] {
    try store.rows("SELECT * FROM retention ORDER BY task").compactMap { row in
      guard let task = RetentionTask(rawValue: try row.text("task")) else { return nil }
      var progress = try RetentionProgress(row, task)
      guard task == .tokens else { return progress }
      let newest = try TokenUses.newestPayment(in: store)
      let isDone = newest.map { progress.until >= $0.adding(.zero - Journal.unmarked) } ?? true
      if isDone { progress.until = max(progress.until, store.now) }
      return progress
    }
  }

  private init(_ row: Row, _ task: RetentionTask) throws {
    self.task = task
    position = try row.text("position")
    (until, since) = (try row.time("until"), try row.time("since"))
    removed = try row.integer("removed")
  }

  private init(task: RetentionTask) { self.task = task }

  /// Begins from the front again when that is so long ago.
  package mutating func beginAgain(after lap: Duration, at now: Timestamp) {
    guard position.isEmpty || now.since(since) >= lap else { return }
    (position, since) = ("", now)
  }

  /// Notes that everything before a row is done, whose identifier begins with its time.
  package mutating func markDone(_ id: String, before end: Timestamp) {
    guard let time = Timestamp(ofID: id) else { return }
    until = max(until, min(time, end))
  }
}

extension Journal {
  static let retention = Migration(
    "retention-1",
    """
    CREATE TABLE retention (
      task TEXT PRIMARY KEY NOT NULL,
      position TEXT NOT NULL,
      until BIGINT NOT NULL,
      since BIGINT NOT NULL,
      removed BIGINT NOT NULL
    );

    """)

  /// How long after a mark was written fingerprints before it are removed: longer than any claim takes that has not
  /// seen it.
  private static let settling = Duration.seconds(3_600)
  /// How far the clocks of two nodes may be apart, and more.
  static let tolerance = Duration.seconds(86_400)
  /// How long before the newest payment the mark of the tokens ends: with the tolerance, a day more than any token is old
  /// when it pays. A clock that is ahead by years cannot move the mark beyond, so tokens of today are taken again when it
  /// is right.
  static let unmarked = tolerance * 2
  /// To how long before the newest payment a mark is taken back that a version without this bound has written. With the
  /// tolerance it covers every payment there is: the fingerprints of all of them may be gone.
  private static let corrected = tolerance - .seconds(600)

  /// Removes fingerprints of payment tokens that were used long ago: one step.
  ///
  /// The replay window stays shut whatever the clocks say later. First a mark is written, and from then on no token is
  /// taken that was signed before it; only an hour later the fingerprints before the mark go. Decrypted and unsigned
  /// data have no signing time that can be trusted: their fingerprints stay. The mark is bounded by the newest payment, and
  /// one that is later is taken back: every token would be refused up to then.
  ///
  /// - Parameters:
  ///   - end: when they were used at the latest.
  ///   - limit: at how many payments one step looks.
  /// - Returns: whether all is done for now.
  package static func forgetTokens(before end: Timestamp, atMost limit: Int, in store: Transaction) throws -> Bool {
    try RetentionProgress.advance(.tokens, in: store) { progress in
      guard progress.since == Timestamp(microseconds: 0) || store.now.since(progress.since) >= settling else {
        return true
      }
      guard let newest = try TokenUses.newestPayment(in: store) else { return true }
      if progress.until > newest.adding(.zero - corrected) {
        (progress.until, progress.since) = (newest.adding(.zero - corrected), store.now)
        return true
      }
      let payments = try store.rows(
        """
        SELECT id, status, transaction_identifier FROM payments WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3
        """, .text(progress.position), .text(progress.until.idPrefix), .integer(Int64(limit)))
      for payment in payments {
        // A payment whose outcome is open answers its token again.
        guard let token = try payment.textOrNil("transaction_identifier"),
          try PaymentStatus(rawValue: payment.text("status"))?.isResolved == true
        else { continue }
        progress.removed += Int64(
          try store.changes(
            "DELETE FROM token_uses WHERE transaction_id = $1 AND payment = $2 AND used_at < $3", .text(token),
            .text(try payment.text("id")), .time(progress.until)))
      }
      progress.position = try payments.last?.text("id") ?? progress.position
      guard payments.count < limit else { return false }
      let mark = min(end, newest.adding(.zero - unmarked))
      if progress.until < mark { (progress.until, progress.since) = (mark, store.now) }
      return true
    }
  }
}
