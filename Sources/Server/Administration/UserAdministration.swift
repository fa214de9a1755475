package import Settings
package import Storage
package import TenderPayments

/// What `tender user` asks: of the running server, or of the store where none runs.
package enum UserCall: Codable, Sendable {
  case list
  /// - Parameter refundLimits: such as `100.00 EUR`.
  case add(name: String, grants: [Grant], refundLimits: String)
  /// A new invitation: for a user who has lost password or app.
  case invite(name: String)
  case setEnabled(Bool, name: String)
  /// The code that the user's app shows now; only in `simulated`.
  case code(name: String)
  /// A user with this password and codes of the server's making, for the demo; only in `simulated`.
  case demonstrate(name: String, password: String)
}

/// The answer to a ``UserCall``.
package struct UserAnswer: Codable, Sendable {
  package var users: [UserReport] = []
  /// The path at the office's address where password and codes are set, once.
  package var invitation: String?
  /// The office's address, `scheme://host[:port]`; nil where the configuration opens none.
  package var office: String?
  package var code: String?

  package init() {}
}

package struct UserReport: Codable, Sendable {
  package let name: String
  package let grants: [Grant]
  package let refundLimits: String
  package let enabled: Bool
  /// Whether they have accepted an invitation.
  package let enrolled: Bool
  /// The provider at which they sign in; nil for who has a password.
  package let issuer: String?

  init(_ user: OfficeUser) {
    (name, grants, refundLimits) = (user.name, user.grants, user.limits.text)
    (enabled, enrolled, issuer) = (user.isEnabled, user.isEnrolled, user.issuer)
  }
}

