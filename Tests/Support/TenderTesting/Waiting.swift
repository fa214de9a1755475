import Foundation

/// What a test still waited for when its run was ended, and what was there instead.
package struct NotSeen: Error, CustomStringConvertible {
  package let description: String
}

/// A run of the tests, which `scripts/run-tests` ends when no test has ended for a while.
package enum TestRun {
  /// Longer than any run: a time limit that a test has to give and that must not matter.
  package static let whole = Duration.seconds(86_400)

  /// Whether the run is being ended.
  package static var isOver: Bool { sign.map(FileManager.default.fileExists(atPath:)) ?? false }

  /// A file that is made when the run is ended.
  private static let sign = ProcessInfo.processInfo.environment["TESTS_END"]
}

/// Asks for a value until it is as wanted, and returns it.
///
/// - Parameter wanted: what the test waits for, in the words of its failure.
/// - Throws: ``NotSeen`` when the run is ended; there is no other limit.
@discardableResult
nonisolated(nonsending) package func waitFor<Value>(
  _ wanted: String, _ value: () async throws -> Value, until isWanted: (Value) throws -> Bool
) async throws -> Value {
  var pause = Duration.milliseconds(1)
  while true {
    let found = try await value()
    if try isWanted(found) { return found }
    guard !TestRun.isOver else {
      throw NotSeen(description: "waited for \(wanted), and there was \(String(describing: found).prefix(2_000))")
    }
    try await Task.sleep(for: pause)
    pause = min(pause * 2, .milliseconds(50))
  }
}

/// Returns when the condition holds.
///
/// - Parameter wanted: what the test waits for, in the words of its failure.
/// - Throws: ``NotSeen`` when the run is ended; there is no other limit.
nonisolated(nonsending) package func waitUntil(
  _ wanted: String, _ condition: () async throws -> Bool
) async throws {
  try await waitFor(wanted, condition) { $0 }
}
