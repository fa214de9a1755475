/// An AlgorithmIdentifier, checked against the few that may occur.
struct AlgorithmIdentifier {
  private enum Parameters { case absent, null, other }

  /// RFC 5754 §2: the parameters are absent, and NULL is accepted; Apple writes both.
  let isSHA256: Bool
  let hasNull: Bool
  /// The signature algorithm; nil when it may not sign a payment token or its certificates. RFC 5758 §3.2 requires
  /// ECDSA's parameters to be absent, RFC 4055 §5 requires RSA's to be NULL.
  let signature: SignatureAlgorithm?

  /// - Parameter fields: the contents of the SEQUENCE.
  init(fields: BERReader) throws(BERError) {
    var fields = fields
    let identifier = try fields.next(BERTag.objectIdentifier, "an algorithm's identifier")
    let parameters = try Self.parameters(&fields)
    try fields.end("an algorithm")
    isSHA256 = parameters != .other && identifier.isObject(ObjectIdentifier.sha256)
    hasNull = parameters == .null
    signature = Self.signature(identifier, parameters)
  }

  init(_ element: BERElement) throws(BERError) {
    guard element.tag == BERTag.sequence else { throw BERError("an algorithm has another tag") }
    try self.init(fields: element.children(.der))
  }

  private static func parameters(_ fields: inout BERReader) throws(BERError) -> Parameters {
    guard !fields.isAtEnd else { return .absent }
    let value = try fields.next()
    return value.tag == BERTag.null && value.content.isEmpty ? .null : .other
  }

  private static func signature(_ identifier: BERElement, _ parameters: Parameters) -> SignatureAlgorithm? {
    switch parameters {
    case .absent where identifier.isObject(ObjectIdentifier.ecdsaWithSHA256): .ecdsaWithSHA256
    case .absent where identifier.isObject(ObjectIdentifier.ecdsaWithSHA384): .ecdsaWithSHA384
    case .null where identifier.isObject(ObjectIdentifier.sha256WithRSAEncryption): .rsaWithSHA256
    default: nil
    }
  }
}

enum SignatureAlgorithm {
  case ecdsaWithSHA256
  case ecdsaWithSHA384
  case rsaWithSHA256
}
