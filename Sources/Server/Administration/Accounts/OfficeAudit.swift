import Crypto
import Logging
package import Storage
package import TenderPayments

/// What an operator did: who, from where, to what, why, and how it was before and after.
package struct OfficeAction: Sendable, Hashable {
  package let actor: String
  package let address: String
  /// Stable: `payment.refund`.
  package var action: String
  /// Empty where it is no merchant's.
  package var merchant = ""
  /// What was changed: a payment's id, a user's name.
  package var subject = ""
  package var before = ""
  package var after = ""
  package var reason = ""

  package init(
    _ actor: String, from address: String, _ action: String, merchant: String = "", subject: String = "",
    before: String = "", after: String = "", reason: String = ""
  ) {
    (self.actor, self.address, self.action, self.merchant) = (actor, address, action, merchant)
    (self.subject, self.before, self.after, self.reason) = (subject, before, after, reason)
  }

  /// With every text cut to what an entry may hold: the chain is kept for good, and takes what was tried in vain too.
  fileprivate var shortened: OfficeAction {
    OfficeAction(
      Self.cut(actor), from: Self.cut(address), Self.cut(action), merchant: Self.cut(merchant),
      subject: Self.cut(subject), before: Self.cut(before), after: Self.cut(after), reason: Self.cut(reason))
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > 2_048 else { return text }
    let hash = Hex.encode(SHA256.hash(data: Array(text.utf8)))
    return String(decoding: text.utf8.prefix(1_900), as: UTF8.self) + "… (\(text.utf8.count) bytes, SHA-256 \(hash))"
  }

  fileprivate var fields: [String] { [actor, address, action, merchant, subject, before, after, reason] }
}

/// The audit chain of the back office: each entry carries the hash of the one before, so that changing or removing one
/// breaks every later one.
package struct OfficeAudit {
  package struct Entry: Sendable, Hashable {
    package let number: Int64
    package let at: Timestamp
    package let action: OfficeAction
    package let hash: String
  }

  let store: Transaction

  package init(_ store: Transaction) { self.store = store }

  package func note(_ done: OfficeAction) throws {
    let action = done.shortened
    // Where the chain is empty there is nothing to lock: another transaction may write the first entry.
    while try !append(action) {}
  }

  /// - Returns: false where another transaction has written the first entry meanwhile.
  private func append(_ action: OfficeAction) throws -> Bool {
    try lock()
    let head = try store.row("SELECT seq, hash FROM office_audit ORDER BY seq DESC LIMIT 1")
    let number = (try head?.integer("seq") ?? 0) + 1
    let hash = Self.hash(action, number, store.now, after: try head?.text("hash") ?? "")
    let changes = try store.changes(
      """
      INSERT INTO office_audit (seq, at, actor, address, action, merchant, subject, state_before, state_after, reason,
        hash)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      ON CONFLICT (seq) DO NOTHING
      """,
      [
        .integer(number), .time(store.now), .text(action.actor), .text(action.address), .text(action.action),
        .text(action.merchant), .text(action.subject), .text(action.before), .text(action.after), .text(action.reason),
        .text(hash),
      ])
    guard changes == 0 else { return true }
    guard number == 1 else { throw StorageError.unique(constraint: "office_audit_pkey") }
    return false
  }

  /// Notes what is asked before anything is done, and afterwards what came of it.
  ///
  /// - Parameter outcome: of the work that was done, in words.
  package static func attempt<R>(
    _ asked: OfficeAction, in database: Database,
    failure: (any Error) async -> (end: AttemptEnd, words: String) = AttemptEnd.of,
    outcome: (R) -> String = { _ in "done" }, _ work: () async throws -> R
  ) async throws -> R {
    try await database.write { try OfficeAudit($0).note(asked) }
    let result: R
    do { result = try await work() } catch {
      let (end, words) = await failure(error)
      await noteEnd(asked, end, words, in: database)
      throw error
    }
    await noteEnd(asked, .outcome, outcome(result), in: database)
    return result
  }

  /// Notes what came of an attempt. The work is done by then, so its answer stands also where the store does not take the
  /// entry: the log has it, and the chain an attempt without an end.
  package static func noteEnd(_ asked: OfficeAction, _ end: AttemptEnd, _ words: String, in database: Database) async {
    var entry = asked
    (entry.action, entry.after) = ("\(asked.action).\(end.rawValue)", words)
    do { try await database.write { [entry] in try OfficeAudit($0).note(entry) } } catch {
      Logger(label: "tender").error(
        "the audit chain of the office lacks an entry",
        metadata: [
          "action": "\(entry.action)", "actor": "\(entry.actor)", "merchant": "\(entry.merchant)",
          "subject": "\(entry.subject)", "after": "\(entry.after)", "error": "\(error)",
        ])
    }
  }

  /// Waits for every other transaction that notes something, and holds up later ones. The first entry is always there: a
  /// lock of the newest would give the entry that was the newest when the wait began.
  func lock() throws { _ = try store.lockedRow("SELECT seq FROM office_audit WHERE seq = 1") }

  /// The newest first.
  ///
  /// - Parameters:
  ///   - before: only entries below this number.
  ///   - subject: only what was done to this; nil for all.
  package func entries(before: Int64 = .max, subject: String? = nil, limit: Int = 100) throws -> [Entry] {
    // One text for each of the two, so that the index of the subject is used.
    try store.rows(
      """
      SELECT * FROM office_audit WHERE \(subject == nil ? "$2 IS NULL" : "subject = $2") AND seq < $1
      ORDER BY seq DESC LIMIT $3
      """, .integer(before), .text(optional: subject), .integer(Int64(limit))
    ).map(Self.entry)
  }

  /// The number of the first entry that does not follow from the one before; nil for an intact chain.
  package func firstBroken() throws -> Int64? {
    var (previous, number) = ("", Int64(0))
    for row in try store.rows("SELECT * FROM office_audit ORDER BY seq") {
      let entry = try Self.entry(row)
      number += 1
      let hash = Self.hash(entry.action, number, entry.at, after: previous)
      guard hash.utf8.elementsEqual(entry.hash.utf8) else { return number }
      previous = entry.hash
    }
    return nil
  }

  private static func entry(_ row: Row) throws -> Entry {
    let action = OfficeAction(
      try row.text("actor"), from: try row.text("address"), try row.text("action"),
      merchant: try row.text("merchant"), subject: try row.text("subject"), before: try row.text("state_before"),
      after: try row.text("state_after"), reason: try row.text("reason"))
    return Entry(number: try row.integer("seq"), at: try row.time("at"), action: action, hash: try row.text("hash"))
  }

  /// SHA-256 over the hash before and every field with its length, so that no two entries have the same bytes.
  private static func hash(_ action: OfficeAction, _ number: Int64, _ at: Timestamp, after previous: String) -> String {
    let fields = [previous, "\(number)", "\(at.microseconds)"] + action.fields
    return Hex.encode(SHA256.hash(data: fields.flatMap { Array("\($0.utf8.count):\($0)".utf8) }))
  }
}
