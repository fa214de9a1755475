import Settings
import Storage
import TenderPayments

// Signing in at a provider.
extension OfficeAccounts {
  /// For how long a sign-in at the provider may take.
  package static let providerPatience = ChallengeTable.life

  /// Where the provider sends the browser back to.
  package static let callbackPath = "/sign-in/openid/callback"

  /// Begins a sign-in at the provider.
  ///
  /// - Returns: where the browser goes, and what it keeps until it comes back.
  /// - Throws: ``OpenIDRefusal``
  package func begin(
    at provider: OpenIDProvider, from address: String
  ) async throws -> (location: String, secret: String) {
    let attempt = OpenIDAttempt(secret: random.hex(32))
    let isAdmitted = try await database.write { store in
      guard try SignInThrottle(store: store).admit(SignInThrottle.beginning(from: address)) else { return false }
      try ChallengeTable(store: store).insert(Self.hash(attempt.secret), for: .provider, of: "")
      return true
    }
    guard isAdmitted else { throw OpenIDRefusal.throttled }
    return (try await provider.address(of: attempt, returningTo: url + Self.callbackPath), attempt.secret)
  }

  /// What a provider answers by way of the browser.
  package struct ProviderAnswer: Sendable {
    let code: String?
    let state: String
    /// Whose answer it is; nil where it does not say.
    let issuer: String?

    /// - Parameter code: nil where the provider has refused.
    package init(code: String?, state: String, issuer: String?) {
      (self.code, self.state, self.issuer) = (code, state, issuer)
    }
  }

  /// - Parameter secret: what the browser has kept.
  /// - Returns: the token of the new session.
  /// - Throws: ``OpenIDRefusal``
  package func signIn(
    _ answer: ProviderAnswer, keeping secret: String, at provider: OpenIDProvider, from origin: Origin
  ) async throws -> String {
    let attempt = OpenIDAttempt(secret: secret)
    guard attempt.state.utf8.isEqualInConstantTime(to: answer.state.utf8),
      try await database.write({
        try ChallengeTable(store: $0).spend(Self.hash(secret), for: .provider, of: "")
      })
    else { throw OpenIDRefusal.state }
    var token: IDToken?
    do {
      guard let code = answer.code else { throw OpenIDRefusal.denied }
      let redeemed = try await provider.redeem(
        code, from: answer.issuer, attempt, returningTo: url + Self.callbackPath)
      token = redeemed
      return try await begin(redeemed, at: provider, origin)
    } catch let refusal as OpenIDRefusal {
      try await note(
        "sign-in.refused", token.map(Self.actor) ?? provider.issuer, origin.address, after: refusal.rawValue)
      throw refusal
    }
  }

  /// Makes the session, and the user before at the first time. Roles are those of the token, each time anew.
  private func begin(_ token: IDToken, at provider: OpenIDProvider, _ origin: Origin) async throws -> String {
    let grants = Self.grants(of: token, by: provider.configuration)
    guard !grants.isEmpty else { throw OpenIDRefusal.role }
    let (session, limits) = (random.hex(32), limits)
    let maximumAge = provider.configuration.maximumAgeHours.map { Duration.seconds($0 * 3_600) }
    // The provider dates by the machine's clock; a session ends by the office's, which a simulation may have moved on.
    let end = maximumAge.flatMap { age in
      token.signedInAt.map { clock.now().adding(age - clock.machine().since($0)) }
    }
    let hasBegun = try await database.write { store in
      // Before the user's rows, as who changes a user does.
      try OfficeAudit(store).lock()
      let user = try Self.user(token, grants, origin, store)
      guard user.isEnabled else { return false }
      try SessionTable(store: store, limits: limits).clean()
      try SessionTable(store: store, limits: limits).insert(
        Self.hash(session), of: user.name, address: origin.address, agent: origin.agent, until: end)
      try SignInThrottle(store: store).succeed(SignInThrottle.beginning(from: origin.address))
      try OfficeAudit(store).note(
        OfficeAction(user.name, from: origin.address, "sign-in", subject: user.name, after: "at \(token.issuer)"))
      return true
    }
    guard hasBegun else { throw OpenIDRefusal.disabled }
    return session
  }

  /// The user who is this person, with the roles of the token. Whoever is known here by a password is another user, also
  /// under the same e-mail address: the provider's word does not open what was set up without it.
  private static func user(
    _ token: IDToken, _ grants: [Grant], _ origin: Origin, _ store: Transaction
  ) throws -> OfficeUser {
    let users = UserTable(store: store)
    let after = OfficeUser.text(grants, .none)
    guard let known = try users.find(token.subject, at: token.issuer) else {
      let name = try name(of: token, users)
      try users.insert(name, grants, .none)
      try users.identify(name, as: token.subject, at: token.issuer)
      try OfficeAudit(store).note(
        OfficeAction(
          name, from: origin.address, "user.add", subject: name, after: after, reason: "signed in at \(token.issuer)"))
      return try users.require(name)
    }
    guard known.isEnabled, Set(known.grants) != Set(grants) else { return known }
    try users.set(grants, of: known.name)
    try OfficeAudit(store).note(
      OfficeAction(
        known.name, from: origin.address, "user.change", subject: known.name,
        before: OfficeUser.text(known.grants, .none), after: after, reason: "roles at \(token.issuer)"))
    return known
  }

  /// The verified e-mail address where it is a name that nobody has; else a name that follows from who it is.
  private static func name(of token: IDToken, _ users: UserTable) throws -> String {
    if let email = token.email?.lowercased(), OfficeUser.isName(email), try users.find(email) == nil { return email }
    return actor(token)
  }

  private static func actor(_ token: IDToken) -> String {
    "openid-" + hash("\(token.issuer.utf8.count):\(token.issuer)\(token.subject)").prefix(20)
  }

  private static func grants(of token: IDToken, by configuration: OpenIDConfiguration) -> [Grant] {
    let values = token.values(of: configuration.roleClaim)
    let mapped = configuration.roles.filter { role in
      values.contains { $0.utf8.elementsEqual(role.value.utf8) }
    }
    let all = mapped.flatMap { mapped -> [Grant] in
      guard let role = Role(rawValue: mapped.role) else { return [] }
      return mapped.merchants.isEmpty ? [Grant(role)] : mapped.merchants.map { Grant(role, of: $0) }
    }
    // One at each merchant, the highest.
    return Dictionary(grouping: all, by: \.merchant).compactMap { merchant, grants in
      grants.map(\.role).max().map { Grant($0, of: merchant) }
    }
  }
}
