import Crypto
import Foundation
import HTTPTransport
package import Ledger
package import Settings
import Storage
package import TenderPayments

/// Puts a backup in the place of the configuration's store, which must not exist, and marks it as restored: its routes are
/// closed until the journal has what happened since.
package struct StoreRestore: Sendable {
  private let configuration: ServerConfiguration
  private let identity: String

  /// - Parameter identity: a file with the private key of age for which the backup was encrypted.
  package init(_ configuration: ServerConfiguration, identity: String) {
    (self.configuration, self.identity) = (configuration, identity)
  }

  /// What was restored.
  package struct Report: Sendable, Codable {
    package let restore: RestoreReport
    package let payments: Int
    package let auditEntries: Int
    /// The files of keys that were written.
    package let keys: [String]
    /// Whether contacts are sealed in the store, and neither the file of their keys nor its copy is here. No backup has
    /// it.
    package let needsContactKeys: Bool
    /// What the configuration names, no backup has, and is not here, each as its setting and its path.
    package let missing: [String]
  }

  /// - Parameters:
  ///   - file: the encrypted store.
  ///   - keys: the encrypted keys; nil where they are on this machine already.
  ///   - migrates: whether a backup of an older version is brought to this one's tables.
  ///   - withoutContacts: whether the keys of the contacts are lost, so that what names a shopper is taken out.
  /// - Throws: ``BackupRefusal``; ``CallFailure`` when there is a store already. Then nothing has changed.
  package func run(
    _ file: String, keys: String?, migrates: Bool, withoutContacts: Bool = false
  ) async throws -> Report {
    // Held until the store is in its place, so that no server makes another one meanwhile.
    let lock = try lockStore()
    defer { lock?.release() }
    try await requireNoStore()
    guard !withoutContacts || !configuration.contactKeys.isThere else {
      throw CallFailure("the keys of the contacts are here, and so the contacts stay: leave out --without-contacts")
    }
    let keyFiles: KeyFiles? =
      if let keys {
        try KeyFiles(try await decrypt(keys), from: keys)
      } else { nil }
    try keyFiles?.check(configuration)
    // On the store's own file system, so that it is moved to its place as a whole.
    let place = configuration.store.path ?? configuration.fingerprintKeyFile
    let work = try WorkFolder(in: URL(fileURLWithPath: place).deletingLastPathComponent().path)
    defer { work.remove() }
    let plain = work.path + "/store"
    try await decrypt(file, to: plain)
    let written: [String]
    var needsContactKeys = false
    let (marked, audit): (RestoreReport, AuditReport)
    if let path = configuration.store.path {
      (marked, audit) = try await markCopy(plain, of: file, keyFiles, migrates) {
        needsContactKeys = try await lacksContactKeys($0, withoutContacts)
      }
      // What was written into the copy may be in its log still.
      try Database.copy(file: plain, to: plain + ".whole")
      written = try keyFiles?.write(configuration) ?? []
      try PrivateFile.move(plain + ".whole", to: path)
    } else {
      (marked, audit) = try await PostgresDump(configuration.store).restore(
        plain, { try refuse($0, keyFiles, migrates: false) },
        {
          try await requireOwnKey(keyFiles, $0)
          needsContactKeys = try await lacksContactKeys($0, withoutContacts)
        })
      written = try keyFiles?.write(configuration) ?? []
    }
    return Report(
      restore: marked, payments: audit.payments, auditEntries: audit.entries, keys: written,
      needsContactKeys: needsContactKeys, missing: configuration.missingFiles)
  }

  /// Whether the keys of the store's contacts are not here, and not given up either.
  ///
  /// - Parameter withoutContacts: takes what names a shopper out of the store.
  private func lacksContactKeys(_ database: Database, _ withoutContacts: Bool) async throws -> Bool {
    guard try await ContactKeys.areNeeded(by: database) else { return false }
    if withoutContacts {
      try await Privacy.forgetEverybody(in: database)
      try await database.write { try ContactKeys.forget(in: $0) }
    }
    return !withoutContacts && !configuration.contactKeys.isThere
  }

  /// Marks a store that was restored by other means, such as PostgreSQL's own, and that no server has opened since.
  ///
  /// - Parameter time: the moment to which it was restored.
  package static func mark(
    _ configuration: ServerConfiguration, lostFrom time: Timestamp
  ) async throws -> Report {
    if let path = configuration.store.path, !FileManager.default.fileExists(atPath: path) {
      throw CallFailure("there is no store at \(path)")
    }
    let database = try await Database.open(configuration.store.onOneConnection, migrations: ServerStore.migrations)
    do {
      guard try await database.connections(named: "tender") == 0 else {
        throw CallFailure("a server, or another command, is connected to the database: end it first")
      }
      let (restore, audit) = try await RestoreMark(database).write(
        "restored by other means", lostFrom: time, margin: .zero)
      let needsKeys = try await ContactKeys.areNeeded(by: database) && !configuration.contactKeys.isThere
      await database.close()
      return Report(
        restore: restore, payments: audit.payments, auditEntries: audit.entries, keys: [], needsContactKeys: needsKeys,
        missing: configuration.missingFiles)
    } catch {
      await database.close()
      throw error
    }
  }

  /// Nil on PostgreSQL, where a restore fails as a whole when a server has made tables meanwhile.
  private func lockStore() throws -> StoreLock? {
    guard let path = configuration.store.path else { return nil }
    try PrivateFile.makeFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    do { return try StoreLock(path: path) } catch StorageError.busy {
      throw CallFailure("a server, or another command, uses \(path): end it first")
    }
  }

  private func requireNoStore() async throws {
    guard let path = configuration.store.path else { return try await PostgresDump(configuration.store).requireEmpty() }
    for file in [path, path + "-wal", path + "-shm"] where FileManager.default.fileExists(atPath: file) {
      throw CallFailure("there is a store at \(file): stop the server, and move its files away")
    }
  }

  @discardableResult
  private func decrypt(_ file: String, to plain: String? = nil) async throws -> [UInt8] {
    try requireEncrypted(file)
    try requirePrivateKey()
    do {
      return try await ToolRun(
        program: "age", arguments: ["--decrypt", "--identity", identity, file], output: plain, isCaller: true
      ).run()
    } catch let error as CallFailure {
      guard error.description.hasPrefix("age failed") else { throw error }
      guard !error.description.contains("no identity matched") else {
        throw CallFailure("\(identity) has not the private key for which \(file) was encrypted")
      }
      throw BackupRefusal.damaged("\(file) cannot be decrypted (\(error.description))")
    }
  }

  private func requireEncrypted(_ file: String) throws {
    let start = try CallersFile.start(of: file, atMost: 64)
    let forms = ["age-encryption.org/", "-----BEGIN AGE ENCRYPTED FILE-----"]
    guard forms.contains(where: { start.starts(with: $0.utf8) }) else {
      throw BackupRefusal.foreign(
        "\(file) is no file that age has encrypted; a backup's end in .store.age and .keys.age")
    }
  }

  private func requirePrivateKey() throws {
    let text = String(
      decoding: try CallersFile.start(of: identity, atMost: PrivateFile.maximumBytes), as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline)
    guard lines.contains(where: { $0.hasPrefix("age1") }),
      !lines.contains(where: { !$0.hasPrefix("age1") && !$0.hasPrefix("#") })
    else { return }
    throw CallFailure(
      "\(identity) has a public key: give the file that age-keygen -o wrote, which has a line AGE-SECRET-KEY-1…")
  }

  /// Checks the copy, prepares it, and marks it.
  private func markCopy(
    _ plain: String, of file: String, _ keys: KeyFiles?, _ migrates: Bool, _ prepare: (Database) async throws -> Void
  ) async throws -> (RestoreReport, AuditReport) {
    do { try StoreFile.check(plain) } catch {
      throw BackupRefusal.foreign("\(file) holds no store in SQLite; a backup's store ends in .store.age")
    }
    let damage: [String]
    do { damage = try Database.damage(inFile: plain) } catch {
      throw BackupRefusal.damaged("its pages cannot be read: \(error)")
    }
    guard damage.isEmpty else { throw BackupRefusal.damaged(damage.joined(separator: "; ")) }
    let unchanged = try await Database.sqlite(path: plain, migrations: [])
    do { try await check(unchanged, keys, migrates) } catch {
      await unchanged.close()
      throw error
    }
    await unchanged.close()
    let database = try await Database.sqlite(path: plain, migrations: ServerStore.migrations)
    do {
      try await prepare(database)
      let result = try await RestoreMark(database).write()
      await database.close()
      return result
    } catch {
      await database.close()
      throw error
    }
  }

  /// Refuses a store that is no backup, of another installation or of another version.
  private func check(_ database: Database, _ keys: KeyFiles?, _ migrates: Bool) async throws {
    try refuse(try await BackupFacts(database), keys, migrates: migrates)
    try await requireOwnKey(keys, database)
  }

  private func refuse(_ facts: BackupFacts, _ keys: KeyFiles?, migrates: Bool) throws {
    try facts.refuse(unless: migrates)
    guard let keys, keys.backup != facts.backup else { return }
    throw BackupRefusal.foreign("the keys are of the backup \(keys.backup), and the store is \(facts.backup)")
  }

  /// A backup has the hash of the fingerprint key with which its store was served.
  private func requireOwnKey(_ keys: KeyFiles?, _ database: Database) async throws {
    guard let key = try keys?.fingerprintKey ?? configuration.fingerprintKey else {
      guard try await SharedKeys.has("fingerprint.key", in: database) else { return }
      throw CallFailure(
        "the store's keys are not on this machine: give the backup's file that ends in .keys.age by --keys, or put "
          + "\(configuration.fingerprintKeyFile) and the others in their places")
    }
    switch try await SharedKeys.isKnown("fingerprint.key", key, in: database) {
    case true?: return
    case false?: throw BackupRefusal.foreign("the store was served with another fingerprint key")
    case nil:
      // Keys are of the backup that they name.
      guard keys?.fingerprintKey == nil else { return }
      throw BackupRefusal.foreign(
        "no server had served the store, and \(configuration.fingerprintKeyFile) is another's: move it away")
    }
  }
}

