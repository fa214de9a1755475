/// The rest of a transcript's line: words, and `key=value`.
public struct Fields {
  public let words: [String]
  private let pairs: [(key: String, value: String)]

  public init(_ line: some Sequence<String>) {
    words = line.filter { !$0.contains("=") }
    pairs = line.compactMap { word in
      word.firstIndex(of: "=").map { (String(word[..<$0]), String(word[word.index(after: $0)...])) }
    }
  }

  public subscript(key: String) -> String? { all(key).first }

  /// The values of a key that may stand there more than once.
  public func all(_ key: String) -> [String] { pairs.filter { $0.key == key }.map(\.value) }
}
