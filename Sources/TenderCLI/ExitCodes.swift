import ArgumentParser
import Foundation

extension Tender {
  /// Exit code 2 for a call that cannot be understood. ArgumentParser's own is 64.
  static func main() async {
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
      Terminal.complain(fullMessage(for: error))
      Foundation.exit(2)
    }
  }
}
