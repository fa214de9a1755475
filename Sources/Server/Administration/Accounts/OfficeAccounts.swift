import Crypto
package import Mail
package import Settings
package import Storage
package import TenderPayments

/// Who may sign in, and who is signed in.
package struct OfficeAccounts: Sendable {
  static let invitationLife: Duration = .seconds(72 * 3_600)
  /// A session's last use is written at most so often.
  private static let sightInterval: Duration = .seconds(60)

  package let database: Database
  /// What one-time codes are computed from.
  let vault: StoreVault
  let random: RandomBytes
  package let clock: WallClock
  let limits: SessionLimits
  let cost: PasswordCost
  let passwords = PasswordThread()
  /// How invitations look; nil where none is sent.
  let brand: MailBrand?
  /// The office's address: `scheme://host[:port]`.
  let url: String
  /// To whom passkeys are bound; nil where browsers have none.
  package let relyingParty: RelyingParty?
  /// The provider at which users may sign in; nil for none.
  private let issuer: String?

  /// - Parameter brand: of the invitations; nil where none is sent.
  package init(
    _ configuration: ServerConfiguration, _ database: Database, mailing brand: MailBrand? = nil,
    clock: WallClock = .system, random: RandomBytes = .system
  ) {
    (self.database, self.brand, self.clock, self.random) = (database, brand, clock, random)
    vault = StoreVault(configuration: configuration, database: database, random: random)
    let settings = configuration.officeSettings
    (limits, cost, url) = (settings.sessions, settings.passwordCost, settings.url)
    (relyingParty, issuer) = (RelyingParty(url: settings.url), configuration.office.openID.issuer)
  }

  static func hash(_ token: String) -> String { Hex.encode(SHA256.hash(data: Array(token.utf8))) }

  package func read<R: Sendable>(_ body: @escaping @Sendable (UserTable) throws -> R) async throws -> R {
    try await database.read { try body(UserTable(store: $0)) }
  }
}

// Signing in.
extension OfficeAccounts {
  package struct Credentials: Sendable {
    let name: String
    let password: String
    /// A one-time code of the app, or a recovery code.
    package let code: String

    package init(name: String, password: String, code: String) {
      self.name = name
      self.password = password
      self.code = code
    }
  }

  /// Where a request comes from.
  package struct Origin: Sendable {
    let address: String
    let agent: String
    /// The token by which the browser was known before; empty without one.
    let device: String

    package init(address: String, agent: String, device: String) {
      self.address = address
      self.agent = agent
      self.device = device
    }
  }

  package enum SignIn: Sendable {
    /// The tokens of the new session and of the browser, for the cookies.
    case accepted(session: String, device: String)
    /// Name, password or code is wrong; which, is not said.
    case refused
    /// Too many attempts: nothing was judged.
    case throttled
  }

  package func signIn(_ credentials: Credentials, from origin: Origin) async throws -> SignIn {
    guard !passwords.isFull else { return .throttled }
    // Whatever is no name counts as one account.
    let typed = credentials.name.lowercased()
    let name = OfficeUser.isName(typed) ? typed : ""
    let device = Self.hash(origin.device)
    let subjects = try await database.write { store -> [SignInThrottle.Subject]? in
      let isKnown = try DeviceTable(store: store).isKnown(device, of: name)
      let subjects = SignInThrottle.signIn(of: name, from: origin.address, in: isKnown ? device : nil)
      return try SignInThrottle(store: store).admit(subjects) ? subjects : nil
    }
    guard let subjects, let matches = try await passwordMatches(credentials.password, of: name) else {
      return .throttled
    }
    guard matches,
      let accepted = try await begin(name, credentials.code, origin, counted: subjects)
    else {
      try await note("sign-in.refused", name, origin.address)
      return .refused
    }
    return accepted
  }

  /// As slow for an unknown name; nil where too many sign in at once.
  private func passwordMatches(_ password: String, of name: String) async throws -> Bool? {
    let known = try await read { table in
      try table.find(name).flatMap { $0.isEnabled && $0.isEnrolled ? try table.password(of: name) : nil }
    }
    return try await passwords.run { [cost] in
      if let known { return try known.matches(password) }
      try PasswordHash.spend(on: password, cost: cost)
      return false
    }
  }

