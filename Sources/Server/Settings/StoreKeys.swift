import Foundation
package import MerchantIdentity
package import Storage
package import TenderPayments

extension ServerConfiguration {
  /// The merchants in a store, with the keys that seal their secrets. The keys are read each time, so that a rotation
  /// needs no restart.
  package func merchantStore(_ database: Database, random: RandomBytes = .system) async throws -> MerchantStore {
    MerchantStore(database, keys: try await storeKeys(), random: random)
  }

  /// The merchants' store for a caller that writes secrets: the first key is made when the store holds no secret.
  package func merchantStoreMakingKeys(_ database: Database, random: RandomBytes) async throws -> MerchantStore {
    let keys = try await storeKeys()
    guard keys == nil, try await !MerchantStore(database, keys: nil).hasSecrets() else {
      return MerchantStore(database, keys: keys, random: random)
    }
    // Several calls at once seal under one key.
    try PrivateFile.writeFirst(random.hex(32) + "\n", to: storeKeyFile)
    return try await merchantStore(database, random: random)
  }

  /// Nil where there is no key yet.
  package func storeKeys() async throws -> MasterKeys? {
    if let storeKey { return try MasterKeys(storeKey) }
    if let storeKeyCommand { return try MasterKeys(try await KeyCommand(storeKeyCommand).output()) }
    guard FileManager.default.fileExists(atPath: storeKeyFile) else { return nil }
    return try MasterKeys(try MerchantFolder.secretText(storeKeyFile))
  }

  /// Whether the keys of the store are those of the file ``storeKeyFile``.
  package var usesStoreKeyFile: Bool { storeKey == nil && storeKeyCommand == nil }

  /// The merchants in the store, or why the keys of the store cannot be read or do not open their secrets.
  package func storedMerchants(
    _ database: Database, at now: Timestamp
  ) async throws -> (merchants: [StoredMerchant], problem: String?) {
    do { return (try await merchantStore(database).merchants(at: now), nil) } catch let error as MerchantStoreError {
      return ([], error.reason)
    } catch let error as ConfigurationError { return ([], error.description) }
  }

  /// The merchants in the store of a server that does not run, or why their secrets do not open.
  package func storedMerchants() async throws -> (merchants: [StoredMerchant], problem: String?) {
    try await FolderOwner.asOwner(besides: store.path) {
      if let path = store.path { try StoreFile.check(path) }
      let database = try await Database.open(store, migrations: [])
      do {
        let merchants = try await storedMerchants(database, at: WallClock.system.now())
        await database.close()
        return merchants
      } catch {
        await database.close()
        throw error
      }
    }
  }
}
