import Foundation
import Storage
package import TenderPayments

/// A signed-in browser, as its user sees it.
package struct OfficeSession: Sendable {
  /// The hash of the cookie; it names the session, and does not open it.
  package let hash: String
  let user: String
  package let address: String
  package let agent: String
  package let createdAt: Timestamp
  package let seenAt: Timestamp
  /// Where the provider's word ends; nil for a session that the office's own limits end.
  let endsAt: Timestamp?

  fileprivate init(_ row: Row) throws {
    (hash, user, address) = (try row.text("hash"), try row.text("user_name"), try row.text("address"))
    (agent, createdAt, seenAt) = (try row.text("agent"), try row.time("created_at"), try row.time("seen_at"))
    endsAt = try row.integerOrNil("ends_at").map(Timestamp.init(microseconds:))
  }
}

/// How long a session lasts.
package struct SessionLimits: Sendable {
  /// Without a request.
  package var idle: Duration = .seconds(30 * 60)
  /// From the sign-in.
  package var whole: Duration = .seconds(12 * 3_600)

  package init() {}

  fileprivate func include(_ session: OfficeSession, at now: Timestamp) -> Bool {
    now.since(session.seenAt) < idle && now.since(session.createdAt) < whole
      && session.endsAt.map { now < $0 } ?? true
  }
}

struct SessionTable {
  let store: Transaction
  let limits: SessionLimits

  /// - Parameter end: nil where the office's own limits end it.
  func insert(_ hash: String, of user: String, address: String, agent: String, until end: Timestamp? = nil) throws {
    try store.run(
      """
      INSERT INTO office_sessions (hash, user_name, address, agent, created_at, seen_at, ends_at)
      VALUES ($1, $2, $3, $4, $5, $5, $6)
      """, .text(hash), .text(user), .text(address), .text(String(agent.prefix(200))), .time(store.now),
      .integer(optional: end?.microseconds))
  }

  /// Nil for one that is unknown, was ended, or is over.
  func live(_ hash: String, at now: Timestamp) throws -> OfficeSession? {
    let row = try store.row("SELECT * FROM office_sessions WHERE hash = $1", .text(hash))
    guard let session = try row.map(OfficeSession.init), limits.include(session, at: now) else { return nil }
    return session
  }

