import HTTPServing
import TenderPayments

/// The parameters of a call, as form fields or in the query: `metadata[order]=7`. What a call does not know is refused,
/// as Stripe refuses it.
struct StripeParameters: Sendable {
  private let values: [String: [String]]

  /// - Parameters:
  ///   - known: the names; an array's is `expand[]`, with or without an index in the text.
  ///   - maps: the names of maps, whose keys are free.
  init(_ text: String, known: Set<String>, maps: Set<String> = []) throws(StripeProblem) {
    var values: [String: [String]] = [:]
    guard let fields = FormFields(text.utf8) else { throw StripeProblem(400, "Invalid form encoding") }
    for (name, value) in fields.pairs {
      let isMap = maps.contains(String(name.prefix { $0 != "[" }))
      let plain = isMap ? name : name.replacing(/\[[0-9]*\]/, with: "[]")
      guard isMap || known.contains(plain) else {
        throw StripeProblem(
          400, "Received unknown parameter: \(name)", code: "parameter_unknown", parameter: name)
      }
      values[plain, default: []].append(value)
    }
    self.values = values
  }

  subscript(_ name: String) -> String? { values[name]?.last.flatMap { $0.isEmpty ? nil : $0 } }

  func all(_ name: String) -> [String] { values[name] ?? [] }

  func text(_ name: String) throws(StripeProblem) -> String {
    guard let text = self[name] else { throw .missing(name) }
    return text
  }

  /// A whole number, of minor units or less.
  func integer(_ name: String) throws(StripeProblem) -> Int64? {
    guard let text = self[name] else { return nil }
    guard let number = Int64(text), Amount.limit.contains(number) else {
      throw .invalid(name, "Invalid integer: \(text)", code: "parameter_invalid_integer")
    }
    return number
  }

  func flag(_ name: String) throws(StripeProblem) -> Bool? {
    guard let text = self[name] else { return nil }
    guard let flag = Bool(text) else { throw .invalid(name, "Invalid boolean: \(text)") }
    return flag
  }

  /// A map such as `metadata`: at most 50 keys of 40 characters, values of 500.
  func map(_ name: String) throws(StripeProblem) -> [String: String] {
    var map: [String: String] = [:]
    for (key, texts) in values where key.hasPrefix("\(name)[") && key.hasSuffix("]") {
      let inner = String(key.dropFirst(name.utf8.count + 1).dropLast())
      guard (1...40).contains(inner.count), let value = texts.last, value.count <= 500 else {
        throw .invalid(name, "\(name) has a key of more than 40 characters or a value of more than 500")
      }
      map[inner] = value
    }
    guard map.count <= 50 else { throw .invalid(name, "\(name) can have up to 50 keys") }
    return map
  }
}
