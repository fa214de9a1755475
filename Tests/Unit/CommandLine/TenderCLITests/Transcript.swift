import Foundation
import TenderTesting

/// Commands that a user types, and their output: a text file of `Tests/Support/Transcripts`.
///
///     # A sentence about what follows.
///     $ tender token verify token.json
///     refused at chain: [..]
///     ? 1
///
/// A line after `$ ` is given to the shell. Below it stands its output, standard error included, to the letter, but for
/// `[..]`, which is anything within a line, and a line `...`, which is any number of lines. `? N` is the exit code; none
/// is 0.
struct Transcript: Sendable {
  struct Step: Sendable {
    let line: Int
    let command: String
    var expected: [String] = []
    var exitCode: Int32 = 0
  }

  let name: String
  private(set) var steps: [Step] = []

  init(_ name: String, text: String) {
    self.name = name
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      read(String(line), number + 1)
    }
  }

  /// The file of that name.
  init(file name: String) throws {
    self.init(name, text: try Repository.text("Tests/Support/Transcripts/\(name)"))
  }

  private mutating func read(_ line: String, _ number: Int) {
    if line.hasPrefix("$ ") {
      steps.append(Step(line: number, command: String(line.dropFirst(2))))
    } else if let last = steps.indices.last, !line.hasPrefix("# "), !line.isEmpty {
      if line.hasPrefix("? "), let code = Int32(line.dropFirst(2)) {
        steps[last].exitCode = code
      } else {
        steps[last].expected.append(line)
      }
    }
  }

  /// Runs every step, in order, and returns the differences.
  func differences(in place: Workshop) async throws -> [String] {
    var differences: [String] = []
    for step in steps {
      let answer = try await place.run(step.command)
      guard answer.exitCode != step.exitCode || !Self.matches(answer.lines, step.expected) else { continue }
      differences.append(
        """
        \(name):\(step.line): $ \(step.command)
        \(answer.lines.joined(separator: "\n"))
        ? \(answer.exitCode)
        """)
    }
    return differences
  }

  /// Empty lines do not count, so that a transcript can be read.
  static func matches(_ lines: [String], _ patterns: [String]) -> Bool {
    matches(lines.filter { !$0.isEmpty }[...], patterns[...])
  }

  private static func matches(_ lines: ArraySlice<String>, _ patterns: ArraySlice<String>) -> Bool {
    guard let pattern = patterns.first else { return lines.isEmpty }
    let rest = patterns.dropFirst()
    if pattern == "..." {
      return (lines.startIndex...lines.endIndex).contains { matches(lines[$0...], rest) }
    }
    guard let line = lines.first, matches(line: line, pattern) else { return false }
    return matches(lines.dropFirst(), rest)
  }

  private static func matches(line: String, _ pattern: String) -> Bool {
    let parts = pattern.components(separatedBy: "[..]")
    guard parts.count > 1 else { return line == pattern }
    guard line.hasPrefix(parts[0]) else { return false }
    var rest = line.dropFirst(parts[0].count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.range(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(parts[parts.count - 1])
  }
}
