/// The rest of a transcript's line: words, and `key=value`.
package struct Fields {
  package let words: [String]
  private let pairs: [(key: String, value: String)]

  package init(_ line: some Sequence<String>) {
    words = line.filter { !$0.contains("=") }
    pairs = line.compactMap { word in
      word.firstIndex(of: "=").map { (String(word[..<$0]), String(word[word.index(after: $0)...])) }
    }
  }

  package subscript(key: String) -> String? { all(key).first }

  /// The values of a key that may stand there more than once.
  package func all(_ key: String) -> [String] { pairs.filter { $0.key == key }.map(\.value) }
}
