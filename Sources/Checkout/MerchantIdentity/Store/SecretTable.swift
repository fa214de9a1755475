import Storage
package import TenderPayments

extension MerchantTables {
  /// Keeps a secret, sealed. One of the same name is replaced.
  ///
  /// - Parameter isReplaced: whether another has taken its place, and given it its end.
  /// - Throws: ``MerchantStoreError`` with `store_key_missing` where the caller has no key; with `secret_misplaced` for a
  ///   merchant's kind of secret that is of no merchant, or one of the platform's that is of a merchant; with
  ///   `merchant_limit` for one too many of a merchant's.
  package func keep(
    _ secret: String, as name: SecretName, within limits: APIKeyLimits = .none, isReplaced: Bool = false
  ) throws {
    guard name.kind.isPlatforms == (name.merchant == SecretName.platform) else {
      throw MerchantStoreError(.secretMisplaced, "\(name): a secret of this kind belongs elsewhere.")
    }
    guard let keys else { throw MasterKeys.missing("(none)") }
    let row = try keys.seal(secret, as: name)
    try remove(name)
    // Later than every other of its kind, also within one commit, because the newest signs.
    let createdAt = name.kind.isPlatforms ? now : max(now, try roomAfterNewest(for: name))
    try store.run(
      """
      INSERT INTO merchant_secrets (
        merchant, kind, name, key_id, nonce, sealed, created_at, expires_at, scopes, replaced)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      """, .text(name.merchant.rawValue), .text(name.kind.rawValue), .text(name.name), .text(row.keyID),
      .blob(row.nonce), .blob(row.sealed), .time(createdAt), .integer(optional: limits.expiresAt?.microseconds),
      .text(optional: limits.text), .integer(optional: isReplaced ? 1 : nil))
  }

  /// Notes when an API key was used last. A key that is not in the store is a declared merchant's.
  package func setUsed(_ name: SecretName, at time: Timestamp) throws {
    try store.run(
      """
      UPDATE merchant_secrets SET last_used_at = $4
      WHERE merchant = $1 AND kind = $2 AND name = $3 AND (last_used_at IS NULL OR last_used_at < $4)
      """, .text(name.merchant.rawValue), .text(name.kind.rawValue), .text(name.name), .time(time))
  }

  /// Whether there was such a secret.
  @discardableResult
  package func remove(_ name: SecretName) throws -> Bool {
    try store.changes(
      "DELETE FROM merchant_secrets WHERE merchant = $1 AND kind = $2 AND name = $3", .text(name.merchant.rawValue),
      .text(name.kind.rawValue), .text(name.name)) == 1
  }

  /// How many of a kind a merchant may have.
  private static let maximumSecrets = 100

  /// - Returns: the first moment after the newest of the kind was made.
  /// - Throws: ``MerchantStoreError`` with `merchant_limit` where no other has room.
  private func roomAfterNewest(for name: SecretName) throws -> Timestamp {
    let row = try store.row(
      """
      SELECT COUNT(*) AS kept, COALESCE(MAX(created_at), 0) AS newest FROM merchant_secrets
      WHERE merchant = $1 AND kind = $2
      """, .text(name.merchant.rawValue), .text(name.kind.rawValue))
    guard try row?.integer("kept") ?? 0 < Self.maximumSecrets else {
      throw Self.limit(Self.maximumSecrets, "secrets of the kind \(name.kind.rawValue)", name.merchant)
    }
    return try row?.time("newest").adding(.microseconds(1)) ?? now
  }

  /// Removes the secrets of a kind that have ended.
  package func removeEnded(_ kind: SecretName.Kind, of id: MerchantID) throws {
    try store.run(
      "DELETE FROM merchant_secrets WHERE merchant = $1 AND kind = $2 AND expires_at <= $3", .text(id.rawValue),
      .text(kind.rawValue), .time(now))
  }

  /// Ends a secret that another replaces, unless it ends earlier.
  package func replace(_ name: SecretName, at end: Timestamp) throws {
    try store.run(
      """
      UPDATE merchant_secrets
      SET replaced = 1, expires_at = CASE WHEN expires_at < $4 THEN expires_at ELSE $4 END
      WHERE merchant = $1 AND kind = $2 AND name = $3
      """, .text(name.merchant.rawValue), .text(name.kind.rawValue), .text(name.name), .time(end))
  }

  /// The ids of the merchant's API keys, those that have expired too.
  package func apiKeys(of id: MerchantID) throws -> Set<String> {
    Set(
      try store.rows(
        "SELECT name FROM merchant_secrets WHERE merchant = $1 AND kind = $2", .text(id.rawValue),
        .text(SecretName.Kind.apiKey.rawValue)
      ).map { try $0.text("name") })
  }

  /// Another merchant that has an API key of this id.
  package func owner(ofAPIKey name: String, but id: MerchantID) throws -> MerchantID? {
    try store.row(
      "SELECT merchant FROM merchant_secrets WHERE kind = $1 AND name = $2 AND merchant <> $3",
      .text(SecretName.Kind.apiKey.rawValue), .text(name), .text(id.rawValue)
    ).map { MerchantID(try $0.text("merchant")) }
  }

