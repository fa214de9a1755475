import Storage
import TenderPayments

/// A signed-in browser, as its user sees it.
struct OfficeSession: Sendable {
  /// Of the cookie; names the session, and does not open it.
  let hash: String
  let user: String
  let address: String
  let agent: String
  let createdAt: Timestamp
  let seenAt: Timestamp

  fileprivate init(_ row: Row) throws {
    (hash, user, address) = (try row.text("hash"), try row.text("user_name"), try row.text("address"))
    (agent, createdAt, seenAt) = (try row.text("agent"), try row.time("created_at"), try row.time("seen_at"))
  }
}

/// How long a session lasts.
package struct SessionLimits: Sendable {
  /// Without a request.
  package var idle: Duration = .seconds(30 * 60)
  /// From the sign-in.
  package var whole: Duration = .seconds(12 * 3_600)

  package init() {}
}

struct SessionTable {
  let store: Transaction
  let limits: SessionLimits

  func insert(_ hash: String, of user: String, address: String, agent: String) throws {
    try store.run(
      """
      INSERT INTO office_sessions (hash, user_name, address, agent, created_at, seen_at) VALUES ($1, $2, $3, $4, $5, $5)
      """, .text(hash), .text(user), .text(address), .text(String(agent.prefix(200))), .time(store.now))
  }

  /// Nil for one that is unknown, was ended, or is over.
  func live(_ hash: String, at now: Timestamp) throws -> OfficeSession? {
    let row = try store.row("SELECT * FROM office_sessions WHERE hash = $1", .text(hash))
    guard let session = try row.map(OfficeSession.init), now.since(session.seenAt) < limits.idle,
      now.since(session.createdAt) < limits.whole
    else { return nil }
    return session
  }

  func all(of user: String, at now: Timestamp) throws -> [OfficeSession] {
    try store.rows("SELECT * FROM office_sessions WHERE user_name = $1 ORDER BY seen_at DESC", .text(user))
      .map(OfficeSession.init)
      .filter { now.since($0.seenAt) < limits.idle && now.since($0.createdAt) < limits.whole }
  }

  func see(_ hash: String) throws {
    try store.run("UPDATE office_sessions SET seen_at = $2 WHERE hash = $1", .text(hash), .time(store.now))
  }

  func end(_ hash: String, of user: String) throws {
    try store.run("DELETE FROM office_sessions WHERE hash = $1 AND user_name = $2", .text(hash), .text(user))
  }

  func endAll(of user: String) throws {
    try store.run("DELETE FROM office_sessions WHERE user_name = $1", .text(user))
  }

  /// Deletes what is over.
  func clean() throws {
    let oldest = store.now.adding(.seconds(-limits.whole.components.seconds))
    try store.run("DELETE FROM office_sessions WHERE created_at < $1", .time(oldest))
  }
}

/// How often a sign-in may fail: for an account, so that its password is not guessed, and for an address, so that one
/// password is not tried on all accounts.
struct SignInThrottle {
  private static let accountLimit: Int64 = 5
  private static let addressLimit: Int64 = 20
  private static let longest: Int64 = 15 * 60
  private static let memory: Duration = .seconds(3_600)

  let store: Transaction

  /// Counts an attempt as failed before it is judged, so that attempts at the same moment count too.
  ///
  /// - Returns: whether it may be judged.
  func admit(account: String, address: String) throws -> Bool {
    let subjects = [("account \(account)", Self.accountLimit), ("address \(address)", Self.addressLimit)]
    let isBlocked = try subjects.contains { try row($0.0)?.time("blocked_until") ?? store.now > store.now }
    guard !isBlocked else { return false }
    for (subject, limit) in subjects { try count(subject, limit) }
    return true
  }

  /// Takes back what ``admit(account:address:)`` counted.
  func succeed(account: String, address: String) throws {
    try store.run("DELETE FROM office_failures WHERE subject = $1", .text("account \(account)"))
    try store.run(
      "UPDATE office_failures SET failures = failures - 1, blocked_until = 0 WHERE subject = $1 AND failures > 0",
      .text("address \(address)"))
  }

  private func row(_ subject: String) throws -> Row? {
    try store.row("SELECT * FROM office_failures WHERE subject = $1", .text(subject))
  }

  private func count(_ subject: String, _ limit: Int64) throws {
    let known = try row(subject)
    let isFresh = try known.map { store.now.since(try $0.time("last_at")) < Self.memory } ?? false
    let failures = (isFresh ? try known?.integer("failures") ?? 0 : 0) + 1
    let over = failures - limit
    let pause = over < 0 ? 0 : min(Self.longest, 15 << min(over, 10))
    try store.run(
      """
      INSERT INTO office_failures (subject, failures, last_at, blocked_until) VALUES ($1, $2, $3, $4)
      ON CONFLICT (subject) DO UPDATE SET failures = $2, last_at = $3, blocked_until = $4
      """, .text(subject), .integer(failures), .time(store.now), .time(store.now.adding(.seconds(pause))))
  }
}