  func all(of user: String, at now: Timestamp) throws -> [OfficeSession] {
    try store.rows("SELECT * FROM office_sessions WHERE user_name = $1 ORDER BY seen_at DESC", .text(user))
      .map(OfficeSession.init)
      .filter { limits.include($0, at: now) }
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

/// The browsers in which a user has signed in: whoever guesses the user's password elsewhere does not lock them out there.
package struct DeviceTable {
  /// From the last sign-in in that browser.
  package static let life: Duration = .seconds(180 * 86_400)

  let store: Transaction

  func isKnown(_ hash: String, of user: String) throws -> Bool {
    try store.row(
      "SELECT hash FROM office_devices WHERE hash = $1 AND user_name = $2 AND expires_at > $3",
      .text(hash), .text(user), .time(store.now)) != nil
  }

  /// - Parameter former: what the browser was known by before.
  func insert(_ hash: String, of user: String, replacing former: String) throws {
    try store.run(
      "DELETE FROM office_devices WHERE expires_at <= $1 OR (hash = $2 AND user_name = $3)", .time(store.now),
      .text(former), .text(user))
    try store.run(
      "INSERT INTO office_devices (hash, user_name, expires_at) VALUES ($1, $2, $3)", .text(hash), .text(user),
      .time(store.now.adding(Self.life)))
  }

  func removeAll(of user: String) throws {
    try store.run("DELETE FROM office_devices WHERE user_name = $1", .text(user))
  }
}

/// How often sign-ins may fail before the next must wait. Each is counted under several subjects, because what stops
/// guessing must not let a stranger lock a user out.
struct SignInThrottle {
  struct Subject: Sendable {
    fileprivate let name: String
    fileprivate let limit: Int64
    /// Whether a success forgives every failure, and not its own attempt alone.
    fileprivate let isForgiven: Bool
  }

  /// What a sign-in counts under: in a browser that the user has signed in with before, under that browser alone.
  ///
  /// Elsewhere under the account at this address and under the account, so that its password is not guessed, not from many
  /// addresses either; and under the address, so that one password is not tried on all accounts.
  ///
  /// - Parameter device: the hash of such a browser; nil for another.
  static func signIn(of account: String, from caller: String, in device: String?) -> [Subject] {
    let address = network(of: caller)
    if let device { return [Subject(name: "device \(device) of \(account)", limit: 5, isForgiven: true)] }
    return [
      Subject(name: "account \(account) from \(address)", limit: 5, isForgiven: true),
      Subject(name: "account \(account)", limit: 50, isForgiven: false),
      Subject(name: "address \(address)", limit: 20, isForgiven: false),
    ]
  }

  /// An IPv4 address; of an IPv6 address the half that a provider gives a customer (RFC 6177).
  private static func network(of address: String) -> String {
    var parsed = in6_addr()
    guard inet_pton(AF_INET6, address, &parsed) == 1 else { return address }
    let bytes = withUnsafeBytes(of: parsed, Array.init)
    // An IPv4 address in the form of IPv6 is one.
    let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10..<12].allSatisfy { $0 == 0xFF }
    return Hex.encode(bytes.prefix(isMapped ? 16 : 8))
  }

  /// What a sign-in counts under that begins without a name, with a passkey or at the provider: each keeps a row for some
  /// minutes.
  static func beginning(from caller: String) -> [Subject] {
    [Subject(name: "beginning from \(network(of: caller))", limit: 60, isForgiven: false)]
  }

  /// What a code counts under that a signed-in user types.
  static func confirmation(by account: String) -> [Subject] {
    [Subject(name: "code of \(account)", limit: 5, isForgiven: true)]
  }

  private static let longest: Int64 = 15 * 60
  private static let memory: Duration = .seconds(3_600)

  let store: Transaction

  /// Counts an attempt as failed before it is judged, so that attempts at the same moment count too. Deletes what is too old
  /// to count.
  ///
  /// - Returns: whether it may be judged.
  func admit(_ subjects: [Subject]) throws -> Bool {
    // An attempt that is blocked writes nothing, however many come.
    guard try !areBlocked(subjects) else { return false }
    try store.run("DELETE FROM office_failures WHERE last_at < $1", .time(store.now.adding(.zero - Self.memory)))
    // So that of attempts at the same time each sees whether the one before it has blocked the next.
    for subject in subjects { try hold(subject) }
    guard try !areBlocked(subjects) else { return false }
    for subject in subjects { try count(subject) }
    return true
  }

  private func areBlocked(_ subjects: [Subject]) throws -> Bool {
    try subjects.contains { try row($0)?.time("blocked_until") ?? store.now > store.now }
  }

  /// Takes back what ``admit(_:)`` counted.
  func succeed(_ subjects: [Subject]) throws {
    for subject in subjects {
      guard !subject.isForgiven else {
        try store.run("DELETE FROM office_failures WHERE subject = $1", .text(subject.name))
        continue
      }
      try store.run(
        """
        UPDATE office_failures
        SET failures = failures - 1, blocked_until = CASE WHEN failures > $2 THEN blocked_until ELSE 0 END
        WHERE subject = $1 AND failures > 0
        """, .text(subject.name), .integer(subject.limit))
    }
  }

  private func row(_ subject: Subject) throws -> Row? {
    try store.row("SELECT * FROM office_failures WHERE subject = $1", .text(subject.name))
  }

  /// Locks the subject's row until the end of the transaction.
  private func hold(_ subject: Subject) throws {
    try store.run(
      """
      INSERT INTO office_failures (subject, failures, last_at, blocked_until) VALUES ($1, 0, $2, 0)
      ON CONFLICT (subject) DO UPDATE SET failures = office_failures.failures
      """, .text(subject.name), .time(store.now))
  }

  private func count(_ subject: Subject) throws {
    let oldest = store.now.adding(.zero - Self.memory)
    try store.run(
      """
      UPDATE office_failures SET failures = CASE WHEN last_at > $3 THEN failures + 1 ELSE 1 END, last_at = $2
      WHERE subject = $1
      """, .text(subject.name), .time(store.now), .time(oldest))
    let failures = try row(subject)?.integer("failures") ?? 0
    let over = failures - subject.limit
    let pause = over < 0 ? 0 : min(Self.longest, 15 << min(over, 10))
    try store.run(
      "UPDATE office_failures SET blocked_until = $2 WHERE subject = $1", .text(subject.name),
      .time(store.now.adding(.seconds(pause))))
  }
}
