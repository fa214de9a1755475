import StrictJSON
import TenderPayments

// JSON documents around a payment token.
extension TokenWrapping {
  /// - Parameter code: what gives the document in the sender's program, from `text`.
  static func find(in json: JSONValue, _ code: String = "JSON.parse(text)") -> TokenWrapping? {
    var work = Self.work
    return find(in: json, code, &work)
  }

  static func find(in json: JSONValue, _ code: String, _ work: inout Int) -> TokenWrapping? {
    guard let (path, inner) = path(in: json, depth: 12, isRoot: true, &work) else { return nil }
    var (name, place, isText, isNamed) = ("", code, false, true)
    for step in path {
      switch step {
      case .member(let known): (name, place) = (name + ".\(known)", place + ".\(known)")
      case .other(let index): (isNamed, place) = (false, "Object.values(\(place))[\(index)]")
      case .element(let index): (name, place) = (name + "[\(index)]", place + "[\(index)]")
      case .text: (isText, place) = (true, "JSON.parse(\(place))")
      }
    }
    let member = isNamed ? name.isEmpty ? nil : "its member \(name.drop { $0 == "." })" : "a nested member"
    return inner.found(as: member, isText, place)
  }

  /// Names that documents around a payment token have. A reason repeats no other: the sender chooses it.
  private static let names = [
    "payment", "token", "paymentData", "data", "paymentToken", "applePayToken", "applePayPaymentToken", "applePay",
    "encryptedPaymentData", "mobilePaymentMethodSpecificInput", "paymentMethod", "event", "detail", "details", "body",
    "request", "payload", "value",
  ]

  /// A step on the way to a payment token in a document.
  private enum Step {
    case member(String)
    /// One whose name is not in ``names``, by its place in JavaScript's order.
    case other(Int)
    case element(Int)
    /// A text of JSON.
    case text
  }

  /// What stands at the end of a path.
  private struct Inner {
    /// Whether it is the payment token's object, and not bytes or text.
    let isObject: Bool
    let wrapping: TokenWrapping

    /// - Parameters:
    ///   - member: nil for the document itself.
    ///   - code: what gives the value, in place of `text` or `bytes`.
    func found(as member: String?, _ isText: Bool, _ code: String) -> TokenWrapping {
      let suffix = isText ? ", as text" : ""
      let isAlone = member == nil && !isText
      let remedy: Remedy =
        isObject && !isAlone
        ? .code("body: JSON.stringify(\(code))")
        : isObject || wrapping.remedy == .code("text") ? wrapping.remedy : wrapping.remedy.after(.code(code))
      let name =
        switch (isObject, member) {
        case (true, nil): wrapping.name + suffix.replacing(",", with: "")
        case (true, let member?): "a document around the payment token, which is \(member)\(suffix)"
        case (false, nil): wrapping.name
        case (false, let member?): "a document with \(wrapping.name) as \(member)"
        }
      return TokenWrapping(name: name, remedy: remedy, condition: wrapping.condition)
    }
  }

  /// Where a payment token is, and in what form; the path is empty for the document itself.
  private static func path(in json: JSONValue, depth: Int, isRoot: Bool = false, _ work: inout Int) -> (
    path: [Step], inner: Inner
  )? {
    if let inner = inner(json, &work) { return ([], inner) }
    guard depth > 0 else { return nil }
    switch json {
    case .object(let object):
      for (key, value) in object.members {
        guard let rest = path(in: value, depth: depth - 1, &work) else { continue }
        let name = names.first { $0.utf8.elementsEqual(key.utf8) }
        return ([name.map { .member($0) } ?? .other(place(of: key, in: object))] + rest.path, rest.inner)
      }
      return nil
    case .array(let elements):
      for (index, element) in elements.prefix(8).enumerated() {
        guard let rest = path(in: element, depth: depth - 1, &work) else { continue }
        return ([.element(index)] + rest.path, rest.inner)
      }
      return nil
    case .string(let text):
      if [UInt8(ascii: "{"), UInt8(ascii: "\""), UInt8(ascii: "[")].contains(text.utf8.first),
        let json = try? JSONReader.read(Array(text.utf8), limits: JSONLimits(depth: 16, size: TokenLimits.json))
      {
        return path(in: json, depth: depth - 1, &work).map { ([.text] + $0.path, $0.inner) }
      }
      guard isRoot || text.utf8.count >= shortest, let what = token(in: Array(text.utf8), &work) else { return nil }
      return ([], Inner(isObject: false, wrapping: what))
    case .integer, .number, .bool, .null: return nil
    }
  }

