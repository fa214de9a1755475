import ArgumentParser
import CommandSupport
import Doctor
import Foundation
import HTTPTransport
import Storage
import TenderPayments

/// Where a set-up lies: the configuration, and the folder of store and keys.
struct SetupPlace: Sendable {
  /// As it is typed.
  let config: String
  /// The whole path, so that the server may be started anywhere.
  let directory: String
  /// Whether an option names that folder.
  let isDirectoryNamed: Bool
  /// Whether the configuration is the machine's, as the Debian package has it.
  let isMachines: Bool

  private static let packaged = "/etc/tender"

  init(config: String?, directory: String?) {
    let config = config ?? (access(Self.packaged, W_OK) == 0 ? "\(Self.packaged)/tender.yaml" : "tender.yaml")
    let path = URL(fileURLWithPath: config).path
    (self.config, isMachines) = (config, path.hasPrefix("/etc/"))
    isDirectoryNamed = directory != nil
    let usual = isMachines ? "/var/lib/tender" : "\(Self.folder(of: path))/.tender"
    self.directory = directory.map { URL(fileURLWithPath: $0).path } ?? usual
  }

  private static func folder(of path: String) -> String {
    let folder = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
    return folder.isEmpty ? "/" : String(folder)
  }

  /// A file beside the configuration, written as that is.
  func beside(_ name: String) -> String {
    guard let slash = config.lastIndex(of: "/") else { return name }
    return String(config[...slash]) + name
  }

  /// The keys of the store: apart from it where the machine has a place for that.
  var storeKey: String { isMachines ? beside("store.key") : directory + "/store.key" }

  /// How the server is named in a command.
  var words: String { " --config \(Shell.quoted(config))" }

  /// How the server is started: the package's unit serves one configuration.
  var startCommand: String {
    config == "\(Self.packaged)/tender.yaml" ? "systemctl enable --now tender" : "tender serve\(words)"
  }

  /// Looks at everything, as `tender doctor` does.
  func examine() async throws -> DoctorReport { try await DoctorCommand.parse(["--config", config]).examine() }

  /// Works from here on as the user whose folder it is, the package's `tender`: root would follow links that a program of
  /// this user's puts there.
  ///
  /// - Throws: `CallFailure` where root cannot.
  func becomeOwner() throws {
    let owner: FolderOwner?
    do throws(PrivateFileError) { owner = try FolderOwner(of: directory) } catch { throw CallFailure("\(error)") }
    guard let owner else { return }
    if isMachines, !FileManager.default.fileExists(atPath: config) {
      // In root's folder, where the owner could not make it.
      try FolderOwner.asOwner(of: URL(fileURLWithPath: storeKey).deletingLastPathComponent().path) { other in
        _ = try PrivateFile.writeFirst(RandomBytes.system.hex(32) + "\n", to: storeKey, of: other == nil ? owner : nil)
      }
    }
    // Root's own folder of running servers.
    unsetenv("XDG_RUNTIME_DIR")
    do throws(PrivateFileError) { try owner.become() } catch {
      throw CallFailure("cannot work as the owner of \(directory)")
    }
  }
}

/// A file, a merchant or a route, which a set-up made or found.
struct SetupThing: Encodable, Sendable {
  let what: String
  let name: String
  let isMade: Bool

  private enum CodingKeys: CodingKey { case what, name }
}
