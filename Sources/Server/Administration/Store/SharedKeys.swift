import Crypto
import Foundation
import Settings
package import Storage
import TenderPayments

/// Keys that lie in a file of each node and have to be the same on all nodes of a database.
///
/// The first node that starts with a key notes its hash; a node with another key does not start. With a fingerprint key of
/// its own it would take decrypted payment data that another node has taken.
package enum SharedKeys {
  static let migrations = [
    Migration(
      "shared-keys-1",
      """
      CREATE TABLE shared_keys (
        setting TEXT PRIMARY KEY NOT NULL,
        hash TEXT NOT NULL
      );

      """)
  ]

  /// - Parameters:
  ///   - setting: the name of the key's file.
  ///   - key: with all its entropy, so that its hash says nothing of it.
  /// - Throws: ``ConfigurationError`` with `words` when another node uses another key.
  package static func require(
    _ setting: String, _ key: [UInt8], in database: Database,
    orElse words: String =
      "this node's key is not that of the other nodes; copy the file from one of them, see docs/postgres.md"
  ) async throws {
    let hash = hash(setting, key)
    let known = try await database.write { store in
      try store.run(
        "INSERT INTO shared_keys (setting, hash) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(setting), .text(hash))
      return try store.row("SELECT hash FROM shared_keys WHERE setting = $1", .text(setting))?.text("hash")
    }
    guard known == hash else { throw ConfigurationError(setting, words) }
  }

  /// Lets the next node bring another key.
  static func forget(_ setting: String, in store: Transaction) throws {
    try store.run("DELETE FROM shared_keys WHERE setting = $1", .text(setting))
  }

  /// Whether a node has started with such a key.
  static func has(_ setting: String, in database: Database) async throws -> Bool {
    try await database.read { try $0.row("SELECT hash FROM shared_keys WHERE setting = $1", .text(setting)) != nil }
  }

  /// Whether it is the key that the nodes use; nil where none has noted one.
  static func isKnown(_ setting: String, _ key: [UInt8], in database: Database) async throws -> Bool? {
    let known = try await database.read {
      try $0.row("SELECT hash FROM shared_keys WHERE setting = $1", .text(setting))?.text("hash")
    }
    return known.map { $0 == hash(setting, key) }
  }

  /// Notes the key with which a store is served, for who restores its backup.
  ///
  /// - Parameter replaces: whether it takes the place of one that is noted.
  static func note(_ setting: String, _ key: [UInt8], replaces: Bool, in store: Transaction) throws {
    try store.run(
      "INSERT INTO shared_keys (setting, hash) VALUES ($1, $2) ON CONFLICT "
        + (replaces ? "(setting) DO UPDATE SET hash = excluded.hash" : "DO NOTHING"),
      .text(setting), .text(hash(setting, key)))
  }

  private static func hash(_ setting: String, _ key: [UInt8]) -> String {
    Hex.encode(SHA256.hash(data: Array("tender shared key \(setting)\n".utf8) + key))
  }
}
