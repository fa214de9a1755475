import HTTPServing
import Hummingbird
import TenderPayments

/// The fields of a form, by name; of several with one name, all.
struct OfficeForm: Sendable {
  static let limit = 256 << 10
  static let empty = OfficeForm(fields: [:])

  /// Of a form with a file.
  static let fileLimit = 16 << 20

  private let fields: [String: [String]]
  private let files: [String: OfficeFile]

  init(fields: [String: [String]], files: [String: OfficeFile] = [:]) {
    (self.fields, self.files) = (fields, files)
  }

  /// - Parameter body: `application/x-www-form-urlencoded`.
  init(_ body: [UInt8]) {
    var fields: [String: [String]] = [:]
    for pair in body.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      fields[Self.decoded(parts[0]), default: []].append(parts.count > 1 ? Self.decoded(parts[1]) : "")
    }
    self.init(fields: fields)
  }

  /// Without spaces around it; empty when it is absent.
  subscript(_ name: String) -> String {
    let text = raw(name)
    return String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }

  /// As it was sent: a password may begin with a space.
  func raw(_ name: String) -> String { fields[name]?.first ?? "" }

  func all(_ name: String) -> [String] { fields[name] ?? [] }

  /// Nil where none was sent.
  func file(_ name: String) -> OfficeFile? { files[name] }

  func isChecked(_ name: String) -> Bool { fields[name] != nil }

  private static func decoded(_ bytes: some Collection<UInt8>) -> String {
    var (result, rest) = ([UInt8](), Array(bytes)[...])
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)),
        value.count == 1
      {
        result.append(value[0])
        rest = rest.dropFirst(2)
      } else {
        result.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension OfficeForm {
  /// Why a person does it, for the audit chain.
  ///
  /// - Throws: ``OfficeRefusal`` when it is empty or too long.
  var reason: String {
    get throws {
      let text = self["reason"]
      guard (1...500).contains(text.utf8.count) else {
        throw OfficeRefusal.badRequest("Say in 1 to 500 bytes why you do this.")
      }
      return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
  }
}