  /// Merchants that have been in the store for longer than this one, by the id of an API key that both have.
  package func earlierOwners(ofAPIKeysOf id: MerchantID, at now: Timestamp) throws -> [String: MerchantID] {
    let rows = try store.rows(
      """
      SELECT theirs.name AS name, theirs.merchant AS merchant
      FROM merchant_secrets own
      JOIN merchant_secrets theirs
        ON theirs.kind = own.kind AND theirs.name = own.name AND theirs.merchant <> own.merchant
      JOIN merchants this ON this.id = own.merchant
      JOIN merchants other ON other.id = theirs.merchant
      WHERE own.merchant = $1 AND own.kind = $2 AND (other.created_at, other.id) < (this.created_at, this.id)
        AND (theirs.expires_at IS NULL OR theirs.expires_at > $3)
      """, .text(id.rawValue), .text(SecretName.Kind.apiKey.rawValue), .time(now))
    return Dictionary(
      try rows.map { (try $0.text("name"), MerchantID(try $0.text("merchant"))) }, uniquingKeysWith: { $1 })
  }

  /// A secret by its name, opened; nil where there is none.
  package func secret(_ name: SecretName) throws -> String? {
    let row = try store.row(
      "SELECT * FROM merchant_secrets WHERE merchant = $1 AND kind = $2 AND name = $3", .text(name.merchant.rawValue),
      .text(name.kind.rawValue), .text(name.name))
    guard let row else { return nil }
    let sealed = try SealedText(row)
    guard let keys else { throw MasterKeys.missing(sealed.keyID) }
    return try keys.open(sealed, as: name)
  }

  /// The merchant's secrets, opened, without those that have expired. ``SecretName/platform`` has some too.
  package func secrets(of id: MerchantID, at now: Timestamp) throws -> [StoredSecret] {
    let rows = try store.rows(
      """
      SELECT * FROM merchant_secrets WHERE merchant = $1 AND (expires_at IS NULL OR expires_at > $2)
      ORDER BY kind, created_at, name
      """, .text(id.rawValue), .time(now))
    return try rows.map { row in
      let (name, sealed) = try (SecretName(row), SealedText(row))
      guard let keys else { throw MasterKeys.missing(sealed.keyID) }
      return StoredSecret(
        name: name, text: try keys.open(sealed, as: name), createdAt: try row.time("created_at"),
        limits: try APIKeyLimits(row), isReplaced: (try? row.integer("replaced")) == 1,
        lastUsedAt: try row.timeOrNil("last_used_at"))
    }
  }

  func expiredSecrets(at now: Timestamp) throws -> Int64 {
    try store.row("SELECT COUNT(*) AS expired FROM merchant_secrets WHERE expires_at <= $1", .time(now))?
      .integer("expired") ?? 0
  }
}

// Rotation of the key that seals.
extension MerchantStore {
  /// How many secrets are sealed under each key, by its name.
  package func secretsByKey() async throws -> [String: Int] {
    try await database.read { store in
      try store.rows("SELECT key_id, COUNT(*) AS secrets FROM merchant_secrets GROUP BY key_id ORDER BY key_id")
        .reduce(into: [:]) { $0[try $1.text("key_id")] = Int(try $1.integer("secrets")) }
    }
  }

  /// Seals secrets of former keys under the current one, in one commit. Each row names its key, so that the rotation
  /// may end after any commit and go on later.
  ///
  /// - Returns: how many were sealed anew; 0 when all are.
  package func reseal(atMost limit: Int = 100) async throws -> Int {
    guard let keys else { throw MasterKeys.missing("(none)") }
    return try await database.write { store in
      let rows = try store.rows(
        "SELECT * FROM merchant_secrets WHERE key_id <> $1 ORDER BY merchant, kind, name LIMIT $2",
        .text(keys.current), .integer(Int64(limit)))
      for row in rows { try Self.reseal(row, keys, store) }
      return rows.count
    }
  }

  private static func reseal(_ row: Row, _ keys: MasterKeys, _ store: Transaction) throws {
    let name = try SecretName(row)
    let new = try keys.seal(try keys.open(try SealedText(row), as: name), as: name)
    try store.run(
      """
      UPDATE merchant_secrets SET key_id = $4, nonce = $5, sealed = $6
      WHERE merchant = $1 AND kind = $2 AND name = $3
      """, .text(name.merchant.rawValue), .text(name.kind.rawValue), .text(name.name), .text(new.keyID),
      .blob(new.nonce), .blob(new.sealed))
  }
}

extension SecretName {
  fileprivate init(_ row: Row) throws {
    guard let kind = Kind(rawValue: try row.text("kind")) else { throw StorageError.column("kind") }
    self.init(MerchantID(try row.text("merchant")), kind, try row.text("name"))
  }
}

extension APIKeyLimits {
  fileprivate init(_ row: Row) throws {
    let text = try row.textOrNil("scopes")
    self.init(scopes: text.flatMap(Self.scopes), expiresAt: try row.timeOrNil("expires_at"))
    guard text == nil || scopes != nil else { throw StorageError.column("scopes") }
  }
}

extension SealedText {
  fileprivate init(_ row: Row) throws {
    self.init(keyID: try row.text("key_id"), nonce: try row.blob("nonce"), sealed: try row.blob("sealed"))
  }
}