/// What a store says of itself as a backup.
struct BackupFacts: Sendable {
  let backup: String
  private let older: [String]
  private let newer: [String]

  /// - Throws: ``BackupRefusal/foreign(_:)`` for what is no backup.
  init(_ database: Database) async throws {
    let tables = Set(try await database.tableNames())
    guard tables.contains("migrations"), tables.contains("payments") else {
      throw BackupRefusal.foreign("the database is no store of Tender")
    }
    let applied = try await database.read { store in
      try store.rows("SELECT name FROM migrations").map { try $0.text("name") }
    }
    let stamp = tables.contains("backups") ? try await database.read { try RestoredStore.newestBackup(in: $0) } : nil
    try self.init(applied: applied, backup: stamp?.id)
  }

  /// - Parameters:
  ///   - applied: the migrations of the store.
  ///   - backup: its newest backup.
  init(applied: [String], backup: String?) throws {
    let known = ServerStore.migrations.map(\.name)
    (older, newer) = (known.filter { !applied.contains($0) }, applied.filter { !known.contains($0) }.sorted())
    guard let backup else {
      throw BackupRefusal.foreign("the database is no backup: tender backup has not written it")
    }
    self.backup = backup
  }

  func refuse(unless migrates: Bool) throws {
    guard newer.isEmpty else { throw BackupRefusal.newer(newer) }
    guard older.isEmpty || migrates else { throw BackupRefusal.older(older) }
  }
}

