import Settings
import Storage

/// The keys that seal shoppers' contacts, which belong to one store.
enum ContactKeys {
  private static let setting = "contacts.keyFile"

  /// Whether contacts may be sealed in the store.
  static func areNeeded(by database: Database) async throws -> Bool {
    try await SharedKeys.has(setting, in: database)
  }

  /// Lets the next server make new keys.
  static func forget(in store: Transaction) throws { try SharedKeys.forget(setting, in: store) }

  /// Reads the keys of a store; those of a new store are made.
  ///
  /// - Throws: ``ConfigurationError`` when the files hold another store's keys, or are missing.
  static func open(_ files: RowKeys.Files, of database: Database) async throws -> RowKeys {
    do {
      if let keys = try RowKeys(existing: files) {
        try await SharedKeys.require(setting, keys.name, in: database, orElse: "\(RowKeysError.otherKeys)")
        return keys
      }
      guard try await !SharedKeys.has(setting, in: database) else {
        throw ConfigurationError(
          setting,
          "\(files.path) is missing, and the store's contacts are sealed under it: put the file or its copy back. Where "
            + "both are lost, restore a backup with --without-contacts, see docs/backup.md")
      }
      let keys = try RowKeys(files)
      try await SharedKeys.require(setting, keys.name, in: database)
      return keys
    } catch let error as RowKeysError {
      throw ConfigurationError(setting, "\(error)")
    } catch let error as PrivateFileError {
      throw ConfigurationError(setting, "\(error)")
    }
  }
}
