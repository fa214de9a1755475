/// An AlgorithmIdentifier, checked against the few that may occur.
struct AlgorithmIdentifier {
  private enum Parameters { case absent, null, other }

  private let identifier: BERElement
  private let parameters: Parameters

  /// - Parameter fields: the contents of the SEQUENCE.
  init(fields: BERReader) throws(BERError) {
    var fields = fields
    identifier = try fields.next(BERTag.objectIdentifier, "an algorithm's identifier")
    guard !fields.isAtEnd else {
      parameters = .absent
      return
    }
    let value = try fields.next()
    parameters = value.tag == BERTag.null && value.content.isEmpty ? .null : .other
    try fields.end("an algorithm")
  }

  init(_ element: BERElement) throws(BERError) {
    guard element.tag == BERTag.sequence else { throw BERError("an algorithm has another tag") }
    try self.init(fields: element.children(.der))
  }

  /// RFC 5754 §2: the parameters are absent, and NULL is accepted; Apple writes both.
  var isSHA256: Bool { identifier.isObject(ObjectIdentifier.sha256) && parameters != .other }

  var hasNull: Bool { parameters == .null }

  /// The signature algorithm; nil when it may not sign a payment token or its certificates. RFC 5758 §3.2 requires
  /// ECDSA's parameters to be absent, RFC 4055 §5 requires RSA's to be NULL.
  var signature: SignatureAlgorithm? {
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