  /// Spends the code and makes the session, in one commit; nil for a code that is wrong or was used.
  private func begin(
    _ name: String, _ code: String, _ origin: Origin, counted subjects: [SignInThrottle.Subject]
  ) async throws -> SignIn? {
    guard let secret = try await vault.secret(of: name) else { return nil }
    let (now, session, device, limits) = (clock.machine(), random.hex(32), random.hex(32), limits)
    return try await database.write { store -> SignIn? in
      let users = UserTable(store: store)
      let step = secret.step(of: code, at: now, after: try users.lastCode(of: name))
      let isSpent =
        if let step { try users.spend(code: step, of: name) } else {
          try users.spend(recoveryCode: secret.hash(ofRecoveryCode: code), of: name)
        }
      guard isSpent else { return nil }
      try SessionTable(store: store, limits: limits).clean()
      try SessionTable(store: store, limits: limits).insert(
        Self.hash(session), of: name, address: origin.address, agent: origin.agent)
      try DeviceTable(store: store).insert(Self.hash(device), of: name, replacing: Self.hash(origin.device))
      try SignInThrottle(store: store).succeed(subjects)
      try OfficeAudit(store).note(
        OfficeAction(name, from: origin.address, "sign-in", subject: name, after: step == nil ? "recovery code" : ""))
      return .accepted(session: session, device: device)
    }
  }

  /// Takes a code of the app from who is signed in, before something that a session alone must not do. As slow as a sign-in
  /// for who guesses.
  package func confirm(_ code: String, of name: String) async throws -> Bool {
    let (secret, now) = (try await vault.secret(of: name), clock.machine())
    return try await database.write { store in
      let (throttle, users) = (SignInThrottle(store: store), UserTable(store: store))
      let subjects = SignInThrottle.confirmation(by: name)
      guard try throttle.admit(subjects),
        let step = secret?.step(of: code, at: now, after: try users.lastCode(of: name)),
        try users.spend(code: step, of: name)
      else { return false }
      try throttle.succeed(subjects)
      return true
    }
  }

  func note(_ action: String, _ name: String, _ address: String, after: String = "") async throws {
    try await database.write {
      try OfficeAudit($0).note(OfficeAction(name, from: address, action, subject: name, after: after))
    }
  }
}

// Sessions.
extension OfficeAccounts {
  /// The session of a cookie, and its user; nil when it is over or the user may not sign in any more.
  package func session(_ token: String) async throws -> (OfficeSession, OfficeUser)? {
    let (hash, now, limits, issuer) = (Self.hash(token), clock.now(), limits, issuer)
    let found = try await database.read { store -> (OfficeSession, OfficeUser)? in
      guard let session = try SessionTable(store: store, limits: limits).live(hash, at: now),
        let user = try UserTable(store: store).find(session.user), user.isEnabled,
        user.issuer == nil || user.issuer == issuer
      else { return nil }
      return (session, user)
    }
    guard let found else { return nil }
    if now.since(found.0.seenAt) >= Self.sightInterval {
      try await database.write { try SessionTable(store: $0, limits: limits).see(hash) }
    }
    return found
  }

  package func sessions(of user: String) async throws -> [OfficeSession] {
    let (now, limits) = (clock.now(), limits)
    return try await database.read { try SessionTable(store: $0, limits: limits).all(of: user, at: now) }
  }

  package func end(_ hash: String, of user: String, _ action: OfficeAction) async throws {
    let limits = limits
    try await database.write { store in
      try SessionTable(store: store, limits: limits).end(hash, of: user)
      try OfficeAudit(store).note(action)
    }
  }
}

/// How a user sets password and codes.
package struct Invitation: Sendable {
  /// At the office's address; works once, for three days.
  package let path: String
  package let isMailed: Bool
}

