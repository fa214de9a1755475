import Storage
import TenderPayments

/// The tables of operators, in one transaction.
package struct UserTable {
  static let everyMerchant = "*"

  let store: Transaction

  package func all() throws -> [OfficeUser] {
    try store.rows("SELECT * FROM office_users ORDER BY name").map(user)
  }

  func find(_ name: String) throws -> OfficeUser? {
    try store.row("SELECT * FROM office_users WHERE name = $1", .text(name)).map(user)
  }

  /// - Throws: ``OfficeRefusal`` when no user has this name.
  func require(_ name: String) throws -> OfficeUser {
    guard let user = try find(name) else { throw OfficeRefusal.notFound("There is no user \(name).") }
    return user
  }

  private func user(_ row: Row) throws -> OfficeUser {
    let name = try row.text("name")
    let grants = try store.rows(
      "SELECT * FROM office_grants WHERE user_name = $1 ORDER BY merchant", .text(name)
    ).compactMap(Self.grant)
    return OfficeUser(
      name: name, grants: grants, limits: (try? RefundLimits(text: row.text("refund_limits"))) ?? .none,
      isEnabled: try row.integer("enabled") == 1,
      isEnrolled: try row.textOrNil("password") != nil && row.integer("has_codes") == 1,
      issuer: try store.row("SELECT issuer FROM office_identities WHERE user_name = $1", .text(name))?.text("issuer"),
      createdAt: try row.time("created_at"))
  }

  private static func grant(_ row: Row) throws -> Grant? {
    let merchant = try row.text("merchant")
    return Role(rawValue: try row.text("role")).map {
      Grant($0, of: merchant.utf8.elementsEqual(everyMerchant.utf8) ? nil : MerchantID(merchant))
    }
  }

  func insert(_ name: String, _ grants: [Grant], _ limits: RefundLimits) throws {
    let inserted = try store.changes(
      """
      INSERT INTO office_users (name, has_codes, last_code, enabled, refund_limits, created_at)
      VALUES ($1, 0, 0, 1, $2, $3) ON CONFLICT DO NOTHING
      """, .text(name), .text(limits.text), .time(store.now))
    guard inserted == 1 else {
      throw OfficeRefusal.conflict(
        "There is a user \(name) already. Change roles and limits in the back office, under Users.", at: "name")
    }
    try set(grants, of: name)
  }

  func set(_ grants: [Grant], of name: String) throws {
    try store.run("DELETE FROM office_grants WHERE user_name = $1", .text(name))
    for grant in grants {
      guard grant.merchant?.rawValue.utf8.elementsEqual(Self.everyMerchant.utf8) != true else {
        throw OfficeRefusal.badRequest("* is no merchant; name none for every merchant.", at: "merchants")
      }
      try store.run(
        "INSERT INTO office_grants (user_name, merchant, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", .text(name),
        .text(grant.merchant?.rawValue ?? Self.everyMerchant), .text(grant.role.rawValue))
    }
  }

  func set(_ limits: RefundLimits, of name: String) throws {
    try store.run("UPDATE office_users SET refund_limits = $2 WHERE name = $1", .text(name), .text(limits.text))
  }

  /// The user who is this person at a provider; nil for one who has not signed in from there before.
  func find(_ subject: String, at issuer: String) throws -> OfficeUser? {
    try store.row(
      "SELECT user_name FROM office_identities WHERE issuer = $1 AND subject = $2", .text(issuer), .text(subject)
    ).flatMap { try find($0.text("user_name")) }
  }

  func identify(_ name: String, as subject: String, at issuer: String) throws {
    try store.run(
      "INSERT INTO office_identities (issuer, subject, user_name) VALUES ($1, $2, $3)", .text(issuer), .text(subject),
      .text(name))
  }

  func setEnabled(_ isEnabled: Bool, _ name: String) throws {
    try store.run(
      "UPDATE office_users SET enabled = $2 WHERE name = $1", .text(name), .integer(isEnabled ? 1 : 0))
  }

  func password(of name: String) throws -> PasswordHash? {
    try store.row("SELECT password FROM office_users WHERE name = $1", .text(name))?.textOrNil("password")
      .flatMap(PasswordHash.init(stored:))
  }

  /// The user may sign in from now on.
  ///
  /// - Parameter recoveryCodes: their hashes.
  func enroll(_ name: String, _ password: PasswordHash, lastCode: Int64, recoveryCodes: [String]) throws {
    try store.run(
      "UPDATE office_users SET password = $2, has_codes = 1, last_code = $3 WHERE name = $1", .text(name),
      .text(password.stored), .integer(lastCode))
    try store.run("DELETE FROM office_recovery_codes WHERE user_name = $1", .text(name))
    for hash in recoveryCodes {
      try store.run(
        "INSERT INTO office_recovery_codes (user_name, hash) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(name),
        .text(hash))
    }
  }

  func lastCode(of name: String) throws -> Int64 {
    try store.row("SELECT last_code FROM office_users WHERE name = $1", .text(name))?.integer("last_code") ?? .max
  }

  /// False when this code, or a later one, was taken before.
  func spend(code step: Int64, of name: String) throws -> Bool {
    try store.changes(
      "UPDATE office_users SET last_code = $2 WHERE name = $1 AND last_code < $2", .text(name), .integer(step)) == 1
  }

  /// False when it is none of the user's, or was used before.
  func spend(recoveryCode hash: String, of name: String) throws -> Bool {
    try store.changes(
      "DELETE FROM office_recovery_codes WHERE user_name = $1 AND hash = $2", .text(name), .text(hash)) == 1
  }
}

// Invitations: an address that sets password and codes, once.
extension UserTable {
  func invite(_ name: String, hash: String, until end: Timestamp) throws {
    try store.run("DELETE FROM office_invitations WHERE user_name = $1", .text(name))
    try store.run(
      "INSERT INTO office_invitations (hash, user_name, expires_at) VALUES ($1, $2, $3)", .text(hash), .text(name),
      .time(end))
  }

  /// The user whose invitation this is, while they are enabled.
  func find(invitedBy hash: String) throws -> String? {
    let row = try store.row(
      "SELECT user_name FROM office_invitations WHERE hash = $1 AND expires_at > $2", .text(hash), .time(store.now))
    guard let name = try row?.text("user_name"), try find(name)?.isEnabled == true else { return nil }
    return name
  }

  /// False when another call was faster.
  func spend(invitation hash: String) throws -> Bool {
    try store.changes("DELETE FROM office_invitations WHERE hash = $1", .text(hash)) == 1
  }
}
