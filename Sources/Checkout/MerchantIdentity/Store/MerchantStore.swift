package import Storage
package import TenderPayments

/// The merchants of the store. Every change raises a counter, by which all nodes learn of it.
package struct MerchantStore: Sendable {
  let database: Database
  let keys: MasterKeys?
  let random: RandomBytes

  /// - Parameter keys: nil where no secret is read or written.
  package init(_ database: Database, keys: MasterKeys?, random: RandomBytes = .system) {
    self.database = database
    self.keys = keys
    self.random = random
  }

  package func read<R: Sendable>(_ body: @escaping @Sendable (MerchantTables) throws -> R) async throws -> R {
    try await database.read { try body(MerchantTables($0, keys, random)) }
  }

  /// One durable commit, which raises the revision. An error rolls all of it back. Of several at once, each sees what the
  /// one before it wrote: the revision's row is taken first.
  @discardableResult
  package func write<R: Sendable>(_ body: @escaping @Sendable (MerchantTables) throws -> R) async throws -> R {
    try await database.write { store in
      let tables = MerchantTables(store, keys, random)
      try tables.raiseRevision()
      return try body(tables)
    }
  }

  /// One durable commit that other nodes need not learn of.
  package func note(_ body: @escaping @Sendable (MerchantTables) throws -> Void) async throws {
    try await database.write { store in try body(MerchantTables(store, keys, random)) }
  }

  /// Every merchant that can be read, or only this one, by id, as it is at this moment: secrets that have expired are left out.
  package func merchants(only: MerchantID? = nil, at now: Timestamp) async throws -> [StoredMerchant] {
    try await read { tables in try tables.merchants(only: only, at: now).compactMap { try? $0.get() } }
  }

  /// Whether the store holds a secret, so that a new key must not take the place of a lost one.
  package func hasSecrets() async throws -> Bool {
    try await read { tables in try tables.store.row("SELECT name FROM merchant_secrets LIMIT 1") != nil }
  }

  /// Retires identity certificates that another has replaced this long ago: calls that began with them have ended.
  ///
  /// - Returns: their ids.
  package func retireIdentities(replacedFor age: Duration, at now: Timestamp) async throws -> [String] {
    let moment = now.adding(.zero - age)
    guard try await !read({ try $0.drainedIdentities(before: moment) }).isEmpty else { return [] }
    return try await write { try $0.retireIdentities(replacedBefore: moment) }
  }

  /// What a node compares to learn that merchants have changed: the revision, and how many secrets and
  /// certificates have expired.
  package func fingerprint(at now: Timestamp) async throws -> Fingerprint {
    try await database.read { store in
      let tables = MerchantTables(store, nil, random)
      let expired = try tables.expiredSecrets(at: now) + tables.expiredCertificates(at: now)
      return Fingerprint(revision: try tables.revision(), expired: expired)
    }
  }

  package struct Fingerprint: Sendable, Hashable {
    package let revision: Int64
    let expired: Int64
  }
}

/// The tables of merchants in one transaction of the caller's.
package struct MerchantTables {
  package let store: Transaction
  let keys: MasterKeys?
  let random: RandomBytes

  init(_ store: Transaction, _ keys: MasterKeys?, _ random: RandomBytes) {
    (self.store, self.keys, self.random) = (store, keys, random)
  }

  var now: Timestamp { store.now }

  func revision() throws -> Int64 {
    try store.row("SELECT revision FROM merchant_revision WHERE name = 'merchants'")?.integer("revision") ?? 0
  }

  func raiseRevision() throws {
    try store.run("INSERT INTO merchant_revision (name, revision) VALUES ('merchants', 0) ON CONFLICT DO NOTHING")
    try store.run("UPDATE merchant_revision SET revision = revision + 1 WHERE name = 'merchants'")
  }
}

// Merchants and their domains.
extension MerchantTables {
  /// Every merchant, or only this one, by id; in the place of one whose rows are not what was written, why it cannot be read.
  package func merchants(
    only: MerchantID? = nil, at now: Timestamp
  ) throws -> [Result<StoredMerchant, LeftOutMerchant>] {
    let rows =
      if let only { try store.rows("SELECT id FROM merchants WHERE id = $1", .text(only.rawValue)) } else {
        try store.rows("SELECT id FROM merchants ORDER BY id")
      }
    return try rows.map {
      let id = MerchantID(try $0.text("id"))
      do { return .success(try merchant(id, at: now)) } catch let error as MerchantIdentityError {
        return .failure(LeftOutMerchant(id, error.reason))
      } catch StorageError.column(let name) {
        return .failure(LeftOutMerchant(id, "the store's column \(name) holds what this version cannot read"))
      } catch let error as MerchantStoreError where error.code == .secretNotOpened {
        return .failure(LeftOutMerchant(id, error.reason))
      }
    }
  }

