import Storage
package import TenderPayments

/// A user's passkey.
package struct Passkey: Sendable {
  /// In base64url, as browsers write it.
  package let credential: String
  let user: String
  let handle: String
  /// As its user calls it.
  package let name: String
  let key: PasskeyKey
  package let createdAt: Timestamp
  /// Nil for one that was never used.
  package let usedAt: Timestamp?

  fileprivate init(_ row: Row) throws {
    (credential, user, handle) = (try row.text("credential"), try row.text("user_name"), try row.text("handle"))
    (name, createdAt) = (try row.text("name"), try row.time("created_at"))
    usedAt = try row.integerOrNil("used_at").map(Timestamp.init(microseconds:))
    guard let key = Hex.decode(try row.text("public_key")).flatMap(PasskeyKey.init(stored:)) else {
      throw StorageError.column("public_key")
    }
    self.key = key
  }
}

struct PasskeyTable {
  static let most = 20

  let store: Transaction

  func all(of user: String) throws -> [Passkey] {
    try store.rows("SELECT * FROM office_passkeys WHERE user_name = $1 ORDER BY created_at, credential", .text(user))
      .map(Passkey.init)
  }

  func find(_ credential: String) throws -> Passkey? {
    try store.row("SELECT * FROM office_passkeys WHERE credential = $1", .text(credential)).map(Passkey.init)
  }

  /// False for one that is somebody's already.
  func insert(
    _ made: MadePasskey, of user: String, handle: String, name: String, counter: UInt32
  ) throws -> Bool {
    try store.changes(
      """
      INSERT INTO office_passkeys (credential, user_name, handle, name, public_key, counter, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
      """,
      [
        .text(Base64URL.encode(made.id)), .text(user), .text(handle), .text(name), .text(Hex.encode(made.key.stored)),
        .integer(Int64(counter)), .time(store.now),
      ]) == 1
  }

  /// Notes a use. A passkey either never counts, or counts each use: one whose counter does not go on was copied.
  ///
  /// - Returns: false where the counter does not go on, and for a passkey that was removed.
  func use(_ credential: String, counter: UInt32) throws -> Bool {
    try store.changes(
      """
      UPDATE office_passkeys SET counter = $2, used_at = $3
      WHERE credential = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0))
      """, .text(credential), .integer(Int64(counter)), .time(store.now)) == 1
  }

  /// The name of what was removed; nil for one that is not the user's.
  func remove(_ credential: String, of user: String) throws -> String? {
    guard let passkey = try find(credential), passkey.user.utf8.elementsEqual(user.utf8) else { return nil }
    try store.run("DELETE FROM office_passkeys WHERE credential = $1", .text(credential))
    return passkey.name
  }

  func removeAll(of user: String) throws {
    try store.run("DELETE FROM office_passkeys WHERE user_name = $1", .text(user))
  }
}

/// What is asked of a browser, to be answered once and within minutes.
struct ChallengeTable {
  enum Purpose: String {
    /// Signing in with a passkey; the holder is the browser.
    case signIn = "sign-in"
    /// Adding a passkey; the holder is the session.
    case passkey
    /// Signing in at the provider; the browser has the secret itself.
    case provider
  }

  static let life: Duration = .seconds(600)

  let store: Transaction

  func insert(_ hash: String, for purpose: Purpose, of holder: String) throws {
    try store.run("DELETE FROM office_challenges WHERE expires_at <= $1", .time(store.now))
    try store.run(
      "INSERT INTO office_challenges (hash, purpose, holder, expires_at) VALUES ($1, $2, $3, $4)", .text(hash),
      .text(purpose.rawValue), .text(holder), .time(store.now.adding(Self.life)))
  }

  /// False for one that is not this holder's, was taken before, or is over.
  func spend(_ hash: String, for purpose: Purpose, of holder: String) throws -> Bool {
    try store.changes(
      "DELETE FROM office_challenges WHERE hash = $1 AND purpose = $2 AND holder = $3 AND expires_at > $4", .text(hash),
      .text(purpose.rawValue), .text(holder), .time(store.now)) == 1
  }
}
