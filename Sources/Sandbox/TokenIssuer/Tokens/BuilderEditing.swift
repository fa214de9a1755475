import Crypto
import StrictJSON
import TenderPayments

/// Changes that several variants make.
extension PaymentTokenBuilder {
  /// Draws device keys until one is as wanted.
  mutating func drawKey(until isRight: (PaymentTokenBuilder) throws -> Bool) throws {
    while try !isRight(self) { encryption.ephemeralKey = P256.KeyAgreement.PrivateKey() }
  }

  func secretOfRecipient() throws -> [UInt8] {
    guard case .p256(let key) = recipient.key else { return [] }
    return try encryption.secret(with: key)
  }

  mutating func becomeEMV() {
    payload["paymentDataType"] = "EMV"
    payload["paymentData"] = ["emvData": .string(Base64.encode(random.next(90)))]
  }

  /// Over the answer of the card.
  mutating func answer(_ edit: (inout JSONObject) -> Void) {
    guard case .object(var answer)? = payload["paymentData"] else { return }
    edit(&answer)
    payload["paymentData"] = .object(answer)
  }

  /// A new P-256 key that no certificate names.
  func untrustedKey() -> SigningKey { .p256(P256.Signing.PrivateKey()) }

  /// A new P-384 key that no certificate names.
  func untrustedRootKey() -> SigningKey { .p384(P384.Signing.PrivateKey()) }
}

extension JSONObject {
  init(_ members: some Sequence<(key: String, value: JSONValue)>) {
    self.init()
    for (key, value) in members { self[key] = value }
  }

  /// Over the member `header`.
  mutating func header(_ edit: (inout JSONObject) -> Void) {
    guard case .object(var header)? = self["header"] else { return }
    edit(&header)
    self["header"] = .object(header)
  }

  /// Over a member that is text.
  mutating func editText(_ key: String, _ edit: (String) -> String) {
    guard case .string(let text)? = self[key] else { return }
    self[key] = .string(edit(text))
  }
}

extension CertificateBuilder {
  mutating func remove(_ extension: Extension) { extensions.removeAll { $0.identifier == `extension`.identifier } }

  /// Puts the extension in the place of the one of its kind.
  mutating func set(_ extension: Extension) { replace(`extension`, with: `extension`) }

  mutating func replace(_ old: Extension, with new: Extension) {
    for index in extensions.indices where extensions[index].identifier == old.identifier { extensions[index] = new }
  }
}

/// The DER of an ECDSA signature over P-256, taken apart.
struct ECDSAValue {
  var r: [UInt8]
  var s: [UInt8]

  /// - Parameter der: as swift-crypto writes it.
  init(_ der: [UInt8]) {
    let end = 4 + Int(der[3])
    r = Array(der[4..<end])
    s = Array(der[(end + 2)...])
  }

  /// The parts as they stand, also where they are no DER.
  var encoded: [UInt8] { BERWriter.definite(0x30, BERWriter.definite(0x02, r), BERWriter.definite(0x02, s)) }

  /// The parts at full length.
  var fixedWidth: [UInt8] { Self.padded(r) + Self.padded(s) }

  /// The other solution for the same signature.
  static func negated(_ der: [UInt8]) -> [UInt8] {
    var value = ECDSAValue(der)
    value.s = Array(BERWriter.integer(difference(Array(order.dropFirst()), padded(value.s))).dropFirst(2))
    return value.encoded
  }

  /// The order of the group of P-256 (SEC 2 §2.4.2), as the contents of an INTEGER.
  static let order: [UInt8] =
    [0] + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + [
      0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

  private static func padded(_ magnitude: [UInt8]) -> [UInt8] {
    let digits = magnitude.drop { $0 == 0 }
    return [UInt8](repeating: 0, count: 32 - digits.count) + digits
  }

  private static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    var borrow = 0
    var result = left
    for index in left.indices.reversed() {
      let digit = Int(left[index]) - Int(right[index]) - borrow
      borrow = digit < 0 ? 1 : 0
      result[index] = UInt8(truncatingIfNeeded: digit)
    }
    return result
  }
}
