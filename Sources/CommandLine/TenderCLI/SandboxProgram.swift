import CommandSupport
import Foundation

/// The program `tender-sandbox`, which has the commands that make payment tokens or play Apple, a bank or a shop. This
/// one holds none of that, and hands their calls on.
enum SandboxProgram {
  static let name = "tender-sandbox"
  static let commands = ["demo", "sandbox", "shop", "pay", "token create"]

  /// Replaces this process by `tender-sandbox`, beside this program or on the PATH, where the call is one of its commands.
  ///
  /// - Parameter arguments: what follows `tender`.
  /// - Returns: what to say where there is no such program; nil for other calls.
  static func takeOver(_ arguments: [String]) -> String? {
    let words = arguments.dropFirst(arguments.first == "help" ? 1 : 0).map { $0[...] }
    guard let command = commands.first(where: { words.starts(with: $0.split(separator: " ")) }) else { return nil }
    if let folder = Bundle.main.executableURL?.deletingLastPathComponent() {
      replaceProcess([Shell.beside(name)] + arguments) { execv(folder.appending(path: name).path, $0) }
    }
    replaceProcess([name] + arguments) { execvp(name, $0) }
    return "`tender \(command)` is a command of the program \(name), which is neither beside tender nor on the PATH: "
      + "install the package \(name), or in a clone run `scripts/build \(name)`"
  }

  /// Comes back where there is no such program.
  private static func replaceProcess(
    _ words: [String], _ execute: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  ) {
    let copies = words.map { strdup($0) }
    _ = execute(copies + [nil])
    for copy in copies { free(copy) }
  }
}
