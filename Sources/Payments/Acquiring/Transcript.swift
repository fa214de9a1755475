import StrictJSON

/// One exchange with an acquirer, fit for a log.
package struct Transcript: Sendable, Hashable {
  package let request: String
  package let response: String

  package init(request: String, response: String) { (self.request, self.response) = (request, response) }
}

/// Takes each exchange with an acquirer. A log that does not show it does not make it: scrubbing reads both bodies again.
package typealias ExchangeLog = @Sendable (@autoclosure () -> Transcript) -> Void

/// Turns what goes over a wire into what may stand in a log.
///
/// It knows what may be shown and masks the rest: a field that the acquirer adds tomorrow is masked until somebody
/// has judged it.
package struct Scrubber: Sendable {
  private let shown: Set<String>

  /// - Parameter showing: names of JSON members whose values are no secrets, at any depth.
  package init(showing shown: Set<String>) { self.shown = shown }

  package func scrub(_ body: [UInt8]) -> String {
    guard !body.isEmpty else { return "" }
    guard let value = try? JSONReader.read(body) else { return "(\(body.count) bytes, not JSON)" }
    return String(decoding: scrub(value).serialized(), as: UTF8.self)
  }

  private func scrub(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object): .object(scrub(object))
    case .array(let elements): .array(elements.map(scrub))
    case .null: .null
    default: "•••"
    }
  }

  private func scrub(_ object: JSONObject) -> JSONObject {
    object.members.reduce(into: JSONObject()) { clean, member in
      clean[member.key] = isPlain(member.value) && shown.contains(member.key) ? member.value : scrub(member.value)
    }
  }

  private func isPlain(_ value: JSONValue) -> Bool {
    switch value {
    case .object, .array: false
    default: true
    }
  }
}
