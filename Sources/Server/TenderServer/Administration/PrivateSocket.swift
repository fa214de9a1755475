import Foundation

/// The place of a socket that only its own user can open, at every moment: it is bound inside a directory that is closed
/// to everybody else, and moved out when its own mode is set. A socket that is bound in the open has, for a moment,
/// whatever mode the umask leaves it.
package struct PrivateSocket: Sendable {
  /// Where whoever asks finds it.
  package let path: String

  package init(_ path: String) { self.path = path }

  /// Where it is bound.
  package var boundPath: String { room + "/s" }
  private var room: String { path + ".d" }

  /// Makes room. What a killed process left behind would be in the way; the store's lock says that nobody uses it.
  package func prepare() throws {
    for left in [path, room] { try? FileManager.default.removeItem(atPath: left) }
    try FileManager.default.createDirectory(
      atPath: room, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// Moves the bound socket to its path.
  package func open() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: boundPath)
    guard rename(boundPath, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    try FileManager.default.removeItem(atPath: room)
  }
}
