package import Hummingbird

/// The fields of a form or of a query, in their order. Names are compared as bytes.
package struct FormFields: Sendable {
  /// The most fields that a form may have.
  private static let most = 1_000

  package let pairs: [(name: String, value: String)]

  package init(pairs: [(name: String, value: String)]) { self.pairs = pairs }

  /// - Parameter body: `application/x-www-form-urlencoded`, in which a plus stands for a space.
  /// - Returns: nil for text that ``RequestText`` refuses, and for more than 1,000 fields.
  package init?(_ body: some Collection<UInt8>) {
    let fields = Array(body).split(separator: UInt8(ascii: "&"), maxSplits: Self.most)
    let pairs = fields.compactMap(Self.pair)
    guard fields.count <= Self.most, pairs.count == fields.count else { return nil }
    self.init(pairs: pairs)
  }

  fileprivate init?(upToMost query: some Collection<UInt8>) {
    let fields = Array(query).split(separator: UInt8(ascii: "&"), maxSplits: Self.most)
    self.init(Array(fields.prefix(Self.most).joined(separator: [UInt8(ascii: "&")])))
  }

  private static func pair(_ field: ArraySlice<UInt8>) -> (name: String, value: String)? {
    let word = field.prefix { $0 != UInt8(ascii: "=") }
    guard let name = text(word), let value = text(field.dropFirst(word.count + 1)) else { return nil }
    return (name, value)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    RequestText.read(RequestText.unescaped(bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }))
  }

  /// The first field with this name; nil when there is none.
  package subscript(_ name: String) -> String? { pairs.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }

  package func all(_ name: String) -> [String] {
    pairs.filter { $0.name.utf8.elementsEqual(name.utf8) }.map(\.value)
  }
}

extension Request {
  /// What the query of the address asks, as browsers and `URLSearchParams` write it (URL Standard, section 5.1); of more
  /// fields than a form may have, the first.
  package var query: FormFields { FormFields(upToMost: (uri.query ?? "").utf8) ?? FormFields(pairs: []) }
}
