import Foundation

/// The path of a socket that only its own user can open. It is bound inside a private directory and moved to its path
/// after its mode is set: a socket bound in place has the mode of the umask for a moment.
package struct PrivateSocket: Sendable {
  /// Where clients connect.
  package let path: String

  package init(_ path: String) { self.path = path }

  /// Where it is bound.
  package var boundPath: String { directory + "/s" }
  private var directory: String { path + ".d" }

  /// What swift-nio binds: as much as an address holds on macOS.
  private static let maximumBytes = 103

  /// - Throws: ``ConfigurationError`` when the system cannot bind a socket at so long a path.
  package func check() throws {
    let excess = boundPath.utf8.count - Self.maximumBytes
    guard excess <= 0 else {
      throw ConfigurationError(
        "administration.socket",
        "\(path) is \(excess) bytes too long for a socket; name a shorter path")
    }
  }

  /// Makes the private directory. Removes the leftovers of a killed process; the lock of the store, or of the node, proves
  /// that it has ended.
  package func prepare() throws {
    try check()
    for left in [path, directory] { try? FileManager.default.removeItem(atPath: left) }
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// Removes the bound socket, so that nobody can connect to it.
  package func discard() { try? FileManager.default.removeItem(atPath: directory) }

  /// Moves the bound socket to its path.
  package func open() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: boundPath)
    guard rename(boundPath, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    try FileManager.default.removeItem(atPath: directory)
  }
}
