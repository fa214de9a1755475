import StrictJSON

/// Changes in a JSON document by the place of a string in it, or by a key.
enum JSONEditing {
  /// How many strings the document has.
  static func strings(in value: JSONValue) -> Int {
    var count = 0
    _ = mapped(value) { text in
      count += 1
      return .string(text)
    }
    return count
  }

  /// The document with other values in the place of some strings, which are counted from its beginning.
  static func replacing(_ changes: [Int: JSONValue], in value: JSONValue) -> JSONValue {
    var count = -1
    return mapped(value) { text in
      count += 1
      return changes[count] ?? .string(text)
    }
  }

  /// The document with another value wherever the key stands.
  static func setting(_ key: String, to value: JSONValue, in body: [UInt8]) -> [UInt8] {
    guard let document = try? JSONReader.read(body) else { return body }
    return setting(key, to: value, in: document).serialized()
  }

  /// The document with the elements of each list repeated, so that together they have so many bytes.
  static func lengthened(_ value: JSONValue, to bytes: Int) -> JSONValue {
    let lists = max(1, count(of: value))
    return lengthened(value, each: bytes / lists)
  }

  private static func mapped(_ value: JSONValue, _ change: (String) -> JSONValue) -> JSONValue {
    switch value {
    case .string(let text): change(text)
    case .array(let elements): .array(elements.map { mapped($0, change) })
    case .object(let object): .object(object.mapped { _, value in mapped(value, change) })
    default: value
    }
  }

  private static func setting(_ key: String, to new: JSONValue, in value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map { setting(key, to: new, in: $0) })
    case .object(let object): .object(object.mapped { $0 == key ? new : setting(key, to: new, in: $1) })
    default: value
    }
  }

  private static func count(of value: JSONValue) -> Int {
    switch value {
    case .array: 1
    case .object(let object): object.members.reduce(0) { $0 + count(of: $1.value) }
    default: 0
    }
  }

  private static func lengthened(_ value: JSONValue, each bytes: Int) -> JSONValue {
    switch value {
    case .array(let elements):
      let first = elements.first ?? "a"
      return .array((0..<bytes / (first.serialized().count + 8)).map { numbered(first, $0) })
    case .object(let object): return .object(object.mapped { lengthened($1, each: bytes) })
    default: return value
    }
  }

  /// With the number in its id, so that ids stay unique.
  private static func numbered(_ value: JSONValue, _ number: Int) -> JSONValue {
    guard case .object(let object) = value else {
      guard case .string(let text) = value else { return value }
      return .string("\(text)\(number)")
    }
    return .object(
      object.mapped { key, value in
        ["id", "identifier", "code"].contains(key) ? .string("\(key)\(number)") : value
      })
  }
}

extension JSONObject {
  fileprivate func mapped(_ change: (String, JSONValue) -> JSONValue) -> JSONObject {
    var changed = JSONObject()
    for (key, value) in members { changed[key] = change(key, value) }
    return changed
  }
}
