import Crypto
import Storage
package import StrictJSON
import TenderPayments

// Passkeys: how a user adds them, and signs in with them.
extension OfficeAccounts {
  package func passkeys(of user: String) async throws -> [Passkey] {
    try await database.read { try PasskeyTable(store: $0).all(of: user) }
  }

  /// What a browser passes to `navigator.credentials.get`.
  ///
  /// - Parameters:
  ///   - token: of the browser, which alone may answer.
  /// - Returns: nil where too many sign-ins begin at this address.
  package func signInOptions(to token: String, at address: String) async throws -> JSONValue? {
    guard let relyingParty else { throw Self.noPasskeys }
    let challenge = random.next(32)
    let isAdmitted = try await database.write { store in
      guard try SignInThrottle(store: store).admit(SignInThrottle.beginning(from: address)) else { return false }
      try ChallengeTable(store: store).insert(Self.hash(challenge), for: .signIn, of: Self.hash(token))
      return true
    }
    guard isAdmitted else { return nil }
    return [
      "challenge": .string(Base64URL.encode(challenge)), "rpId": .string(relyingParty.id),
      "userVerification": "required", "timeout": .integer(Self.timeout), "allowCredentials": [],
    ]
  }

  /// What a browser passes to `navigator.credentials.create`.
  ///
  /// - Parameter token: of the session, which alone may answer.
  /// - Throws: ``OfficeRefusal`` where the user may have no more.
  package func passkeyOptions(of user: OfficeUser, in token: String) async throws -> JSONValue {
    guard let relyingParty else { throw Self.noPasskeys }
    try Self.requireOwnSignIn(user)
    let (challenge, name) = (random.next(32), user.name)
    let known = try await database.write { store in
      let known = try PasskeyTable(store: store).all(of: name)
      guard known.count < PasskeyTable.most else { throw Self.tooMany }
      try ChallengeTable(store: store).insert(Self.hash(challenge), for: .passkey, of: Self.holder(token, name))
      return known
    }
    return [
      "challenge": .string(Base64URL.encode(challenge)),
      "rp": ["id": .string(relyingParty.id), "name": "Tender"],
      "user": [
        "id": .string(known.first?.handle ?? Self.handle(challenge)), "name": .string(user.name),
        "displayName": .string(user.name),
      ],
      "pubKeyCredParams": [["type": "public-key", "alg": .integer(-7)]],
      "authenticatorSelection": [
        "residentKey": "required", "requireResidentKey": true, "userVerification": "required",
      ],
      "attestation": "none", "timeout": .integer(Self.timeout),
      "excludeCredentials": .array(
        known.map { ["type": "public-key", "id": .string($0.credential)] }),
    ]
  }

  /// - Parameter name: as the user calls it.
  /// - Throws: ``PasskeyRefusal``, and ``OfficeRefusal`` for a name that cannot be taken.
  package func addPasskey(
    _ registration: RelyingParty.Registration, named name: String, of user: OfficeUser, in token: String,
    from address: String
  ) async throws {
    guard let relyingParty else { throw Self.noPasskeys }
    try Self.requireOwnSignIn(user)
    guard (1...64).contains(name.count), name.utf8.count <= 256 else {
      throw OfficeRefusal.badRequest("A passkey has a name of 1 to 64 characters.", at: "name")
    }
    let handle = Self.handle(registration.client.challenge)
    try await spend(registration.client.challenge, for: .passkey, of: Self.holder(token, user.name))
    let (made, counter) = try relyingParty.made(registration)
    try await database.write { store in
      let passkeys = PasskeyTable(store: store)
      let known = try passkeys.all(of: user.name)
      guard known.count < PasskeyTable.most else { throw Self.tooMany }
      guard
        try passkeys.insert(
          made, of: user.name, handle: known.first?.handle ?? handle, name: name, counter: counter)
      else { throw OfficeRefusal.conflict("This passkey is known here already.") }
      try OfficeAudit(store).note(
        OfficeAction(user.name, from: address, "passkey.add", subject: user.name, after: name))
    }
  }

