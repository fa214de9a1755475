import Foundation
import MerchantIdentity
import Storage
import TenderPayments

extension ServerConfiguration {
  /// The merchants in a store, with the keys that seal their secrets. The keys are read each time, so that a rotation
  /// needs no restart.
  func merchantStore(_ database: Database, random: RandomBytes = .system) async throws -> MerchantStore {
    MerchantStore(database, keys: try await storeKeys(), random: random)
  }

  /// The merchants' store for a caller that writes secrets: the first key is made when the store holds no secret.
  func merchantStoreMakingKeys(_ database: Database, random: RandomBytes) async throws -> MerchantStore {
    let keys = try await storeKeys()
    guard keys == nil, try await !MerchantStore(database, keys: nil).hasSecrets() else {
      return MerchantStore(database, keys: keys, random: random)
    }
    // Several calls at once seal under one key.
    try PrivateFile.writeFirst(random.hex(32) + "\n", to: storeKeyFile)
    return try await merchantStore(database, random: random)
  }

  /// Nil where there is no key yet.
  func storeKeys() async throws -> MasterKeys? {
    if let storeKey { return try MasterKeys(storeKey) }
    if let storeKeyCommand { return try MasterKeys(try await KeyCommand(storeKeyCommand).output()) }
    guard FileManager.default.fileExists(atPath: storeKeyFile) else { return nil }
    return try MasterKeys(try MerchantFolder.secretText(storeKeyFile))
  }
}
