import ArgumentParser
import Foundation
package import Logging
package import StrictJSON
import TenderPayments
import TenderServer

/// Where a command writes: results to standard output, everything else to standard error.
package enum Terminal {
  /// Writes a line of the result. If it cannot be written, the command ends with exit code 1. A closed pipe (`| head`)
  /// is no error, also where the network library has switched SIGPIPE off.
  package static func say(_ line: String = "") { say(bytes: Array(visible(line).utf8)) }

  /// Writes a line of the result byte for byte, also where it is no UTF-8.
  package static func say(bytes: [UInt8]) {
    guard let problem = write(bytes, to: STDOUT_FILENO), problem != EPIPE else { return }
    sayError("Error: standard output: \(String(cString: strerror(problem)))")
    exit(1)
  }

  /// Writes a line to standard error; a failure to write it is ignored.
  package static func sayError(_ line: String) { _ = write(Array(visible(line).utf8), to: STDERR_FILENO) }

  /// Writes why a command fails to standard error: a line for people, an object where the command prints JSON.
  package static func sayError(_ reason: String, exitCode: Int32) {
    let report: JSONValue = ["error": .string(reason), "exitCode": .integer(Int64(exitCode))]
    sayError(printsJSON ? String(decoding: report.serialized(), as: UTF8.self) : "Error: \(reason)")
  }

  /// Whether the command was asked for JSON. Known before its arguments are read, because that can fail too.
  package static let printsJSON = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")

  /// - Returns: why not everything was written.
  private static func write(_ line: [UInt8], to descriptor: Int32) -> Int32? {
    var rest = (line + [UInt8(ascii: "\n")])[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }

  /// `1 key`, `2 keys`.
  package static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  /// A value as `--json` prints it.
  package static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// One line of JSON: what a process that goes on serving prints first under `--json`.
  package static func jsonLine(_ value: JSONValue) -> String { String(decoding: value.serialized(), as: UTF8.self) }

  /// JSON lines on standard error.
  package static func logger(_ label: String, level: Logger.Level = .info) -> Logger {
    var logger = Logger(label: label) { JSONLogHandler(label: $0) }
    logger.logLevel = level
    return logger
  }

  /// Bold, green, red, dim: only for a person at a terminal who has not asked for none.
  package static func styled(_ text: String, _ style: Style) -> String {
    isStyled ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// The text without what comes from outside and changes what a terminal shows of it: control, format and direction
  /// characters are written as JSON writes them, so that JSON stays the same value. Line ends, tabs and the styles stay, and
  /// the joiners that emoji and some scripts need.
  private static func visible(_ text: String) -> String {
    guard !text.unicodeScalars.allSatisfy(isVisible) else { return text }
    // The escape of a style's code.
    let style = #/\x1B(?=\[(?:0|1|2|31|32)m)/#
    let parts = isStyled ? text.split(separator: style, omittingEmptySubsequences: false) : [text[...]]
    return parts.map { part in
      part.unicodeScalars.map { isVisible($0) ? String($0) : $0.escaped }.joined()
    }.joined(separator: "\u{1B}")
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\n", "\t", "\u{200C}", "\u{200D}": true
    default: scalar.isPrintable && scalar.properties.generalCategory != .format
    }
  }

  package enum Style: Int {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
  }

  private static let isStyled = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
}

package enum LogLevel: String, ExpressibleByArgument, CaseIterable {
  case debug, info, notice, warning, error

  package var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
}
