import Crypto

/// The signed attributes (RFC 5652 §11), each at most once and with one value.
struct SignedAttributes {
  fileprivate struct Attribute {
    /// The object identifier's element.
    let type: BERElement
    let value: BERElement
  }

  /// How many Apple writes.
  private static let usualCount = 4
  private let attributes: [Attribute]

  /// The signature covers the DER of a SET OF. Apple sends DER, so the received bytes are used. Attributes out of DER's
  /// order are refused: reordering them would check other bytes than those received.
  init(_ element: BERElement) throws(BERError) {
    var reader = element.children(.der)
    var attributes: [Attribute] = []
    attributes.reserveCapacity(Self.usualCount)
    var previous: ArraySlice<UInt8> = []
    while !reader.isAtEnd {
      let element = try reader.next(BERTag.sequence, "an attribute")
      guard previous.lexicographicallyPrecedes(element.encoding) else {
        throw BERError("the attributes are not in DER's order")
      }
      previous = element.encoding
      let attribute = try Attribute(element)
      guard !attributes.contains(where: { $0.type.encoding.isSame(as: attribute.type.encoding) }) else {
        throw BERError("an attribute twice")
      }
      attributes.append(attribute)
    }
    self.attributes = attributes
  }

  var count: Int { attributes.count }

  /// The types in their order, in dotted form.
  var names: String { attributes.map { ObjectIdentifier.dotted($0.type.content) }.joined(separator: " ") }

  func value(_ identifier: [UInt8]) -> BERElement? { place(of: identifier).map { attributes[$0].value } }

  /// RFC 5652 §11.2: whether the signature is over a content with this digest.
  func names(_ content: SHA256.Digest) -> Bool {
    guard let digest = value(ObjectIdentifier.messageDigest), digest.tag == BERTag.octetString else { return false }
    return content.withUnsafeBytes(digest.content.isSame)
  }

  static let wrongDigest = PaymentTokenError(.wrongDigest, "what was signed is not what is in the token")

  func has(_ identifier: [UInt8]) -> Bool { place(of: identifier) != nil }

  private func place(of identifier: [UInt8]) -> Int? {
    attributes.indices.first { attributes[$0].type.isObject(identifier) }
  }
}

extension SignedAttributes.Attribute {
  fileprivate init(_ element: BERElement) throws(BERError) {
    var fields = element.children(.der)
    type = try fields.next(BERTag.objectIdentifier, "an attribute's type")
    var values = try fields.next(BERTag.set, "an attribute's values").children(.der)
    try fields.end("an attribute")
    value = try values.next()
    try values.end("an attribute's values: there must be one")
  }
}
