public import StrictJSON
public import TenderPayments

extension EncryptedPaymentToken {
  /// Reads the text of a payment token.
  ///
  /// - Parameter bytes: UTF-8 JSON of a `PKPaymentToken`, of an `ApplePayPaymentToken`, or the `paymentData` object.
  /// - Throws: stage `format`.
  public init(bytes: [UInt8]) throws(PaymentTokenError) {
    guard bytes.contains(where: { $0 > 0x20 }) else {
      throw PaymentTokenError(.emptyPaymentData, "the file or the body is empty: there is no payment token in it")
    }
    let json: JSONValue
    do {
      json = try JSONReader.read(bytes, limits: JSONLimits(depth: 16, size: TokenLimits.json))
    } catch {
      throw TokenMistakes.notJSON(bytes, error)
    }
    try self.init(json: json)
  }

  /// Reads a payment token from parsed JSON.
  ///
  /// - Parameter json: a `PKPaymentToken`, an `ApplePayPaymentToken`, or the `paymentData` object. Other members of the
  ///   first two are not signed and are ignored.
  /// - Throws: stage `format`.
  public init(json: JSONValue) throws(PaymentTokenError) {
    try self.init(paymentData: Self.paymentData(of: json))
  }

  /// Reads the members of `paymentData`.
  init(paymentData: JSONObject) throws(PaymentTokenError) {
    let data = TokenFields(paymentData, path: "")
    let header = try TokenFields(data.object("header"), path: "header.")
    let version = try data.version()
    try self.init(
      version: version,
      data: data.base64("data", limit: TokenLimits.data),
      signature: data.base64("signature", limit: TokenLimits.signature),
      keyMaterial: header.keyMaterial(version),
      publicKeyHash: header.base64("publicKeyHash", exactly: 32),
      transactionID: header.hash("transactionId"),
      applicationDataHash: header.has("applicationData") ? header.hash("applicationData") : nil)
  }

  /// Why a text is a payment token that something has encoded once more; nil for any other text.
  package static func mistake(in text: String) -> PaymentTokenError? { TokenMistakes.encodedToken(text) }

  private static func paymentData(of json: JSONValue) throws(PaymentTokenError) -> JSONObject {
    if case .string(let text) = json { throw text.isEmpty ? empty : TokenMistakes.encodedTwice(text) }
    guard case .object(let object) = json else { throw TokenMistakes.notAnObject(json) }
    guard !TokenMistakes.isGooglePay(object) else { throw TokenMistakes.googlePay }
    switch object["paymentData"] {
    case .object(let data)? where data.isEmpty: throw empty
    case .object? where object["applicationPrimaryAccountNumber"] != nil: throw TokenMistakes.notAPaymentToken(object)
    case .object(let data)? where data["header"] == nil && data["signature"] == nil:
      guard let wrapping = TokenWrapping.find(in: .object(data), "JSON.parse(text).paymentData") else { return data }
      throw PaymentTokenError(.notAPaymentToken, wrapping.sentence, field: "paymentData")
    case .object(let data)?: return data
    case .null?: throw empty
    case .string(let text)?:
      throw text.isEmpty ? empty : TokenMistakes.encodedTwice(text, member: "paymentData")
    case let other?: throw TokenMistakes.notAnObject(other, field: "paymentData")
    case nil: return try bare(object)
    }
  }

  private static let members = ["version", "data", "signature", "header"]

  private static func bare(_ object: JSONObject) throws(PaymentTokenError) -> JSONObject {
    let isWrapped =
      object["header"] == nil && object["signature"] == nil && TokenWrapping.find(in: .object(object)) != nil
    guard !isWrapped, members.contains(where: { object[$0] != nil }) else {
      throw TokenMistakes.notAPaymentToken(object)
    }
    return object
  }

  private static var empty: PaymentTokenError {
    PaymentTokenError(.emptyPaymentData, "paymentData is empty", field: "paymentData")
  }
}

/// The members of one object of the payment token, decoded one by one with errors that name them.
private struct TokenFields {
  let object: JSONObject
  let path: String

  init(_ object: JSONObject, path: String) {
    self.object = object
    self.path = path
  }

  /// A null counts as absent: it carries nothing that could be signed.
  func has(_ key: String) -> Bool {
    switch object[key] {
    case nil, .null?: false
    default: true
    }
  }

  func object(_ key: String) throws(PaymentTokenError) -> JSONObject {
    switch try value(key) {
    case .object(let inner): return inner
    case .string(let text) where text.utf8.first == UInt8(ascii: "{"):
      throw PaymentTokenError(.wrongType, "must be an object, is its JSON as text", field: path + key)
    default: throw try wrongType(key, "an object")
    }
  }

