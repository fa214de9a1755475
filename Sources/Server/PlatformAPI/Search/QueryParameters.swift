import TenderPayments

/// Why a query is refused.
package struct QueryRefused: Error, Sendable, Hashable {
  package let parameter: String
  package let reason: String
}

/// The parameters of a query, each at most once unless it may be repeated. An unknown parameter is refused: a
/// misspelt condition would find everything.
struct QueryParameters {
  private let values: [(name: String, value: String)]

  init(
    _ values: [(name: String, value: String)], known: Set<String>, repeated: Set<String> = []
  ) throws(QueryRefused) {
    var seen: Set<String> = []
    for (name, _) in values {
      guard known.contains(name) else { throw QueryRefused(parameter: name, reason: "There is no such parameter.") }
      guard seen.insert(name).inserted || repeated.contains(name) else {
        throw QueryRefused(parameter: name, reason: "Send it once.")
      }
    }
    self.values = values
  }

  func all(_ name: String) -> [String] { values.filter { $0.name == name }.map(\.value) }

  /// The parameter as it is read; nil where it is absent.
  func read<Value>(
    _ name: String, _ form: String, _ make: (String) -> Value?
  ) throws(QueryRefused) -> Value? {
    guard let text = all(name).first else { return nil }
    guard let value = make(text) else { throw QueryRefused(parameter: name, reason: "Write it as \(form).") }
    return value
  }

  func text(_ name: String) -> String? { all(name).first }

  func time(_ name: String) throws(QueryRefused) -> Timestamp? {
    try read(name, "2030-01-01T00:00:00Z") { Timestamp(rfc3339: $0) }
  }

  /// How many rows a page has: 1 to 100, 50 by default.
  func limit() throws(QueryRefused) -> Int64 {
    try read("limit", "a whole number, 1 to 100") { Int64($0).flatMap { (1...100).contains($0) ? $0 : nil } } ?? 50
  }
}
