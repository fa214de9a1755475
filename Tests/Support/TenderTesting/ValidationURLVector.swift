import Foundation
package import TenderPayments

/// One line of `Tests/Support/Vectors/validation-urls.txt`: an address, and what its responder must say.
package struct ValidationURLVector: Sendable, CustomStringConvertible {
  package let environment: TenderPayments.Environment
  /// `ok`, or the code of the refusal.
  package let outcome: String
  package let url: String

  package var description: String { "\(environment.rawValue) \(url.debugDescription)" }

  private struct Malformed: Error {}

  package static func all() throws -> [ValidationURLVector] {
    let file = URL(filePath: #filePath).appending(path: "../../Vectors/validation-urls.txt").standardized
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    return try lines.filter { !$0.hasPrefix("#") }.map { line in
      let fields = line.split(separator: " ", maxSplits: 2)
      guard let environment = Environment(rawValue: String(fields[0])) else { throw Malformed() }
      return ValidationURLVector(
        environment: environment, outcome: String(fields[1]), url: try unescaped(fields[2].dropFirst().dropLast()))
    }
  }

  private static func unescaped(_ text: Substring) throws -> String {
    var out = ""
    var rest = text
    while let character = rest.popFirst() {
      out += character == "\\" ? try escaped(&rest) : String(character)
    }
    return out
  }

  private static func escaped(_ rest: inout Substring) throws -> String {
    let plain: [Character: String] = ["t": "\t", "n": "\n", "r": "\r", "0": "\0", "\\": "\\"]
    guard let kind = rest.popFirst() else { throw Malformed() }
    if let text = plain[kind] { return text }
    let digits = rest.dropFirst().prefix { $0 != "}" }
    guard kind == "u", let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else { throw Malformed() }
    rest = rest.dropFirst(digits.count + 2)
    return String(Character(scalar))
  }
}
