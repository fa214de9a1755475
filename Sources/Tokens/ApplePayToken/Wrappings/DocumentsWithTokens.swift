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
    var (name, place) = ("", code)
    for step in path {
      switch step {
      case .member(let known?): (name, place) = (name + ".\(known)", place + ".\(known)")
      case .element(let index): (name, place) = (name + "[\(index)]", place + "[\(index)]")
      case .text: place = "JSON.parse(\(place))"
      case .member(nil): return inner.nested
      }
    }
    let isText = path.contains { if case .text = $0 { true } else { false } }
    return inner.found(as: name.drop { $0 == "." }, isText ? ", as text" : "", place)
  }

  /// Names that documents around a payment token have. A reason repeats no other: the sender chooses it.
  private static let names = [
    "payment", "token", "paymentData", "data", "paymentToken", "applePayToken", "applePayPaymentToken", "applePay",
    "encryptedPaymentData", "mobilePaymentMethodSpecificInput", "paymentMethod", "event", "detail", "details", "body",
    "request", "payload", "value",
  ]

  /// A step on the way to a payment token in a document.
  private enum Step {
    /// Nil for a name that is not one of ``names``.
    case member(String?)
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
    ///   - member: empty for the document itself.
    ///   - code: what gives the value, in place of `text` or `bytes`.
    func found(as member: Substring, _ suffix: String, _ code: String) -> TokenWrapping {
      let line =
        isObject
        ? member.isEmpty && suffix.isEmpty ? wrapping.line : "body: JSON.stringify(\(code))"
        : wrapping.line == "text" ? wrapping.line : wrapping.line.replacing("text", with: code)
      let name =
        switch (isObject, member.isEmpty) {
        case (true, true): wrapping.name + suffix.replacing(",", with: "")
        case (true, false): "a document around the payment token, which is its member \(member)\(suffix)"
        case (false, true): wrapping.name
        case (false, false): "a document with \(wrapping.name) as its member \(member)"
        }
      return TokenWrapping(name: name, line: line, condition: wrapping.condition)
    }

    /// Below a name that is not repeated.
    var nested: TokenWrapping {
      isObject
        ? TokenWrapping(
          name: "a document around the payment token, which is a nested member",
          line: "body: JSON.stringify(token), the payment token alone", condition: wrapping.condition)
        : TokenWrapping(
          name: "a document with \(wrapping.name) as a nested member",
          line: found(as: "", "", "value").line,
          condition: wrapping.condition)
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
        return ([.member(names.first { $0.utf8.elementsEqual(key.utf8) })] + rest.path, rest.inner)
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

  private static func inner(_ json: JSONValue, _ work: inout Int) -> Inner? {
    switch json {
    case .object(let object):
      if let data = paymentData(object) {
        return Inner(
          isObject: true,
          wrapping: TokenWrapping(name: "the payment token's JSON", line: "text", condition: condition(data)))
      }
      return bytes(of: object, &work).map { Inner(isObject: false, wrapping: $0) }
    case .array:
      return bytes(json).map {
        Inner(isObject: false, wrapping: undone("an array of bytes as JSON", $0, "Buffer.from(text)", &work))
      }
    case .string, .integer, .number, .bool, .null: return nil
    }
  }

  /// The shortest text in another one that is looked into: shorter ones are identifiers and names.
  static let shortest = 64

  /// Bytes as an object of JavaScript.
  private static func bytes(of object: JSONObject, _ work: inout Int) -> TokenWrapping? {
    if let bytes = bytes(.object(object)) {
      return undone("a Node Buffer as JSON", bytes, "Buffer.from(text.data)", &work)
    }
    guard object["0"] != nil, object["1"] != nil, object["2"] != nil else { return nil }
    return undone(
      "a Uint8Array as JSON.stringify writes it", bytes(.array(object.members.map(\.value))),
      "Buffer.from(Object.values(text))", &work)
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
      let problem = TokenInspection(try EncryptedPaymentToken(paymentData: data)).problem
      return problem.map { .damaged($0.reason) } ?? .whole
    } catch {
      return .damaged((error.field.map { "\($0): " } ?? "") + error.reason)
    }
  }
}