  /// Where JavaScript has a member: first the names that are indices of an array, by their size, then the others.
  private static func place(of key: String, in object: JSONObject) -> Int {
    let keys = object.members.map(\.key)
    let indices = keys.filter {
      $0.wholeMatch(of: /0|[1-9][0-9]{0,9}/) != nil && ($0.utf8.count < 10 || $0 < "4294967295")
    }
    let ordered = indices.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) } + keys.filter { !indices.contains($0) }
    return ordered.firstIndex { $0.utf8.elementsEqual(key.utf8) } ?? 0
  }

  /// Databases that write the type of each value around it.
  private static let databases = [("S", "DynamoDB"), ("stringValue", "Firestore")]

  private static func inner(_ json: JSONValue, _ work: inout Int) -> Inner? {
    switch json {
    case .object(let object):
      if let data = paymentData(object) {
        if let (_, name) = databases.first(where: { data["version"]?[$0.0] != nil }) {
          let typed = "\(name)'s types"
          let wrapping = TokenWrapping(name: "the payment token in \(typed)", remedy: .decode(typed))
          return Inner(isObject: false, wrapping: wrapping)
        }
        return Inner(
          isObject: true,
          wrapping: TokenWrapping(name: "the payment token's JSON", remedy: .code("text"), condition: condition(data)))
      }
      return bytes(of: object, &work).map { Inner(isObject: false, wrapping: $0) }
    case .array:
      return bytes(json).map {
        Inner(isObject: false, wrapping: undone("an array of bytes as JSON", $0, .code("Buffer.from(text)"), &work))
      }
    case .string, .integer, .number, .bool, .null: return nil
    }
  }

  /// The shortest text in another one that is looked into: shorter ones are identifiers and names.
  static let shortest = 64

  /// Bytes as an object of JavaScript.
  private static func bytes(of object: JSONObject, _ work: inout Int) -> TokenWrapping? {
    if let bytes = bytes(.object(object)) {
      return undone("a Node Buffer as JSON", bytes, .code("Buffer.from(text.data)"), &work)
    }
    guard object["0"] != nil, object["1"] != nil, object["2"] != nil else { return nil }
    return undone(
      "a Uint8Array as JSON.stringify writes it", bytes(.array(object.members.map(\.value))),
      .code("Buffer.from(Object.values(text))"), &work)
  }

  /// Bytes as JSON writes them, as an array or as a Node Buffer; nil for anything else.
  static func bytes(_ json: JSONValue) -> [UInt8]? {
    if case .object(let object) = json, object["type"] != nil, let data = object["data"] { return bytes(data) }
    guard case .array(let elements) = json, elements.count >= 8 else { return nil }
    let bytes = elements.compactMap { element in
      if case .integer(let byte) = element, (-128...255).contains(byte) { UInt8(truncatingIfNeeded: byte) } else { nil }
    }
    return bytes.count == elements.count ? bytes : nil
  }

  /// The members of the payment token that an object is, or has as `paymentData`.
  private static func paymentData(_ object: JSONObject) -> JSONObject? {
    if case .object(let data)? = object["paymentData"], isPaymentData(data) { return data }
    return isPaymentData(object) ? object : nil
  }

  private static func isPaymentData(_ object: JSONObject) -> Bool {
    object["header"] != nil && (object["data"] != nil || object["signature"] != nil)
  }

  private static func condition(_ data: JSONObject) -> Condition {
    do throws(PaymentTokenError) {
      _ = try EncryptedPaymentToken(paymentData: data)
      return .readable
    } catch {
      let field = error.field.map { "\($0): " } ?? ""
      return .known("the payment token in it cannot be read: \(field)\(error.reason)")
    }
  }
}
