/// How single marks of ASCII are written inside another syntax, such as HTML.
package struct Escapes: Sendable, ExpressibleByDictionaryLiteral {
  /// So few that a search from the front is quick.
  private let texts: [(mark: UInt8, text: [UInt8])]

  package init(dictionaryLiteral elements: (Unicode.Scalar, String)...) {
    texts = elements.map { (UInt8(ascii: $0), Array($1.utf8)) }
  }

  /// For elements of HTML, SVG and XML, and for attributes in either quote.
  package static let markup: Escapes = ["<": "&lt;", ">": "&gt;", "&": "&amp;", "\"": "&quot;", "'": "&#39;"]

  /// What a byte is written as; nil for itself.
  fileprivate subscript(_ byte: UInt8) -> [UInt8]? { texts.first { $0.mark == byte }?.text }
}

extension String {
  /// The text with these marks escaped, whatever stands behind them.
  ///
  /// Compares bytes: a quote with a combining mark behind it is another Character than a quote, and would end the value
  /// that it stands in.
  package func escaped(_ escapes: Escapes) -> String {
    guard utf8.contains(where: { escapes[$0] != nil }) else { return self }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    for byte in utf8 {
      if let text = escapes[byte] { bytes += text } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
