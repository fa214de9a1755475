import Foundation
import Logging
import TenderServer

/// Where a command writes: results to standard output, everything else to standard error.
enum Terminal {
  /// A reader that went away (`| head`) is no reason to crash.
  static func say(_ line: String = "") { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
  static func complain(_ line: String) { try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8)) }

  /// For programs.
  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// JSON lines on standard error.
  static func logger(_ label: String, level: Logger.Level = .info) -> Logger {
    var logger = Logger(label: label) { JSONLogHandler(label: $0) }
    logger.logLevel = level
    return logger
  }

  /// Bold, green, red, dim: only for a person at a terminal who has not asked for none.
  static func styled(_ text: String, _ style: Style) -> String {
    isStyled ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  enum Style: Int {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
  }

  private static let isStyled = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
}
