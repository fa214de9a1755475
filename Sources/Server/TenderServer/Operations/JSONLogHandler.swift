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
    var fields = [("time", WallClock.system.now().description), ("level", event.level.rawValue), ("from", label)]
    fields.append(("message", event.message.description))
    let texts = fields.map { "\(Self.quoted($0.0)):\(Self.quoted($0.1))" }
    // Our request id replaces the framework's.
    let rest = merged.filter { $0.key != "hb.request.id" }.sorted { $0.key < $1.key }.map {
      "\(Self.quoted($0.key)):\(Self.json($0.value))"
    }
    write("{" + (texts + rest).joined(separator: ",") + "}\n")
  }

  /// Whole numbers stay numbers; everything else is a text.
  private static func json(_ value: Logger.Metadata.Value) -> String {
    if case .stringConvertible(let number as any BinaryInteger) = value { return "\(number)" }
    return quoted(value.description)
  }

  @Sendable package static func toStandardError(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
  }

  private static func quoted(_ text: String) -> String {
    // Runs a dozen times for each line, and most strings need no escaping.
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) else { return "\"\(text)\"" }
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\u{0}"..<" ": out += "\\u00" + Hex.encode([UInt8(scalar.value)])
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}