  /// - Throws: ``MerchantStoreError`` with `merchant_unknown`.
  package func merchant(_ id: MerchantID, at now: Timestamp? = nil) throws -> StoredMerchant {
    let row = try requireKnown(id)
    return StoredMerchant(
      id: id, settings: try row.text("settings"), isEnabled: try row.integer("enabled") != 0,
      version: try row.integer("version"), createdAt: try row.time("created_at"),
      changedAt: try row.time("changed_at"), domains: try domains(of: id),
      certificates: try certificates(of: id), secrets: try secrets(of: id, at: now ?? store.now))
  }

  /// - Throws: ``MerchantStoreError`` with `merchant_unknown`.
  @discardableResult
  package func requireKnown(_ id: MerchantID) throws -> Row {
    guard let row = try store.row("SELECT * FROM merchants WHERE id = $1", .text(id.rawValue)) else {
      throw MerchantStoreError(.merchantUnknown, "The store has no merchant \(id); `tender merchant list` shows them.")
    }
    return row
  }

  /// - Throws: ``MerchantStoreError`` with `merchant_exists`.
  package func insert(_ id: MerchantID, settings: String, isEnabled: Bool = true) throws {
    let inserted = try store.changes(
      """
      INSERT INTO merchants (id, settings, enabled, version, created_at, changed_at) VALUES ($1, $2, $3, 1, $4, $4)
      ON CONFLICT DO NOTHING
      """, .text(id.rawValue), .text(settings), .flag(isEnabled), .time(now))
    guard inserted == 1 else {
      throw MerchantStoreError(.merchantExists, "The store has a merchant \(id) already; edit it, or take another id.")
    }
  }

  /// - Parameter version: the version that the change is based on.
  package func update(_ id: MerchantID, settings: String, after version: Int64) throws {
    let changed = try store.changes(
      "UPDATE merchants SET settings = $2, version = version + 1, changed_at = $3 WHERE id = $1 AND version = $4",
      .text(id.rawValue), .text(settings), .time(now), .integer(version))
    guard changed == 1 else {
      throw MerchantStoreError(.merchantChanged, "The merchant \(id) was changed meanwhile; look at it and try again.")
    }
  }

  /// Removes the merchant with its domains, certificates and secrets.
  package func remove(_ id: MerchantID) throws {
    try store.run("DELETE FROM merchant_secrets WHERE merchant = $1", .text(id.rawValue))
    try store.run("DELETE FROM merchant_certificates WHERE merchant = $1", .text(id.rawValue))
    try store.run("DELETE FROM merchant_domains WHERE merchant = $1", .text(id.rawValue))
    try store.run("DELETE FROM merchants WHERE id = $1", .text(id.rawValue))
  }

  /// Switches Apple Pay on or off, for the merchant or for one of its domains.
  package func setEnabled(_ isEnabled: Bool, _ id: MerchantID, domain: Domain? = nil) throws {
    guard let domain else {
      try store.run(
        "UPDATE merchants SET enabled = $2, version = version + 1, changed_at = $3 WHERE id = $1", .text(id.rawValue),
        .flag(isEnabled), .time(now))
      return
    }
    let changed = try store.changes(
      "UPDATE merchant_domains SET enabled = $3 WHERE domain = $1 AND merchant = $2", .text(domain.name),
      .text(id.rawValue), .flag(isEnabled))
    guard changed == 1 else { throw Self.unknown(domain, id) }
  }

  static func unknown(_ domain: Domain, _ id: MerchantID) -> MerchantStoreError {
    MerchantStoreError(.domainNotFound, "The merchant \(id) has no domain \(domain); `tender domain add` adds one.")
  }
}

