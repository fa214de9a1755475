import Foundation
import Storage

/// The running servers of this user on this machine, by port: links to their administration sockets, in a folder that no
/// other user can write into.
package struct RunningServers: Sendable {
  let folder: String

  /// `$XDG_RUNTIME_DIR/tender`, or a folder of this user below `/tmp`.
  package init(variables: [String: String] = ProcessInfo.processInfo.environment) {
    folder = variables["XDG_RUNTIME_DIR"].map { "\($0)/tender" } ?? "/tmp/tender-\(geteuid())"
  }

  /// The path of a server's store as the command line needs it: the socket is that with `.sock` after it. Nil where no
  /// server of this user was started with the port.
  package func store(at port: Int) -> String? {
    guard isOurs, FileManager.default.fileExists(atPath: link(port)) else { return nil }
    return "\(folder)/\(port)"
  }

  /// The paths of all their stores, as ``store(at:)`` gives one.
  package var stores: [String] {
    guard isOurs, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
    return names.filter { $0.hasSuffix(".sock") }.sorted().map { "\(folder)/\($0.dropLast(5))" }
  }

  /// Notes a server that runs. Without a folder that is this user's alone nothing is noted.
  package func note(_ port: Int, socket: String) {
    try? PrivateFile.makeFolder(folder)
    guard isOurs else { return }
    unlink(link(port))
    symlink(URL(fileURLWithPath: socket).path, link(port))
  }

  /// Forgets a server, unless another has taken its port since.
  package func forget(_ port: Int, socket: String) {
    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link(port))
    guard isOurs, target == URL(fileURLWithPath: socket).path else { return }
    unlink(link(port))
  }

  private func link(_ port: Int) -> String { "\(folder)/\(port).sock" }

  /// A folder that somebody else has put there could lead to a socket of theirs.
  private var isOurs: Bool {
    var status = stat()
    return lstat(folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
      && status.st_mode & 0o022 == 0
  }
}
