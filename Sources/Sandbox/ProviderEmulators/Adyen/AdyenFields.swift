import AcquirerSandbox
import StrictJSON

/// A JSON object of a request, of which every member must be known, as Adyen demands.
struct AdyenFields: Sendable {
  private let field: JSONField

  /// - Parameters:
  ///   - name: the structure's name, for the error.
  ///   - known: the members that it may have.
  init(_ field: JSONField, _ name: String, known: Set<String>) throws(AdyenProblem) {
    guard case .object(let object) = field.value else { throw .notReadable("\(name) is no object") }
    let unknown = object.members.map(\.key).filter { !known.contains($0) }
    guard unknown.isEmpty else {
      throw AdyenProblem(
        422, "702", "Structure of \(name) contains the following unknown fields: [\(unknown.joined(separator: ", "))]")
    }
    self.field = field
  }

  /// The member as it came; nil where it is absent.
  func value(_ name: String) -> JSONValue? { field.value[name] }

  /// A text of 1 to `limit` characters.
  func text(_ name: String, limit: Int = 10_000) throws(AdyenProblem) -> String {
    guard let text = try textIfPresent(name, limit: limit), !text.isEmpty else { throw .required(name) }
    return text
  }

  func textIfPresent(_ name: String, limit: Int = 10_000) throws(AdyenProblem) -> String? {
    guard let value = field.value[name], value != .null else { return nil }
    guard case .string(let text) = value else { throw .notReadable("\(name) is no string") }
    guard !text.isLonger(than: limit) else {
      throw AdyenProblem(422, "702", "Field '\(name)' is longer than \(limit) characters.")
    }
    return text
  }

  private func minorUnits(_ name: String) throws(AdyenProblem) -> Int64 {
    guard let value = field.value[name], value != .null else { throw .required(name) }
    guard let units = try? JSONField(value).minorUnits else { throw .notReadable("\(name) is no whole number") }
    return units
  }

  func object(_ name: String) throws(AdyenProblem) -> JSONField {
    guard let object = objectIfPresent(name) else { throw .required(name) }
    return object
  }

  func objectIfPresent(_ name: String) -> JSONField? {
    guard let value = field.value[name], value != .null else { return nil }
    return JSONField(value)
  }

  /// A map from text to text, as `additionalData`.
  func texts(_ name: String) throws(AdyenProblem) -> [String: String] {
    guard let value = field.value[name], value != .null else { return [:] }
    guard case .object(let object) = value else { throw .notReadable("\(name) is no object") }
    var texts: [String: String] = [:]
    for (key, value) in object.members {
      guard case .string(let text) = value else { throw .notReadable("\(name).\(key) is no string") }
      texts[key] = text
    }
    return texts
  }

  /// `amount`: a currency that Adyen takes, and a positive value in the units that Adyen counts it in.
  ///
  /// - Parameter mayBeZero: a payment of zero is a zero-value authorization.
  func amount(mayBeZero: Bool = false) throws(AdyenProblem) -> AdyenAmount {
    let fields = try AdyenFields(try object("amount"), "Amount", known: ["currency", "value"])
    guard let amount = AdyenAmount(value: try fields.minorUnits("value"), currency: try fields.text("currency")) else {
      throw .currency
    }
    guard amount.value > 0 || mayBeZero && amount.value == 0 else { throw .amount }
    return amount
  }
}
