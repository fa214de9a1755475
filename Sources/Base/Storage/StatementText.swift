/// A statement's text as a key. The texts are long, few, and hardly two have the same length: that is all that is hashed.
struct StatementText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
}