// Invitations: how a user gets password and codes, and gets them anew.
extension OfficeAccounts {
  /// An invitation of a user whose name is an e-mail address is sent there, and not shown to the administrator.
  func invite(_ name: String, _ action: OfficeAction) async throws -> Invitation {
    let (token, end) = (random.hex(32), clock.now().adding(Self.invitationLife))
    let path = "/invitation/\(token)"
    let user = try await read { try $0.require(name) }
    guard user.isEnabled else {
      throw OfficeRefusal.conflict("\(name) is disabled, and could not sign in with a new password. Enable them first.")
    }
    // Who leaves there would stay here.
    if let issuer = user.issuer {
      throw OfficeRefusal.conflict("\(name) signs in at \(issuer), and gets no password here.")
    }
    let (mail, link) = (try await mail(to: name), url + path)
    try await database.write { store in
      try UserTable(store: store).invite(name, hash: Self.hash(token), until: end)
      try OfficeAudit(store).note(action)
      guard let (address, mail) = mail else { return }
      if user.isEnrolled {
        try mail.resetPassword(of: address, link: link, until: end, in: store)
      } else {
        try mail.invite(address, from: action.actor, link: link, until: end, in: store)
      }
    }
    return Invitation(path: path, isMailed: mail != nil)
  }

  /// Nil where mail is off, for a name that is no e-mail address, and while the store has no key to seal the link under.
  private func mail(to name: String) async throws -> (address: MailAddress, mail: AccountMail)? {
    guard let brand, let address = MailAddress(name), let keys = try await vault.configuration.storeKeys() else {
      return nil
    }
    return (address, AccountMail(brand: brand, keys: keys, random: random))
  }

  /// Who is invited, and the secret for their app, which stays the same until the invitation is accepted.
  package func invitation(_ token: String) async throws -> (name: String, secret: OneTimeCodeSecret)? {
    guard let name = try await read({ try $0.find(invitedBy: Self.hash(token)) }) else { return nil }
    let key = "\(name) \(Self.hash(token).prefix(16))"
    if let known = try await vault.secret(of: key) { return (name, known) }
    return (name, try await vault.keepFirst(OneTimeCodeSecret(random: random), of: key))
  }

  package enum Enrollment: Sendable {
    /// - Parameter device: the token of the browser, for its cookie.
    case done(recoveryCodes: [String], device: String)
    case refused(String, at: String? = nil)
  }

  /// Sets password and codes; ends every session of the user, every passkey, and the invitation. The browser is known from
  /// now on.
  package func enroll(_ token: String, password: String, code: String, from address: String) async throws -> Enrollment
  {
    guard let (name, secret) = try await invitation(token) else {
      return .refused("This invitation is over. Ask an administrator for another.")
    }
    if let objection = PasswordRule.objection(to: password, of: name) { return .refused(objection, at: "password") }
    guard let step = secret.step(of: code, at: clock.machine(), after: 0) else {
      return .refused(
        "This code is not the one of the app. Check the time of its device, and type the next one.", at: "code")
    }
    let hash = try await passwords.run { [cost, random] in try PasswordHash(password, cost: cost, random: random) }
    guard let hash else { return .refused("Too many people sign in at this moment. Try again.") }
    let (codes, device, limits) = (RecoveryCodes.make(random), random.hex(32), limits)
    let hashes = codes.map { secret.hash(ofRecoveryCode: $0) }
    try await vault.keep(secret, of: name)
    let isDone = try await database.write { store in
      guard try UserTable(store: store).spend(invitation: Self.hash(token)) else { return false }
      try UserTable(store: store).enroll(name, hash, lastCode: step, recoveryCodes: hashes)
      try SessionTable(store: store, limits: limits).endAll(of: name)
      try DeviceTable(store: store).removeAll(of: name)
      try PasskeyTable(store: store).removeAll(of: name)
      try DeviceTable(store: store).insert(Self.hash(device), of: name, replacing: "")
      try OfficeAudit(store).note(OfficeAction(name, from: address, "user.enrolled", subject: name))
      return true
    }
    return isDone ? .done(recoveryCodes: codes, device: device) : .refused("This invitation was used.")
  }
}
