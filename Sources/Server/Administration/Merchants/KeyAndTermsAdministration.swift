import Mail
import MerchantIdentity
import Settings
import Storage
import TenderPayments

// Keys that Tender shares with a merchant's server, and those of the store.
extension MerchantAdministration {
  func addKey(
    _ merchant: String, _ kind: SecretName.Kind, _ scopes: Set<APIKeyScope>?, until end: String?
  ) async throws -> MerchantAnswer {
    try await addKey(merchant, kind, try limits(kind, scopes, end), overlap: nil)
  }

  func rotateKey(
    _ merchant: String, _ kind: SecretName.Kind, overlap: Duration
  ) async throws -> MerchantAnswer {
    try await addKey(merchant, kind, nil, overlap: overlap)
  }

  func countSealed() async throws -> MerchantAnswer {
    let mails = try await database.read { try MailOutbox.sealedByKey(in: $0) }
    return MerchantAnswer(sealed: try await store.secretsByKey().merging(mails, uniquingKeysWith: +))
  }

  func reseal() async throws -> MerchantAnswer {
    var isLeft = true
    while isLeft { isLeft = try await resealPart() > 0 }
    return try await countSealed()
  }

  // Swift 6.3 crashes in a release build if this becomes a part of the loop.
  @inline(never)
  private func resealPart() async throws -> Int {
    let secrets = try await store.reseal()
    return try await secrets + resealMail()
  }

  /// - Returns: how many waiting messages were sealed anew.
  private func resealMail() async throws -> Int {
    guard let keys = try await configuration.storeKeys() else { return 0 }
    return try await database.write { try MailOutbox.reseal(keys, in: $0) }
  }

  /// - Parameters:
  ///   - asked: nil for the limits of the other keys.
  ///   - overlap: how long the other keys go on; nil for as long as they would.
  private func addKey(
    _ merchant: String, _ kind: SecretName.Kind, _ asked: APIKeyLimits?, overlap: Duration?
  ) async throws -> MerchantAnswer {
    // Ids ascend with time, because in an exported folder the webhook key whose id comes last signs.
    let id =
      Hex.encode(withUnsafeBytes(of: UInt32(truncatingIfNeeded: clock.now().seconds).bigEndian, Array.init))
      + random.hex(4)
    guard SecretName.Kind.shared.contains(kind) else {
      throw MerchantStoreError(.secretMisplaced, "A \(kind.rawValue) is not shared with a merchant.")
    }
    let (secret, now) = (random.hex(32), clock.now())
    let limits = try await change(merchant, try await storeWithKeys) { tables, owner in
      try tables.removeEnded(kind, of: owner)
      let limits = kind == .apiKey ? try Self.admit(id, asked, of: owner, in: tables) : asked ?? .none
      try tables.keep(secret, as: SecretName(owner, kind, id), within: limits)
      if let overlap { try tables.expire(kind, of: owner, but: id, at: now.adding(overlap)) }
      return limits
    }
    let report = SharedKeyReport(
      merchant: merchant, kind: kind, id: id, created: now.description, expires: limits.expiresAt?.description,
      scopes: limits.scopes.map(SharedKeyReport.inOrder), lastUsed: nil, secret: secret)
    return MerchantAnswer(keys: [report])
  }

  /// Gives a new API key what the operator's settings ask of the merchant's others, so that it is no way around them:
  /// where they name every other key, they name this one too.
  ///
  /// - Parameter asked: the limits of a key beside the others; nil for one that follows them all.
  /// - Returns: the limits to keep with it.
  /// - Throws: ``MerchantStoreError`` with `key_limits_invalid` where it asks for more than the settings allow.
  private static func admit(
    _ id: String, _ asked: APIKeyLimits?, of owner: MerchantID, in tables: MerchantTables
  ) throws -> APIKeyLimits {
    let (table, stored) = (SettingsTable.merchant, try tables.merchant(owner))
    let settings = try MerchantSettings(yaml: stored.settings, of: owner.rawValue)
    let (named, kept) = (settings.apiKeyLimits, stored.apiKeyLimits)
    let limits = kept.merging(named.map { ($0.id, $0.limits) }) { $0.both($1) }
    // Once the last key is revoked, the limits of those that are gone hold for the next one.
    let counting = kept.isEmpty ? named : named.filter { kept[$0.id] != nil }
    let isBound = kept.keys.allSatisfy { key in named.contains { $0.id == key } }
    let bound = isBound ? .union(counting.map(\.limits)) : APIKeyLimits.none
    let granted =
      try asked.map { try $0.within(bound) } ?? (kept.isEmpty ? bound : .union(kept.keys.compactMap { limits[$0] }))
    var values = try table.yaml(stored.settings, of: owner.rawValue).values
    func name(_ setting: String, _ texts: [String]) {
      values[setting] = WrittenValue(.list(texts.map { .text($0) }), place: setting)
    }
    let digests = settings.keysRequiringDigest
    if !digests.isEmpty { name("requireContentDigest", digests.filter { kept[$0] != nil } + [id]) }
    if bound != .none {
      let others = named.filter { kept[$0.id] != nil }
      name("apiKeyLimits", (others + [NamedKeyLimits(id: id, limits: bound)]).map(\.text))
    }
    if bound != .none || !digests.isEmpty {
      try tables.update(owner, settings: table.document(SettingsSource(values: values)), after: stored.version)
    }
    return granted
  }

