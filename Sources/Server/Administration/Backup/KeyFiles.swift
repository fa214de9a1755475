import Foundation
import Settings
import Storage
import StrictJSON
import TenderPayments

/// The files with keys that a store needs, as a backup keeps them beside it: without them nobody reads the merchants'
/// secrets, and no node starts.
struct KeyFiles {
  /// Name of the setting, and what the file holds.
  private let texts: [String: String]
  let backup: String

  /// The files of the configuration that there are.
  init(_ configuration: ServerConfiguration, of backup: String) throws {
    var texts: [String: String] = [:]
    for (name, path) in configuration.keyFiles where FileManager.default.fileExists(atPath: path) {
      texts[name] = try PrivateFile.text(path)
    }
    (self.texts, self.backup) = (texts, backup)
  }

  /// - Throws: ``BackupRefusal/foreign(_:)`` for anything but a backup's keys.
  init(_ bytes: [UInt8], from file: String) throws {
    do throws(JSONError) {
      let root = JSONField(try JSONReader.read(bytes))
      backup = try root.member("backup").string
      var texts: [String: String] = [:]
      let files = try root.member("files")
      for name in ServerConfiguration.keyFileNames { texts[name] = try files.memberIfPresent(name)?.string }
      self.texts = texts
    } catch { throw BackupRefusal.foreign("\(file) holds no keys; a backup's keys end in .keys.age") }
  }

  var serialized: [UInt8] {
    var files = JSONObject()
    for name in ServerConfiguration.keyFileNames { files[name] = texts[name].map(JSONValue.string) }
    return JSONValue.object(["backup": .string(backup), "files": .object(files)]).serialized()
  }

  var names: [String] { texts.keys.sorted() }

  /// The fingerprint key, as every node of a store has it.
  var fingerprintKey: [UInt8]? {
    texts["fingerprint.key"].flatMap { Hex.decode($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
  }

  /// Refuses to replace a key by another one.
  func check(_ configuration: ServerConfiguration) throws {
    for (name, path) in configuration.keyFiles where FileManager.default.fileExists(atPath: path) {
      guard let text = texts[name], try PrivateFile.text(path) != text else { continue }
      throw BackupRefusal.foreign("\(path) holds another key than the backup; move it away to take the backup's")
    }
  }

  /// Writes the files that are not there.
  func write(_ configuration: ServerConfiguration) throws -> [String] {
    var written: [String] = []
    for (name, path) in configuration.keyFiles where !FileManager.default.fileExists(atPath: path) {
      guard let text = texts[name] else { continue }
      try Self.write(text, to: path)
      written.append(path)
    }
    return written
  }
}

extension KeyFiles {
  /// Writes a key as the user whose folder it is in. In root's, where the user of the store could make none, root makes it,
  /// with a folder that is missing, and gives it to the user of the store.
  private static func write(_ text: String, to path: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let user = FolderOwner.current
    try FolderOwner.asOwner(of: folder) { owner in
      if owner == nil, !FileManager.default.fileExists(atPath: folder) {
        try PrivateFile.makeFirstFolder(of: folder, for: user)
      }
    }
    try FolderOwner.asOwner(of: folder) { owner in
      try PrivateFile.write(text, to: path, of: owner == nil ? user : nil)
    }
  }
}

extension ServerConfiguration {
  /// What makes fingerprints of decrypted payment data; nil before the first start of a server.
  var fingerprintKey: [UInt8]? {
    get throws {
      guard FileManager.default.fileExists(atPath: fingerprintKeyFile) else { return nil }
      return Hex.decode(try PrivateFile.text(fingerprintKeyFile).trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }

  /// What a restored server does not start without, and no backup has.
  var missingFiles: [String] {
    [
      ("platform.directory", platformDirectory), ("tls.certificateFile", tls?.certificateFile),
      ("tls.keyFile", tls?.keyFile), ("store.passwordFile", storePasswordFile),
    ].compactMap { name, path in
      path.flatMap { FileManager.default.fileExists(atPath: $0) ? nil : "\(name) \($0)" }
    }
  }

  fileprivate static let keyFileNames = ["fingerprint.key", "guest-token.key", "store.key"]

  /// The key of the store is a file only where the configuration has neither a key nor a command in its place.
  fileprivate var keyFiles: [(name: String, path: String)] {
    [("fingerprint.key", fingerprintKeyFile), ("guest-token.key", guestTokenKeyFile)]
      + (usesStoreKeyFile ? [("store.key", storeKeyFile)] : [])
  }
}