// Domains.
extension MerchantTables {
  func domains(of id: MerchantID) throws -> [StoredDomain] {
    try store.rows("SELECT * FROM merchant_domains WHERE merchant = $1 ORDER BY domain", .text(id.rawValue)).map {
      row in
      StoredDomain(
        domain: try Domain(try row.text("domain")), isEnabled: try row.integer("enabled") != 0,
        association: try row.blobOrNil("association").map { try DomainAssociation(bytes: $0) },
        registeredAt: try row.timeOrNil("registered_at"), checkedAt: try row.timeOrNil("checked_at"),
        finding: try row.textOrNil("finding"))
    }
  }

  /// How many domains a merchant may have: as many as a folder can name.
  package static let maximumDomains = 300

  static func limit(_ maximum: Int, _ what: String, _ id: MerchantID) -> MerchantStoreError {
    MerchantStoreError(.merchantLimit, "\(id) has \(maximum) \(what), and can have no more; remove one first.")
  }

  /// Adds a domain, or gives one of the merchant's a new association file.
  ///
  /// - Throws: ``MerchantStoreError`` with `domain_taken`: a domain has one merchant; with `merchant_limit` for one too
  ///   many.
  package func insert(_ domain: Domain, of id: MerchantID, association: DomainAssociation?) throws {
    guard try domainNames(of: id).subtracting([domain.name]).count < Self.maximumDomains else {
      throw Self.limit(Self.maximumDomains, "domains", id)
    }
    try store.run(
      "INSERT INTO merchant_domains (domain, merchant, enabled) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING",
      .text(domain.name), .text(id.rawValue))
    let owner = try store.row("SELECT merchant FROM merchant_domains WHERE domain = $1", .text(domain.name))
    guard try owner?.text("merchant") == id.rawValue else {
      throw MerchantStoreError(.domainTaken, "\(domain) belongs to another merchant; a domain has one merchant.")
    }
    guard let association else { return }
    try store.run(
      "UPDATE merchant_domains SET association = $2 WHERE domain = $1", .text(domain.name), .blob(association.bytes))
  }

  /// The merchant's domains, as they are written.
  package func domainNames(of id: MerchantID) throws -> Set<String> {
    Set(
      try store.rows("SELECT domain FROM merchant_domains WHERE merchant = $1", .text(id.rawValue)).map {
        try $0.text("domain")
      })
  }

  package func remove(_ domain: Domain, of id: MerchantID) throws {
    let removed = try store.changes(
      "DELETE FROM merchant_domains WHERE domain = $1 AND merchant = $2", .text(domain.name), .text(id.rawValue))
    guard removed == 1 else { throw Self.unknown(domain, id) }
  }

  package func setRegistered(_ domains: [Domain], of id: MerchantID, at time: Timestamp?) throws {
    for domain in domains {
      try store.run(
        "UPDATE merchant_domains SET registered_at = $3 WHERE domain = $1 AND merchant = $2", .text(domain.name),
        .text(id.rawValue), .integer(optional: time?.microseconds))
    }
  }

  /// Keeps what a check found; nil for nothing.
  package func setChecked(_ domain: Domain, of id: MerchantID, finding: String?) throws {
    try store.run(
      "UPDATE merchant_domains SET checked_at = $3, finding = $4 WHERE domain = $1 AND merchant = $2",
      .text(domain.name), .text(id.rawValue), .time(now), .text(optional: finding))
  }
}

// Where a merchant identifier was used.
extension MerchantTables {
  /// Notes that the identifier is used in this environment.
  ///
  /// - Returns: the others that it was used in.
  package func note(_ identifier: MerchantIdentifier, in environment: Environment) throws -> [Environment] {
    try store.run(
      """
      INSERT INTO merchant_environments (merchant_identifier, environment, first_used_at) VALUES ($1, $2, $3)
      ON CONFLICT DO NOTHING
      """, .text(identifier.text), .text(environment.rawValue), .time(now))
    return try store.rows(
      "SELECT environment FROM merchant_environments WHERE merchant_identifier = $1 ORDER BY environment",
      .text(identifier.text)
    ).compactMap { Environment(rawValue: try $0.text("environment")) }.filter { $0 != environment }
  }
}

extension SQLValue {
  static func flag(_ flag: Bool) -> SQLValue { .integer(flag ? 1 : 0) }
}

extension Row {
  func timeOrNil(_ column: String) throws -> Timestamp? {
    try integerOrNil(column).map(Timestamp.init(microseconds:))
  }
}
