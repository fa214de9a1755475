package import Foundation

/// One file of `Tests/Support/Flows`: what happens to a payment sheet, and what its kit does about it.
///
/// The format is in `Tests/Support/Flows/README.md`.
package struct FlowTranscript: Sendable, CustomStringConvertible {
  /// The file's name without its ending.
  package let name: String
  /// The claim that the transcript makes.
  package let title: String
  package let steps: [Step]

  package struct Step: Sendable {
    /// The words of the event, the actor first.
    package let event: [String]
    /// The effects that must follow, in their order, as they are written.
    package let effects: [String]
    /// Of the event, from 1.
    package let line: Int
  }

  package var description: String { name }

  /// All transcripts, by name. Throws if there are none, because tests without a transcript would pass.
  package static func all() throws -> [FlowTranscript] {
    let transcripts = try files().map(FlowTranscript.init(contentsOf:))
    guard !transcripts.isEmpty else { throw Malformed(name: "Tests/Support/Flows", line: 0) }
    return transcripts
  }

  package init(contentsOf file: URL) throws {
    try self.init(
      name: file.deletingPathExtension().lastPathComponent, text: try String(contentsOf: file, encoding: .utf8))
  }

  package init(name: String, text: String) throws {
    self.name = name
    var title: String?
    var steps: [Step] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = line.split(separator: " ").map(String.init)
      switch words.first {
      case nil, "#"?: break
      case ">"?: steps.append(Step(event: Array(words.dropFirst()), effects: [], line: index + 1))
      case "<"?:
        guard let last = steps.popLast() else { throw Malformed(name: name, line: index + 1) }
        let effect = words.dropFirst().joined(separator: " ")
        steps.append(Step(event: last.event, effects: last.effects + [effect], line: last.line))
      default:
        guard title == nil, steps.isEmpty else { throw Malformed(name: name, line: index + 1) }
        title = String(line)
      }
    }
    guard let title, !steps.isEmpty else { throw Malformed(name: name, line: 1) }
    self.title = title
    self.steps = steps
  }

  package struct Malformed: Error {
    package let name: String
    package let line: Int
  }

  private static func files() throws -> [URL] {
    let folder = URL(filePath: #filePath).appending(path: "../../Flows").standardized.resolvingSymlinksInPath()
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "txt" }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }
}
