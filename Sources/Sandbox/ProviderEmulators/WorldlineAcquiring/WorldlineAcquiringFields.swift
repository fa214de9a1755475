import StrictJSON
import TenderPayments

/// A JSON object of a request. A member that Worldline's API does not have is refused, so that a typing error shows.
struct WorldlineAcquiringFields: Sendable {
  private let object: JSONObject
  private let path: String

  init(_ value: JSONValue, _ path: String = "", known: Set<String>) throws(WorldlineAcquiringProblem) {
    guard case .object(let object) = value else { throw .invalid("\(path.isEmpty ? "the body" : path) is no object") }
    (self.object, self.path) = (object, path)
    if let unknown = object.members.first(where: { !known.contains($0.key) }) {
      throw .invalid("\(name(unknown.key)) is not known")
    }
  }

  private func name(_ member: String) -> String { path.isEmpty ? member : "\(path).\(member)" }

  private func present(_ member: String) -> JSONValue? { object[member].flatMap { $0 == .null ? nil : $0 } }

  func textIfPresent(_ member: String, limit: Int = 100) throws(WorldlineAcquiringProblem) -> String? {
    guard let value = present(member) else { return nil }
    guard case .string(let text) = value, (1...limit).contains(text.utf8.count) else {
      throw .invalid("\(name(member)) is no text of 1 to \(limit) characters")
    }
    return text
  }

  func text(_ member: String, limit: Int = 100) throws(WorldlineAcquiringProblem) -> String {
    guard let text = try textIfPresent(member, limit: limit) else { throw .required(name(member)) }
    return text
  }

  func text(_ member: String, among words: [String]) throws(WorldlineAcquiringProblem) -> String {
    let text = try text(member)
    guard words.contains(text) else { throw .invalid("\(name(member)) is one of \(words.joined(separator: ", "))") }
    return text
  }

  func integerIfPresent(
    _ member: String, _ range: ClosedRange<Int64>
  ) throws(WorldlineAcquiringProblem) -> Int64? {
    guard let value = present(member) else { return nil }
    guard case .integer(let number) = value, range.contains(number) else {
      throw .invalid("\(name(member)) is no whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func integer(_ member: String, _ range: ClosedRange<Int64>) throws(WorldlineAcquiringProblem) -> Int64 {
    guard let number = try integerIfPresent(member, range) else { throw .required(name(member)) }
    return number
  }

  func flag(_ member: String) throws(WorldlineAcquiringProblem) -> Bool {
    guard let value = present(member) else { return false }
    guard case .bool(let flag) = value else { throw .invalid("\(name(member)) is neither true nor false") }
    return flag
  }

  func objectIfPresent(
    _ member: String, known: Set<String>
  ) throws(WorldlineAcquiringProblem) -> WorldlineAcquiringFields? {
    guard let value = present(member) else { return nil }
    return try WorldlineAcquiringFields(value, name(member), known: known)
  }

  func object(_ member: String, known: Set<String>) throws(WorldlineAcquiringProblem) -> WorldlineAcquiringFields {
    guard let fields = try objectIfPresent(member, known: known) else { throw .required(name(member)) }
    return fields
  }

  /// An amount with as many decimals as ISO 4217 has.
  func amountIfPresent(_ member: String) throws(WorldlineAcquiringProblem) -> Amount? {
    guard let fields = try objectIfPresent(member, known: ["amount", "currencyCode", "numberOfDecimals"]) else {
      return nil
    }
    let code = try fields.text("currencyCode", limit: 3)
    guard let currency = Currency(code: code), currency.isMoney else {
      throw .invalid("\(name(member)).currencyCode is no currency")
    }
    guard try fields.integer("numberOfDecimals", 0...4) == Int64(currency.exponent) else {
      throw .invalid("\(name(member)).numberOfDecimals is not \(currency.exponent)")
    }
    return Amount(minorUnits: try fields.integer("amount", 1...999_999_999_999), currency: currency)
  }

  func amount(_ member: String) throws(WorldlineAcquiringProblem) -> Amount {
    guard let amount = try amountIfPresent(member) else { throw .required(name(member)) }
    return amount
  }
}