  func version() throws(PaymentTokenError) -> EncryptedPaymentToken.Version {
    guard let version = EncryptedPaymentToken.Version(rawValue: try text("version")) else {
      throw PaymentTokenError(.unknownVersion, "neither EC_v1 nor RSA_v1", field: "version")
    }
    return version
  }

  func keyMaterial(_ version: EncryptedPaymentToken.Version) throws(PaymentTokenError)
    -> EncryptedPaymentToken.KeyMaterial
  {
    let (wanted, other) =
      version == .ecV1 ? ("ephemeralPublicKey", "wrappedKey") : ("wrappedKey", "ephemeralPublicKey")
    guard !has(other) else {
      throw PaymentTokenError(.wrongKeyMaterial, "\(version.rawValue) does not have it", field: path + other)
    }
    switch version {
    case .ecV1: return .ephemeralPublicKey(try base64(wanted, limit: 1 << 10))
    case .rsaV1: return .wrappedKey(try base64(wanted, limit: 1 << 10))
    }
  }

  func base64(_ key: String, exactly count: Int) throws(PaymentTokenError) -> [UInt8] {
    let bytes = try base64(key, limit: count)
    guard bytes.count == count else { throw wrongLength(key, "\(count) bytes") }
    return bytes
  }

  func base64(_ key: String, limit: Int) throws(PaymentTokenError) -> [UInt8] {
    let text = try text(key)
    guard text.utf8.count <= limit.advanced(by: 2) / 3 * 4 else { throw wrongLength(key, "at most \(limit) bytes") }
    guard let bytes = Base64.decode(text) else { throw badBase64(key, text) }
    guard !bytes.isEmpty else { throw wrongLength(key, "not nothing") }
    return bytes
  }

  /// 64 hexadecimal digits of either case: Apple writes lowercase here and capitals elsewhere.
  func hash(_ key: String) throws(PaymentTokenError) -> [UInt8] {
    let text = try text(key)
    guard text.utf8.count == 64 else { throw wrongLength(key, "64 hexadecimal digits") }
    guard let bytes = Hex.decode(text) else { throw PaymentTokenError(.badHex, "not hexadecimal", field: path + key) }
    return bytes
  }

  private func text(_ key: String) throws(PaymentTokenError) -> String {
    guard case .string(let text) = try value(key) else { throw try wrongType(key, "a string") }
    return text
  }

  private func value(_ key: String) throws(PaymentTokenError) -> JSONValue {
    guard let value = object[key] else { throw PaymentTokenError(.missingField, "missing", field: path + key) }
    return value
  }

  private func wrongType(_ key: String, _ wanted: String) throws(PaymentTokenError) -> PaymentTokenError {
    let value = try value(key)
    let bytes = TokenWrapping.bytes(value).map { _ in ", which looks like bytes: send their base64" } ?? ""
    return PaymentTokenError(.wrongType, "must be \(wanted), is \(value.kind)\(bytes)", field: path + key)
  }

  private func wrongLength(_ key: String, _ wanted: String) -> PaymentTokenError {
    PaymentTokenError(.wrongLength, "must be \(wanted)", field: path + key)
  }

  private func badBase64(_ key: String, _ text: String) -> PaymentTokenError {
    guard !text.contains(" ") || Base64.decode(text.replacing(" ", with: "+")) == nil else {
      return PaymentTokenError(.plusAsSpace, "base64 in which each + became a space", field: path + key)
    }
    if text.utf8.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }) {
      return PaymentTokenError(.base64URL, "base64 in the URL alphabet", field: path + key)
    }
    return PaymentTokenError(.badBase64, Self.mistake(inBase64: text), field: path + key)
  }

  private static func mistake(inBase64 text: String) -> String {
    let digits = text.utf8.filter { $0 > 0x20 }
    return if text.hasPrefix("data:") {
      "a data: URL, and not the base64 in it alone"
    } else if Hex.decode(text) != nil {
      "hexadecimal, and not base64"
    } else if Base64.decode(String(decoding: digits, as: UTF8.self)) != nil {
      "base64 with white space in it"
    } else if let place = text.firstIndex(where: {
      !$0.isASCII || !($0.isLetter || $0.isNumber || "+/= \r\n".contains($0))
    }) {
      "not base64: its character \(text.distance(from: text.startIndex, to: place) + 1) is none of its alphabet"
    } else if !digits.count.isMultiple(of: 4) {
      "not base64: its \(digits.count) characters are no multiple of four, so padding or more is missing"
    } else {
      "not base64"
    }
  }
}
