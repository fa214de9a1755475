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
    try await addKey(merchant, kind, try limits(kind, scopes, end))
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

  /// Makes a key beside the others of its kind.
  private func addKey(
    _ merchant: String, _ kind: SecretName.Kind, _ asked: APIKeyLimits
  ) async throws -> MerchantAnswer {
    try await makeKey(merchant, kind) { [clock] id, stored, tables in
      guard kind == .apiKey else { return (asked, []) }
      return (try KeysInUse(stored, at: clock.now()).admit(id, asked, in: tables), [])
    }
  }

  /// Makes a key in the place of others of its kind, which end after the overlap.
  ///
  /// - Parameter scopes: whose keys are replaced, of API keys with several sets of scopes; nil for those for everything.
  func rotateKey(
    _ merchant: String, _ kind: SecretName.Kind, _ scopes: Set<APIKeyScope>?, overlap: Duration
  ) async throws -> MerchantAnswer {
    guard kind == .apiKey || scopes == nil else { throw Self.onlyAPIKeysHaveScopes }
    let now = clock.now()
    let end = now.adding(overlap)
    return try await makeKey(merchant, kind) { id, stored, tables in
      var limits = APIKeyLimits.none
      var replaced = stored.secrets.filter { $0.name.kind == kind && !$0.limits.isExpired(at: now) }
      if kind == .apiKey {
        let keys = try KeysInUse(stored, at: now)
        let chosen = try keys.chosen(scopes)
        replaced.removeAll { !chosen.contains($0.name.name) }
        limits = try keys.admit(id, replacing: chosen, in: tables)
      }
      for key in replaced { try tables.replace(key.name, at: end) }
      return (limits, replaced.map { SharedKeyReport($0, until: end) })
    }
  }

  /// - Parameter place: gives the new key its limits, and says which keys it replaces. It gets the merchant as it was
  ///   before keys that have ended were deleted.
  private func makeKey(
    _ merchant: String, _ kind: SecretName.Kind,
    _ place:
      @escaping @Sendable (
        _ id: String, StoredMerchant, MerchantTables
      ) throws -> (limits: APIKeyLimits, replaced: [SharedKeyReport])
  ) async throws -> MerchantAnswer {
    guard SecretName.Kind.shared.contains(kind) else {
      throw MerchantStoreError(.secretMisplaced, "A \(kind.rawValue) is not shared with a merchant.")
    }
    let now = clock.now()
    let (id, secret) = (SharedSecrets.newID(at: now, random), random.hex(32))
    let (limits, replaced) = try await change(merchant, try await storeWithKeys) { tables, owner in
      let stored = try tables.merchant(owner)
      try tables.removeEnded(kind, of: owner)
      let placed = try place(id, stored, tables)
      try tables.keep(secret, as: SecretName(owner, kind, id), within: placed.limits)
      return placed
    }
    let report = SharedKeyReport(
      merchant: merchant, kind: kind, id: id, created: now.description, expires: limits.expiresAt?.description,
      scopes: limits.scopes.map(SharedKeyReport.inOrder), lastUsed: nil, secret: secret)
    var answer = MerchantAnswer(keys: [report])
    answer.replaced = replaced.isEmpty ? nil : replaced
    return answer
  }

  /// - Throws: ``MerchantStoreError`` with `key_limits_invalid` for a limit that the key cannot have.
  private func limits(
    _ kind: SecretName.Kind, _ scopes: Set<APIKeyScope>?, _ expires: String?
  ) throws -> APIKeyLimits {
    guard kind == .apiKey || scopes == nil else { throw Self.onlyAPIKeysHaveScopes }
    guard let expires else { return APIKeyLimits(scopes: scopes) }
    guard let end = Timestamp(rfc3339: expires), end > clock.now() else {
      throw MerchantStoreError(
        .keyLimitsInvalid, "\(expires) is no moment in the future; write it as 2030-01-01T00:00:00Z.")
    }
    return APIKeyLimits(scopes: scopes, expiresAt: end)
  }

  private static let onlyAPIKeysHaveScopes = MerchantStoreError(.keyLimitsInvalid, "Only an API key has scopes.")

  func revokeKey(_ merchant: String, _ kind: SecretName.Kind, _ id: String) async throws -> MerchantAnswer {
    try await change(merchant, try store) { [clock] tables, owner in
      // A key is revoked also where the settings cannot be read.
      if kind == .apiKey, let keys = try? KeysInUse(tables.merchant(owner), at: clock.now()) {
        try keys.forgetLimits(revoking: id, in: tables)
      }
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

  /// - Throws: ``MerchantStoreError`` with `key_limits_invalid` where new limits give no end to a key that the present
  ///   ones have ended, or that a rotation ends: it would be accepted for good.
  static func require(_ new: [NamedKeyLimits], keepEndsOf stored: StoredMerchant, _ now: Timestamp) throws {
    let present = (try? MerchantSettings(yaml: stored.settings, of: stored.id.rawValue))?.apiKeyLimits ?? []
    let kept = stored.apiKeyLimits
    let revived = present.filter { named in
      (named.replacedUntil != nil || named.limits.isExpired(at: now)) && kept[named.id] != nil
        && !new.contains { $0.id == named.id && $0.limits.expiresAt != nil }
    }
    guard let first = revived.first else { return }
    throw MerchantStoreError(
      .keyLimitsInvalid,
      "\(revived.map(\.id).joined(separator: ", ")) would be accepted for good: apiKeyLimits alone ends it. Revoke it "
        + "first (tender secret revoke \(first.id) --merchant \(stored.id) --kind api), or keep “\(first.text)”.")
  }

  func keys(of merchant: String?) async throws -> MerchantAnswer {
    if let merchant, isDeclared(merchant) {
      return MerchantAnswer(
        keys: [],
        notes: [
          "\(merchant) is declared by the folder \(configuration.merchantsDirectory)/\(merchant): its keys are the files "
            + "of api-keys, webhook-keys and callback-keys there"
        ])
    }
    let now = clock.now()
    let reports = try await storedMerchants(only: merchant, at: now).flatMap { stored in
      // Those of the settings count too, where they can be read.
      let limits = (try? KeysInUse(stored, at: now))?.limits ?? stored.apiKeyLimits
      return stored.secrets.filter { $0.name.kind != .certificateKey }.map { secret in
        SharedKeyReport(secret, within: secret.name.kind == .apiKey ? limits[secret.name.name] : nil)
      }
    }
    return MerchantAnswer(keys: reports)
  }
}

/// The API keys of a merchant of the store, with what the store and the settings let each of them do.
///
/// A new key may do at most what the operator's settings give the keys in place, which have neither ended nor been
/// replaced, or, where none is in place, those that were in place last. It has no limit where the settings leave out
/// one of these.
private struct KeysInUse {
  let stored: StoredMerchant
  let settings: MerchantSettings
  /// By the id of a key that the store has or the settings name.
  let limits: [String: APIKeyLimits]
  /// Those that the store keeps with its keys, apart from keys that have ended there.
  private let kept: [String: APIKeyLimits]
  /// Those of which another took the place, and which end.
  private let replaced: Set<String>
  /// Those that have not ended, and of which no other took the place. They are in place, or were revoked.
  private let current: Set<String>

  init(_ stored: StoredMerchant, at now: Timestamp) throws {
    let settings = try MerchantSettings(yaml: stored.settings, of: stored.id.rawValue)
    let limits = stored.apiKeyLimits.merging(settings.apiKeyLimits.map { ($0.id, $0.limits) }) { $0.both($1) }
    let ended = stored.secrets.filter { $0.name.kind == .apiKey && $0.isReplaced }.map(\.name.name)
    let replaced = Set(ended + settings.apiKeyLimits.filter { $0.replacedUntil != nil }.map(\.id))
    (self.stored, self.settings, self.limits, self.replaced) = (stored, settings, limits, replaced)
    kept = stored.apiKeyLimits.filter { !$0.value.isExpired(at: now) }
    current = Set(limits.filter { !$0.value.isExpired(at: now) }.keys).subtracting(replaced)
  }

  private var inPlace: Set<String> { current.intersection(kept.keys) }

  /// The keys in place, or those that were in place last: revoked, ended or, at the earliest, replaced.
  private var counting: Set<String> {
    let all = Set(limits.keys)
    return [inPlace, current, lastEnded(all.subtracting(replaced))].first { !$0.isEmpty } ?? lastEnded(all)
  }

  private func lastEnded(_ keys: Set<String>) -> Set<String> {
    let last = keys.compactMap { limits[$0]?.expiresAt }.max()
    return keys.filter { limits[$0]?.expiresAt == last }
  }

  /// What a key may do by itself. The end that a rotation gave it is no limit of its successor.
  private func own(_ key: String) -> APIKeyLimits {
    var own = kept[key] ?? .none
    if replaced.contains(key) { own.expiresAt = nil }
    return own.both(settings.apiKeyLimits.first { $0.id == key }?.own ?? .none)
  }

  /// The keys that a rotation replaces: all that have one set of scopes.
  ///
  /// - Parameter wanted: nil for the keys for everything or, where there are none, for those of the only set.
  /// - Throws: ``MerchantStoreError`` with `key_limits_invalid` where no set, or one of several, could be meant.
  func chosen(_ wanted: Set<APIKeyScope>?) throws -> Set<String> {
    let sets = Set(counting.map { limits[$0]?.scopes })
    var scopes = wanted
    if !sets.contains(wanted), let only = sets.first {
      guard wanted == nil, sets.count == 1 else { throw Self.unclear(sets, at: stored.id) }
      scopes = only
    }
    return Set(limits.keys.filter { limits[$0]?.scopes == scopes })
  }

  private static func unclear(_ sets: Set<Set<APIKeyScope>?>, at merchant: MerchantID) -> MerchantStoreError {
    let options = sets.map { scopes in
      guard let scopes else { return "no --scope, for those that may do everything" }
      return SharedKeyReport.inOrder(scopes).map { "--scope \($0.rawValue)" }.joined(separator: " ")
    }
    return MerchantStoreError(
      .keyLimitsInvalid,
      "A rotation replaces the API keys of one set of scopes. Those of \(merchant) have: "
        + options.sorted().joined(separator: "; ") + ".")
  }

  /// Gives a new API key what the operator's settings ask of the merchant's others: where they name each key that
  /// counts, they name this one too.
  ///
  /// - Parameters:
  ///   - asked: the limits of a key beside the others; nil for one that follows those that it replaces.
  ///   - chosen: the keys that it replaces; nil for a key beside the others.
  /// - Returns: the limits to keep with it.
  /// - Throws: ``MerchantStoreError`` with `key_limits_invalid` where it asks for more than the settings allow.
  func admit(
    _ id: String, _ asked: APIKeyLimits? = nil, replacing chosen: Set<String>? = nil, in tables: MerchantTables
  ) throws -> APIKeyLimits {
    let named = settings.apiKeyLimits
    let followed = chosen.map { counting.intersection($0) } ?? counting
    let bounds = named.filter { followed.contains($0.id) }.map(\.own)
    let bound = bounds.count == followed.count ? APIKeyLimits.union(bounds) : .none
    let there = followed.intersection(kept.keys)
    let granted = try asked.map { try $0.within(bound) } ?? (there.isEmpty ? bound : .union(there.map(own)))
    let digests = settings.keysRequiringDigest
    try write(
      limits: bound == .none ? nil : named.filter { kept[$0.id] != nil } + [NamedKeyLimits(id: id, own: bound)],
      digests: digests.isEmpty ? nil : digests.filter { kept[$0] != nil } + [id], in: tables)
    return granted
  }

  /// Deletes the limits of keys that are gone, so that a later key does not get them. Those of the last key in place
  /// stay, for the next one.
  func forgetLimits(revoking id: String, in tables: MerchantTables) throws {
    guard stored.apiKeyLimits[id] != nil, !inPlace.isEmpty else { return }
    let named = settings.apiKeyLimits
    let left = named.filter { stored.apiKeyLimits[$0.id] != nil && ($0.id != id || inPlace == [id]) }
    if left != named { try write(limits: left, in: tables) }
  }

  /// - Parameters:
  ///   - limits: nil to leave the setting as it is; so are `digests`.
  private func write(limits: [NamedKeyLimits]?, digests: [String]? = nil, in tables: MerchantTables) throws {
    guard limits != nil || digests != nil else { return }
    let table = SettingsTable.merchant
    var values = try table.yaml(stored.settings, of: stored.id.rawValue).values
    for (setting, texts) in [("apiKeyLimits", limits?.map(\.text)), ("requireContentDigest", digests)] {
      guard let texts else { continue }
      values[setting] = WrittenValue(.list(texts.map { .text($0) }), place: setting)
    }
    try tables.update(stored.id, settings: table.document(SettingsSource(values: values)), after: stored.version)
  }
}

extension SharedKeyReport {
  /// - Parameter limits: nil for those that the store keeps with it.
  fileprivate init(_ secret: StoredSecret, within limits: APIKeyLimits? = nil, until end: Timestamp? = nil) {
    let limits = limits ?? secret.limits
    self.init(
      merchant: secret.name.merchant.rawValue, kind: secret.name.kind, id: secret.name.name,
      created: secret.createdAt.description,
      expires: [limits.expiresAt, end].compactMap(\.self).min()?.description,
      scopes: limits.scopes.map(Self.inOrder), lastUsed: secret.lastUsedAt?.description, secret: nil)
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