  package func removePasskey(_ credential: String, of user: String, from address: String) async throws {
    try await database.write { store in
      guard let name = try PasskeyTable(store: store).remove(credential, of: user) else {
        throw OfficeRefusal.nothing
      }
      try OfficeAudit(store).note(OfficeAction(user, from: address, "passkey.remove", subject: user, before: name))
    }
  }

  /// A passkey that has verified its user counts as password and code.
  ///
  /// - Parameter token: of the browser that was asked.
  /// - Throws: ``PasskeyRefusal``
  package func signIn(
    _ assertion: RelyingParty.Assertion, in token: String, from origin: Origin
  ) async throws -> SignIn {
    guard let relyingParty else { throw Self.noPasskeys }
    try await spend(assertion.client.challenge, for: .signIn, of: Self.hash(token))
    let found = try await database.read { store -> (Passkey, OfficeUser)? in
      guard let passkey = try PasskeyTable(store: store).find(assertion.credential),
        let user = try UserTable(store: store).find(passkey.user)
      else { return nil }
      return (passkey, user)
    }
    do {
      guard let (passkey, user) = found, user.isEnabled, user.isEnrolled, user.issuer == nil,
        Base64URL.encode(assertion.userHandle).utf8.elementsEqual(passkey.handle.utf8)
      else { throw PasskeyRefusal.unknown }
      return try await begin(passkey, try relyingParty.counter(of: assertion, signedBy: passkey.key), origin)
    } catch let refusal as PasskeyRefusal {
      try await note("sign-in.refused", found?.1.name ?? "", origin.address, after: refusal.rawValue)
      throw refusal
    }
  }

  private func begin(_ passkey: Passkey, _ counter: UInt32, _ origin: Origin) async throws -> SignIn {
    let (session, device, limits) = (random.hex(32), random.hex(32), limits)
    let hasBegun = try await database.write { store in
      guard try PasskeyTable(store: store).use(passkey.credential, counter: counter) else { return false }
      try SessionTable(store: store, limits: limits).clean()
      try SessionTable(store: store, limits: limits).insert(
        Self.hash(session), of: passkey.user, address: origin.address, agent: origin.agent)
      try DeviceTable(store: store).insert(Self.hash(device), of: passkey.user, replacing: Self.hash(origin.device))
      try SignInThrottle(store: store).succeed(SignInThrottle.beginning(from: origin.address))
      try OfficeAudit(store).note(
        OfficeAction(
          passkey.user, from: origin.address, "sign-in", subject: passkey.user, after: "passkey \(passkey.name)"))
      return true
    }
    guard hasBegun else { throw PasskeyRefusal.counter }
    return .accepted(session: session, device: device)
  }

  /// Takes a challenge, whatever comes of it afterwards.
  private func spend(_ challenge: [UInt8], for purpose: ChallengeTable.Purpose, of holder: String) async throws {
    let isOurs = try await database.write {
      try ChallengeTable(store: $0).spend(Self.hash(challenge), for: purpose, of: holder)
    }
    guard isOurs else { throw PasskeyRefusal.challenge }
  }

  private static func hash(_ challenge: [UInt8]) -> String { Hex.encode(SHA256.hash(data: challenge)) }
  /// The user's name among authenticators, until one is known: 32 bytes that say nothing of the user.
  private static func handle(_ challenge: [UInt8]) -> String {
    Base64URL.encode(Array(SHA256.hash(data: Array("tender office handle ".utf8) + challenge)))
  }
  private static func holder(_ token: String, _ user: String) -> String { "\(hash(token)) \(user)" }

  /// Milliseconds that a person has at the authenticator.
  private static let timeout: Int64 = 300_000
  private static let noPasskeys = OfficeRefusal.conflict(
    "Browsers have no passkeys at this address of the office: it needs https and a name, or localhost.")
  private static let tooMany = OfficeRefusal.conflict("You have \(PasskeyTable.most) passkeys; remove one first.")

  /// Who signs in at a provider leaves there, and must not stay here.
  private static func requireOwnSignIn(_ user: OfficeUser) throws {
    if let issuer = user.issuer {
      throw OfficeRefusal.conflict("You sign in at \(issuer); add the passkey to your account there.")
    }
  }
}
