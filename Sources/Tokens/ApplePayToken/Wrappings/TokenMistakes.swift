import StrictJSON
import TenderPayments

/// Recognises the mistakes that integrators make with the outer form of a payment token, so that each gets its own
/// advice.
enum TokenMistakes {
  /// The longest document to examine; a payment token is never longer.
  private static let limit = TokenLimits.json

  /// - Parameters:
  ///   - text: found in place of the payment token's object.
  ///   - member: that has it; nil for the document itself.
  static func encodedTwice(_ text: String, member: String? = nil) -> PaymentTokenError {
    guard object(Array(text.utf8)).map(isGooglePay) != true else { return googlePay }
    let code = "JSON.parse(text)" + (member.map { ".\($0)" } ?? "")
    let place = "a string stands where the payment token's object should"
    guard let what = TokenWrapping.find(in: .string(text), code) else {
      let beginning = TokenWrapping.beginning(of: Array(text.utf8))
      return PaymentTokenError(
        member == nil ? .notAPaymentToken : .wrongType, "\(place), and no payment token is in it; \(beginning)",
        field: member)
    }
    return PaymentTokenError(.doubleEncoded, "\(place): \(what.sentence)", field: member)
  }

  static func notJSON(_ bytes: [UInt8], _ error: JSONError) -> PaymentTokenError {
    if bytes.count <= limit, let encoded = encodedToken(String(decoding: bytes, as: UTF8.self)) { return encoded }
    let what =
      if let cut = TokenWrapping.cut(bytes, error) ?? TokenWrapping.find(in: bytes) {
        cut.sentence
      } else if bytes.starts(with: "-----BEGIN ".utf8) {
        "this is PEM, as keys and certificates are written, and no payment token"
      } else if let reason = TokenWrapping.abridgement(of: bytes) {
        "the payment token is not JSON: \(error); perhaps \(reason)"
      } else {
        "the payment token is not JSON: \(error)"
      }
    return PaymentTokenError(.notJSON, "\(what); \(TokenWrapping.beginning(of: bytes))")
  }

  /// Nil for a text that is neither base64 of an object nor a string in JSON with an object's text.
  static func encodedToken(_ text: String) -> PaymentTokenError? {
    if isBase64OfObject(text), let wrapping = TokenWrapping.find(in: Array(text.utf8)) {
      return PaymentTokenError(.doubleEncoded, wrapping.sentence)
    }
    guard text.utf8.first == UInt8(ascii: "\""), text.utf8.count <= limit,
      case .string(let inner)? = try? JSONReader.read(Array(text.utf8))
    else { return nil }
    return encodedTwice(inner)
  }

  /// Something else than an object, or a list, where the payment token's object should stand.
  static func notAnObject(_ json: JSONValue, field: String? = nil) -> PaymentTokenError {
    let code = "JSON.parse(text)" + (field.map { ".\($0)" } ?? "")
    guard let wrapping = TokenWrapping.find(in: json, code) else {
      return field == nil
        ? PaymentTokenError(.notAPaymentToken, "the payment token is \(json.kind), not an object")
        : PaymentTokenError(.wrongType, "must be an object, is \(json.kind)", field: field)
    }
    return PaymentTokenError(field == nil ? .notAPaymentToken : .wrongType, wrapping.sentence, field: field)
  }

  static func notAPaymentToken(_ object: JSONObject) -> PaymentTokenError {
    let reason =
      if let wrapping = TokenWrapping.find(in: .object(object)) {
        wrapping.sentence
      } else if object["ephemeralPublicKey"] != nil || object["wrappedKey"] != nil {
        "this is the header alone, without what stands beside it"
      } else if object["onlinePaymentCryptogram"] != nil || object["applicationPrimaryAccountNumber"] != nil {
        "this is decrypted payment data already"
      } else if object.members.contains(where: { members.contains($0.key.lowercased()) }) {
        "the members are not named as Apple names them: version, data, signature, header, in small letters"
      } else {
        "neither paymentData nor any member of it is here"
      }
    return PaymentTokenError(.notAPaymentToken, reason)
  }

  private static let members: Set = ["version", "data", "signature", "header", "paymentdata"]

  /// Google's token, signed by Google (`ECv1` and `ECv2`), or the `PaymentData` around it.
  static func isGooglePay(_ object: JSONObject) -> Bool {
    let isToken = object["protocolVersion"] != nil && object["signedMessage"] != nil
    return isToken || object["paymentMethodData"]?["tokenizationData"] != nil
  }

  static var googlePay: PaymentTokenError {
    PaymentTokenError(.googlePayToken, "this is a payment token of Google Pay")
  }

  private static func isBase64OfObject(_ text: String) -> Bool {
    let line = text.filter { !$0.isWhitespace }
    guard line.utf8.count <= limit, line.hasPrefix("e") else { return false }
    return Base64.decode(line).flatMap(object) != nil
  }

  private static func object(_ bytes: [UInt8]) -> JSONObject? {
    guard bytes.count <= limit,
      case .object(let object)? = try? JSONReader.read(bytes, limits: JSONLimits(depth: 16, size: limit))
    else { return nil }
    return object
  }
}
