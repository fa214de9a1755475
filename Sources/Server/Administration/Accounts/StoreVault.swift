import MerchantIdentity
package import Settings
package import Storage
package import TenderPayments

/// Keeps the secrets of one-time codes among the sealed secrets of the store, so that the rotation of the store's key
/// takes them along.
package struct StoreVault: Sendable {
  let configuration: ServerConfiguration
  let database: Database
  let random: RandomBytes

  package init(configuration: ServerConfiguration, database: Database, random: RandomBytes) {
    self.configuration = configuration
    self.database = database
    self.random = random
  }

  package func secret(of user: String) async throws -> OneTimeCodeSecret? {
    let store = try await configuration.merchantStore(database, random: random)
    return try await store.read { try $0.secret(Self.name(user)) }.flatMap(OneTimeCodeSecret.init(hex:))
  }

  package func keep(_ secret: OneTimeCodeSecret, of user: String) async throws {
    let (store, text) = (
      try await configuration.merchantStoreMakingKeys(database, random: random), secret.sealedText
    )
    try await store.note { try $0.keep(text, as: Self.name(user)) }
  }

  /// Keeps a secret where there is none.
  ///
  /// - Returns: the one that is kept, of several callers at once the first one's.
  package func keepFirst(_ secret: OneTimeCodeSecret, of user: String) async throws -> OneTimeCodeSecret {
    let store = try await configuration.merchantStoreMakingKeys(database, random: random)
    do {
      try await store.note { tables in
        guard try tables.secret(Self.name(user)) == nil else { return }
        try tables.keep(secret.sealedText, as: Self.name(user))
      }
    } catch StorageError.unique {}
    return try await self.secret(of: user) ?? secret
  }

  private static func name(_ user: String) -> SecretName { SecretName(MerchantID(""), .oneTimeCode, user) }
}