  /// - Throws: ``MerchantStoreError`` with `key_limits_invalid` for a limit that the key cannot have.
  private func limits(
    _ kind: SecretName.Kind, _ scopes: Set<APIKeyScope>?, _ expires: String?
  ) throws -> APIKeyLimits {
    guard kind == .apiKey || scopes == nil else {
      throw MerchantStoreError(.keyLimitsInvalid, "Only an API key has scopes.")
    }
    guard let expires else { return APIKeyLimits(scopes: scopes) }
    guard let end = Timestamp(rfc3339: expires), end > clock.now() else {
      throw MerchantStoreError(
        .keyLimitsInvalid, "\(expires) is no moment in the future; write it as 2030-01-01T00:00:00Z.")
    }
    return APIKeyLimits(scopes: scopes, expiresAt: end)
  }

  func revokeKey(_ merchant: String, _ kind: SecretName.Kind, _ id: String) async throws -> MerchantAnswer {
    try await change(merchant, try store) { tables, owner in
      guard try tables.remove(SecretName(owner, kind, id)) else {
        let others = SecretName.Kind.shared.filter { $0 != kind }
        let known = try tables.merchant(owner).secrets.first { others.contains($0.name.kind) && $0.name.name == id }
        throw MerchantStoreError(
          .secretUnknown,
          "\(merchant) has no \(kind.rawValue) \(id); "
            + (known.map { "it is a \($0.name.kind.rawValue): say --kind \($0.name.kind.rawValue.dropLast(4))." }
              ?? "`tender secret list` shows them."))
      }
    }
    return try await keys(of: merchant)
  }

  func keys(of merchant: String?) async throws -> MerchantAnswer {
    let all = try await storedMerchants(only: merchant, at: clock.now())
    let shared = all.flatMap(\.secrets).filter { $0.name.kind != .certificateKey }
    return MerchantAnswer(keys: shared.map(SharedKeyReport.init))
  }
}

extension SharedKeyReport {
  fileprivate init(_ secret: StoredSecret) {
    self.init(
      merchant: secret.name.merchant.rawValue, kind: secret.name.kind, id: secret.name.name,
      created: secret.createdAt.description, expires: secret.limits.expiresAt?.description,
      scopes: secret.limits.scopes.map(Self.inOrder), lastUsed: secret.lastUsedAt?.description, secret: nil)
  }

  fileprivate static func inOrder(_ scopes: Set<APIKeyScope>) -> [APIKeyScope] {
    APIKeyScope.allCases.filter(scopes.contains)
  }
}

// Terms. Declared merchants accept them too: what they said is no part of their folder.
extension MerchantAdministration {
  /// - Parameter grace: how many seconds merchants have to accept it.
  func publishTerms(_ version: String, _ wording: String, grace: Int64) async throws -> MerchantAnswer {
    let end = clock.now().adding(.seconds(grace))
    try await store.write { try $0.publish(version, wording: wording, requiredAt: end) }
    return try await terms(of: nil)
  }

  func note(
    _ kind: TermsEvent.Kind, _ version: String?, _ merchant: String, _ actor: String
  ) async throws -> MerchantAnswer {
    let isDeclared = isDeclared(merchant)
    try await store.write { tables in
      if !isDeclared { _ = try tables.merchant(MerchantID(merchant)) }
      try tables.note(kind, version: version, of: MerchantID(merchant), by: actor)
    }
    return try await terms(of: merchant)
  }

  func terms(of merchant: String?) async throws -> MerchantAnswer {
    let only = merchant.map { MerchantID($0) }
    let (current, events) = try await store.read { tables in
      let events = try only.map { [$0: try tables.termsEvents(of: $0)] } ?? tables.termsEvents()
      return (try tables.publishedTerms().last, events)
    }
    let shown = events.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { id, events in
      events.map { TermsReport.Event($0, of: id) }
    }
    return MerchantAnswer(
      terms: TermsReport(
        version: current?.version, wording: current?.wording, published: current?.publishedAt.description,
        required: current?.requiredAt.description, events: shown))
  }
}

extension TermsReport.Event {
  fileprivate init(_ said: TermsEvent, of id: MerchantID) {
    (merchant, event, version) = (id.rawValue, said.kind, said.version)
    (actor, at) = (said.actor, said.happenedAt.description)
  }
}
