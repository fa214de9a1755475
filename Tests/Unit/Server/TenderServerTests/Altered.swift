import StrictJSON

/// JSON values with one thing changed.
enum Altered {
  /// The payment token with one base64 character of a member of its `paymentData` changed.
  static func token(_ token: JSONValue, _ member: String) throws -> JSONValue {
    guard case .object(var outer) = token, case .object(var inner)? = outer["paymentData"],
      case .string(let text)? = inner[member]
    else { return token }
    var characters = Array(text)
    let middle = characters.count / 2
    characters[middle] = characters[middle] == "A" ? "B" : "A"
    inner[member] = .string(String(characters))
    outer["paymentData"] = .object(inner)
    return .object(outer)
  }
}

extension JSONValue {
  func with(_ key: String, _ value: JSONValue) -> JSONValue {
    guard case .object(var object) = self else { return self }
    object[key] = value
    return .object(object)
  }

  /// The same, with `key` as another answer has it: for comparing two answers that differ in it by nature.
  func replacing(_ key: String, of other: JSONValue) -> JSONValue { with(key, other[key] ?? .null) }
}
