import Foundation
import MerchantIdentity
import Storage
import TenderPayments

extension ServerConfiguration {
  /// The merchants in a store, with the keys that seal their secrets. The keys are read each time, so that a rotation
  /// needs no restart.
  func merchantStore(_ database: Database, random: RandomBytes = .system) throws -> MerchantStore {
    MerchantStore(database, keys: try storeKeys(), random: random)
  }

  /// The same, for a caller that writes secrets: the first key is made when the store holds no secret.
  func merchantStoreMakingKeys(_ database: Database, random: RandomBytes) async throws -> MerchantStore {
    if try storeKeys() == nil, try await !MerchantStore(database, keys: nil).hasSecrets() {
      // Of several calls at once, all seal under the same key.
      try PrivateFile.writeFirst(random.hex(32) + "\n", to: storeKeyFile)
    }
    return try merchantStore(database, random: random)
  }

  /// Nil where there is no key yet.
  func storeKeys() throws -> MasterKeys? {
    if let storeKey { return try MasterKeys(storeKey) }
    if let storeKeyCommand { return try MasterKeys(try Self.output(of: storeKeyCommand)) }
    guard FileManager.default.fileExists(atPath: storeKeyFile) else { return nil }
    return try MasterKeys(try MerchantFolder.secretText(storeKeyFile))
  }

  private static func output(of command: String) throws -> String {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.standardOutput = pipe
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0, let text = String(bytes: bytes, encoding: .utf8) else {
      throw ConfigurationError(
        "secrets.keyCommand", "the command ended with \(process.terminationStatus); it must print the keys")
    }
    return text
  }
}
