import Foundation
import HTTPTransport
import Ledger
package import Settings
import Storage
package import TenderPayments

/// Makes a backup: a copy of the store as it is at one moment, verified, encrypted for whoever restores it, and the keys
/// that it needs in a second file. A server may serve meanwhile.
package struct StoreBackup: Sendable {
  private let configuration: ServerConfiguration
  private let folder: String
  private let recipients: String
  private let name: BackupName

  /// - Parameters:
  ///   - folder: where the encrypted files go.
  ///   - recipients: a file with public keys of age, a line each.
  package init(
    _ configuration: ServerConfiguration, to folder: String, for recipients: String, random: RandomBytes = .system,
    clock: WallClock = .system
  ) {
    (self.configuration, self.folder, self.recipients) = (configuration, folder, recipients)
    name = BackupName(at: clock.now(), random: random)
  }

  /// What was made.
  package struct Report: Sendable, Codable {
    package let backup: String
    package let store: String
    /// Nil where the keys were left out.
    package let keys: String?
    package let payments: Int
    package let auditEntries: Int
    /// Older backups that were deleted.
    package let removed: [String]
    /// Backups whose names are later than now, where old ones were to be deleted. They are neither counted nor deleted.
    package let later: [String]
  }

  /// - Parameters:
  ///   - withKeys: whether the keys are kept too.
  ///   - keep: how many backups the folder keeps, this one counted; nil for all.
  package func make(withKeys: Bool, keep: Int?, clock: WallClock = .system) async throws -> Report {
    if let path = configuration.store.path { try requireStore(path) }
    let keys = try publicKeys()
    try requireFolder()
    // What is not encrypted stays where the store is: the other folder may be one that others can read.
    let place = configuration.store.path ?? configuration.fingerprintKeyFile
    let work = try WorkFolder(in: URL(fileURLWithPath: place).deletingLastPathComponent().path)
    defer { work.remove() }
    let drafts = work.isIn(folder) ? work : try WorkFolder(in: folder)
    defer { drafts.remove() }
    let (plain, draft) = (work.path + "/store", drafts.path + "/draft.age")
    let audit = try await copy(to: plain, begunAt: clock.now())
    let store = try await encrypt([plain], for: keys, as: name.store, by: draft)
    var keyFile: String?
    if withKeys {
      let files = try KeyFiles(configuration, of: name.id)
      keyFile = try await encrypt([], files.serialized, for: keys, as: name.keys, by: draft)
    }
    let (old, later) = try findOthers(keep, now: clock.now())
    try remove(old)
    return Report(
      backup: name.id, store: store, keys: keyFile, payments: audit.payments, auditEntries: audit.entries,
      removed: old.map(\.id), later: later.map(\.id))
  }

  private func requireStore(_ path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { throw CallFailure("there is no store at \(path)") }
    try StoreFile.check(path)
  }

  /// - Returns: what verifying the audit chain of the copy found.
  private func copy(to plain: String, begunAt time: Timestamp) async throws -> AuditReport {
    guard let path = configuration.store.path else {
      return try await PostgresDump(configuration.store).make(plain, name.id, try configuration.fingerprintKey)
    }
    let copy = plain + ".copy"
    try Database.copy(file: path, to: copy)
    let damage = try Database.damage(inFile: copy)
    guard damage.isEmpty else { throw CallFailure("the store is damaged: \(damage.joined(separator: "; "))") }
    let audit = try await mark(copy, begunAt: time)
    // What was written into the copy may be in its log still.
    try Database.copy(file: copy, to: plain)
    return audit
  }

  /// Verifies a copy, and writes into it that it is a backup.
  private func mark(_ copy: String, begunAt time: Timestamp) async throws -> AuditReport {
    let database = try await Database.sqlite(path: copy, migrations: [])
    do {
      let lacking = try await database.lacking(ServerStore.migrations).expanding
      guard lacking.isEmpty else {
        throw CallFailure("the store has not the tables of this version: run tender store migrate, or start the server")
      }
      let key = try configuration.fingerprintKey
      try await database.write { [name] store in
        try RestoredStore.mark(backup: name.id, begunAt: time, in: store)
        if let key { try SharedKeys.note("fingerprint.key", key, replaces: true, in: store) }
      }
      let audit = try await Journal(database).verifyAudit()
      guard audit.isIntact else { throw CallFailure("the audit chain is broken: \(audit.violations.first ?? "")") }
      await database.close()
      return audit
    } catch {
      await database.close()
      throw error
    }
  }

  /// The lines of the file of recipients, which the user whose folder the store is in may not read.
  private func publicKeys() throws -> [String] {
    let text = String(
      decoding: try CallersFile.start(of: recipients, atMost: PrivateFile.maximumBytes), as: UTF8.self)
    guard !text.contains("AGE-SECRET-KEY-") else {
      throw CallFailure(
        "\(recipients) has a private key, which belongs on the machine that restores: age-keygen -y prints its public key"
      )
    }
    let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
    let keys = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    guard !keys.isEmpty else { throw CallFailure("\(recipients) has no public key: age-keygen -y prints one") }
    return keys
  }

  /// Makes the folder of the backups, which the user whose folder the store is in writes.
  private func requireFolder() throws {
    do { try PrivateFile.makeFolder(folder) } catch {
      guard geteuid() != getuid() else { throw error }
    }
    guard geteuid() != getuid(), faccessat(AT_FDCWD, folder, R_OK | W_OK | X_OK, AT_EACCESS) != 0 else { return }
    let user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
    throw CallFailure(
      "\(folder) cannot be written by \(user), as whom the backup is made: the store is in this user's folder. Make the "
        + "folder of the backups this user's, or name another one: install -d -o \(user) -m 700 \(folder)")
  }

  /// Encrypts into a file that appears under its name when it is whole.
  private func encrypt(
    _ arguments: [String], _ input: [UInt8] = [], for keys: [String], as name: String, by draft: String
  ) async throws -> String {
    try await ToolRun(
      program: "age", arguments: ["--encrypt"] + keys.flatMap { ["--recipient", $0] } + arguments, input: input,
      output: draft
    ).run()
    let path = "\(folder)/\(name)"
    try PrivateFile.move(draft, to: path)
    return path
  }

  /// The oldest backups of the folder, beside this one and those to keep, and those whose names are later than now.
  private func findOthers(_ keep: Int?, now: Timestamp) throws -> (old: [BackupName], later: [BackupName]) {
    guard let keep else { return ([], []) }
    let others = try BackupName.all(in: folder).filter { $0 != name }
    let now = BackupName.time(now)
    return (others.filter { $0.time <= now }.dropLast(max(1, keep) - 1), others.filter { $0.time > now })
  }

  private func remove(_ backups: [BackupName]) throws {
    for backup in backups {
      for file in [backup.store, backup.keys] where FileManager.default.fileExists(atPath: "\(folder)/\(file)") {
        try FileManager.default.removeItem(atPath: "\(folder)/\(file)")
      }
    }
  }
}
