import Acquiring
import TenderPayments

/// Parameters of a call: a form's fields, or a query's. Names have brackets, as `metadata[order]`.
struct StripeForm: Sendable, Hashable {
  struct Field: Sendable, Hashable {
    let name: String
    let value: String
  }

  private(set) var fields: [Field] = []

  /// Adds nothing for nil.
  mutating func add(_ name: String, _ value: String?) {
    if let value { fields.append(Field(name: name, value: value)) }
  }

  mutating func add(_ amount: Amount, as name: String = "amount") { add(name, "\(amount.minorUnits)") }

  /// As a body. Brackets stay as they are, as Stripe's own libraries write them.
  var text: String { text(plain: [0x5B, 0x5D]) }

  /// As the query of an address, in which brackets have to be escaped.
  var query: String { text(plain: []) }

  private func text(plain: [UInt8]) -> String {
    fields.map { "\(Self.escaped($0.name, plain))=\(Self.escaped($0.value, []))" }.joined(separator: "&")
  }

  /// For a transcript: the values of these names, and of everything else only that it was there.
  func masked(except shown: Set<String>) -> String {
    fields.map { "\($0.name)=\(shown.contains(String($0.name.prefix { $0 != "[" })) ? $0.value : "***")" }
      .joined(separator: "&")
  }

  private static func escaped(_ text: String, _ plain: [UInt8]) -> String {
    text.utf8.map { byte in
      let isPlain =
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
      return isPlain || plain.contains(byte) ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
    }.joined()
  }
}