/// Verifies a restored store and marks it, before a server may open it.
struct RestoreMark {
  private let database: Database

  init(_ database: Database) { self.database = database }

  /// Marks a backup.
  ///
  /// - Parameter addition: to the commit of the mark.
  func write(
    adding addition: @escaping @Sendable (Transaction) throws -> Void = { _ in }
  ) async throws -> (RestoreReport, AuditReport) {
    guard let backup = try await database.read({ try RestoredStore.newestBackup(in: $0) }) else {
      throw BackupRefusal.foreign("the database is no backup: tender backup has not written it")
    }
    return try await write(backup.id, lostFrom: backup.begunAt, margin: RestoredStore.clockMargin, adding: addition)
  }

  /// - Parameter margin: by how much another machine's clock may be ahead of this one's.
  func write(
    _ name: String, lostFrom time: Timestamp, margin: Duration,
    adding addition: @escaping @Sendable (Transaction) throws -> Void = { _ in }
  ) async throws -> (RestoreReport, AuditReport) {
    let audit = try await Journal(database).verifyAudit()
    guard audit.isIntact else {
      throw BackupRefusal.damaged("its audit chain is broken: \(audit.violations.first ?? "")")
    }
    try await database.write { store in
      // Until then every payment would count as one of before the restore.
      guard time <= store.now.adding(margin) else {
        throw CallFailure(
          "its payments would be lost from \(time) on, and here it is \(store.now): give the right time, or set the clock"
        )
      }
      try addition(store)
      _ = try RestoredStore.begin(name, lostFrom: min(time, store.now), routes: [], in: store)
    }
    guard let report = try await Journal(database).restoreReport() else { throw StorageError.column("number") }
    return (report, audit)
  }
}
