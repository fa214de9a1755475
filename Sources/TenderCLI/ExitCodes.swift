import ArgumentParser
import Foundation

extension Tender {
  /// Exit code 1 for a no, with one line that says why; 2 for a call that cannot be understood, which is 64 in
  /// ArgumentParser.
  static func main() async {
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      leave(with: error)
    }
  }

  private static func leave(with error: any Error) -> Never {
    let code = exitCode(for: error)
    if code == .validationFailure {
      Terminal.complain(fullMessage(for: error))
      Foundation.exit(2)
    }
    guard code == .failure, !(error is ExitCode) else { exit(withError: error) }
    Terminal.complain("Error: \(Complaint.line(for: error))")
    Foundation.exit(1)
  }
}