/// Adds users and changes them, for the command line and for the pages.
package struct UserAdministration: Sendable {
  let accounts: OfficeAccounts
  /// Who asks, for the audit chain.
  let actor: String
  let address: String
  private let settings: OfficeSettings
  private let knows: @Sendable (MerchantID) async throws -> Bool

  /// - Parameter knows: whether a merchant is there.
  package init(
    _ accounts: OfficeAccounts, _ settings: OfficeSettings, actor: String, address: String = "",
    knows: @escaping @Sendable (MerchantID) async throws -> Bool
  ) {
    (self.accounts, self.settings, self.actor, self.address) = (accounts, settings, actor, address)
    self.knows = knows
  }

  /// For `tender user`, while no server runs.
  package init(_ configuration: ServerConfiguration, _ database: Database, actor: String) {
    let merchants = MerchantAdministration(configuration, database)
    self.init(OfficeAccounts(configuration, database), configuration.officeSettings, actor: actor) {
      try await !merchants.reports(only: $0).isEmpty
    }
  }

  package func perform(_ call: UserCall) async throws -> UserAnswer {
    var answer = UserAnswer()
    switch call {
    case .list: break
    case .add(let name, let grants, let limits): answer.invitation = try await add(name, grants, limits).path
    case .invite(let name): answer.invitation = try await invite(name, reason: "").path
    case .setEnabled(let isEnabled, let name): try await setEnabled(isEnabled, name, reason: "")
    case .code(let name): answer.code = try await code(of: name)
    case .demonstrate(let name, let password): try await demonstrate(name, password)
    }
    answer.office = settings.isServed ? settings.url : nil
    answer.users = try await accounts.read { try $0.all().map(UserReport.init) }
    return answer
  }

  package func add(_ name: String, _ grants: [Grant], _ limits: String, reason: String = "") async throws -> Invitation
  {
    guard OfficeUser.isName(name) else {
      throw OfficeRefusal.badRequest("A name has 1 to 64 small letters, digits and . - _ @ +.", at: "name")
    }
    guard !grants.isEmpty else { throw OfficeRefusal.badRequest("A user has a role at least at one merchant.") }
    let limits = try Self.limits(limits, for: grants)
    try await requireKnown(grants)
    let action = action("user.add", name, after: OfficeUser.text(grants, limits), reason: reason)
    try await accounts.database.write { store in
      try UserTable(store: store).insert(name, grants, limits)
      try OfficeAudit(store).note(action)
    }
    return try await invite(name, reason: reason)
  }

  package func change(_ name: String, _ grants: [Grant], _ limits: String, reason: String) async throws {
    let limits = try Self.limits(limits, for: grants)
    try await requireKnown(grants)
    let (actor, address) = (actor, address)
    try await accounts.database.write { store in
      try OfficeAudit(store).lock()
      let users = UserTable(store: store)
      let before = try users.require(name)
      try Self.keepingAdministrator(users) {
        try users.set(grants, of: name)
        try users.set(limits, of: name)
      }
      try OfficeAudit(store).note(
        OfficeAction(
          actor, from: address, "user.change", subject: name, before: OfficeUser.text(before.grants, before.limits),
          after: OfficeUser.text(grants, limits), reason: reason))
    }
  }

  package func invite(_ name: String, reason: String) async throws -> Invitation {
    try await accounts.invite(name, action("user.invite", name, reason: reason))
  }

  package func setEnabled(_ isEnabled: Bool, _ name: String, reason: String) async throws {
    let action = action(isEnabled ? "user.enable" : "user.disable", name, reason: reason)
    let limits = accounts.limits
    try await accounts.database.write { store in
      try OfficeAudit(store).lock()
      let users = UserTable(store: store)
      _ = try users.require(name)
      try Self.keepingAdministrator(users) { try users.setEnabled(isEnabled, name) }
      if !isEnabled {
        try SessionTable(store: store, limits: limits).endAll(of: name)
        try DeviceTable(store: store).removeAll(of: name)
      }
      try OfficeAudit(store).note(action)
    }
  }

  /// Whoever had a misspelt merchant alone would see nothing.
  private func requireKnown(_ grants: [Grant]) async throws {
    for merchant in grants.compactMap(\.merchant) where try await !knows(merchant) {
      throw OfficeRefusal.badRequest("There is no merchant \(merchant).", at: "merchants")
    }
  }

  /// The office keeps a user who signs in and may change its users. Under the audit chain's lock, so that two
  /// administrators do not remove one another.
  private static func keepingAdministrator(_ users: UserTable, _ change: () throws -> Void) throws {
    // Who is invited alone may never come.
    func isThere() throws -> Bool {
      try users.all().contains { $0.isEnabled && $0.isEnrolled && $0.everywhere == .administrator }
    }
    let wasThere = try isThere()
    try change()
    guard try !wasThere || isThere() else {
      throw OfficeRefusal.conflict(
        "This is the last administrator of everything who can sign in; another one must have signed in first.")
    }
  }

  private func code(of name: String) async throws -> String {
    guard settings.isSimulated else {
      throw OfficeRefusal.forbidden("Codes are shown only where everything is simulated.")
    }
    _ = try await accounts.read { try $0.require(name) }
    guard let secret = try await accounts.vault.secret(of: name) else {
      throw OfficeRefusal.notFound("\(name) has no one-time codes yet.")
    }
    return secret.code(at: accounts.clock.machine())
  }

  private func demonstrate(_ name: String, _ password: String) async throws {
    guard settings.isSimulated else {
      throw OfficeRefusal.forbidden("Users have passwords of others' making only where everything is simulated.")
    }
    let isKnown = try await accounts.read { try $0.find(name) } != nil
    if !isKnown { _ = try await add(name, [Grant(.administrator)], "", reason: "demo") }
    let random = accounts.random
    let hash = try PasswordHash(password, cost: accounts.cost, random: random)
    let secret = OneTimeCodeSecret(random: random)
    try await accounts.vault.keep(secret, of: name)
    let codes = RecoveryCodes.make(random).map { secret.hash(ofRecoveryCode: $0) }
    try await accounts.database.write {
      try UserTable(store: $0).enroll(name, hash, lastCode: 0, recoveryCodes: codes)
    }
  }

  /// - Throws: ``OfficeRefusal`` also for limits that would limit nothing.
  private static func limits(_ text: String, for grants: [Grant]) throws -> RefundLimits {
    let limits: RefundLimits
    do throws(MistypedAmount) { limits = try RefundLimits(text: text) } catch {
      throw OfficeRefusal.badRequest(
        "\(error). Refund limits are amounts with commas between: 100.00 EUR, 15000 JPY", at: "limits")
    }
    guard limits == .none || grants.contains(where: { $0.role == .operator }) else {
      throw OfficeRefusal.badRequest(
        "Only an operator has refund limits: a viewer refunds nothing, and an administrator any amount. Leave them out.",
        at: "limits")
    }
    return limits
  }

  private func action(_ name: String, _ user: String, after: String = "", reason: String) -> OfficeAction {
    OfficeAction(actor, from: address, name, subject: user, after: after, reason: reason)
  }
}
