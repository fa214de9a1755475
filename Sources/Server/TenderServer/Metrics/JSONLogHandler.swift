import Foundation
package import Logging
import TenderPayments

/// One JSON object a line on standard error.
///
/// Needs no filter: secrets have types that print masked.
package struct JSONLogHandler: LogHandler {
  package var logLevel: Logger.Level = .info
  package var metadata: Logger.Metadata = [:]
  private let label: String
  private let write: @Sendable (String) -> Void

  package init(label: String, write: @escaping @Sendable (String) -> Void = JSONLogHandler.toStandardError) {
    self.label = label
    self.write = write
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let merged = metadata.merging(event.metadata ?? [:]) { $1 }
    var line = "{"
    line.reserveCapacity(320)
    Self.append("time", WallClock.system.now().description, to: &line)
    Self.append("level", event.level.rawValue, to: &line)
    Self.append("from", label, to: &line)
    Self.append("message", event.message.description, to: &line)
    // Our request id replaces the framework's.
    for (name, value) in merged.sorted(by: { $0.key < $1.key }) where name != "hb.request.id" {
      if case .stringConvertible(let number as any BinaryInteger) = value {
        Self.append(name, number: "\(number)", to: &line)
      } else {
        Self.append(name, value.description, to: &line)
      }
    }
    line += "}\n"
    write(line)
  }

  private static func append(_ name: String, _ text: String, to line: inout String) {
    if line.utf8.count > 1 { line += "," }
    appendQuoted(name, to: &line)
    line += ":"
    appendQuoted(text, to: &line)
  }

  /// Whole numbers stay numbers; everything else is a text.
  private static func append(_ name: String, number: String, to line: inout String) {
    line += ","
    appendQuoted(name, to: &line)
    line += ":"
    line += number
  }

  @Sendable package static func toStandardError(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
  }

  private static func appendQuoted(_ text: String, to line: inout String) {
    line += "\""
    defer { line += "\"" }
    // Runs a dozen times for each line, and most strings need no escaping.
    guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F || $0 == 0x22 || $0 == 0x5C }) else {
      return line += text
    }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": line += "\\\""
      case "\\": line += "\\\\"
      case _ where scalar.isPrintable: line.unicodeScalars.append(scalar)
      default: line += scalar.escaped
      }
    }
  }
}
