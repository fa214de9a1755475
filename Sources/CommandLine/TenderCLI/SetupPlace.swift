import ArgumentParser
import CommandSupport
import Doctor
import Foundation

/// Where a set-up lies: the configuration, and the folder of store and keys.
struct SetupPlace: Sendable {
  /// As it is typed.
  let config: String
  /// The whole path, so that the server may be started anywhere.
  let directory: String
  /// Whether the configuration is the machine's, as the Debian package has it.
  let isMachines: Bool

  private static let packaged = "/etc/tender"

  init(config: String?, directory: String?) {
    let config = config ?? (access(Self.packaged, W_OK) == 0 ? "\(Self.packaged)/tender.yaml" : "tender.yaml")
    let path = URL(fileURLWithPath: config).path
    (self.config, isMachines) = (config, path.hasPrefix("/etc/"))
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

  /// Looks at everything, as `tender doctor` does.
  func examine() async throws -> DoctorReport { try await DoctorCommand.parse(["--config", config]).examine() }

  /// Gives what root has made to the user whose folder it is: the package's `tender`.
  func handOver() {
    let files = FileManager.default
    func owner(_ path: String) -> (user: uid_t, group: gid_t)? {
      guard let attributes = try? files.attributesOfItem(atPath: path),
        let user = attributes[.ownerAccountID] as? NSNumber, let group = attributes[.groupOwnerAccountID] as? NSNumber
      else { return nil }
      return (user.uint32Value, group.uint32Value)
    }
    guard geteuid() == 0, let (user, group) = owner(directory), user != 0 else { return }
    let below = files.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
    for path in below.map({ "\(directory)/\($0)" }) + [storeKey] where owner(path)?.user == 0 {
      lchown(path, user, group)
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
