import Crypto

/// A detached CMS SignedData (RFC 5652 §5) as Apple makes it: the grammar only. ``TokenVerifier`` decides whether it is
/// trusted.
struct SignedData {
  let encoding: ArraySlice<UInt8>
  let digestAlgorithms: [BERElement]
  let certificates: [BERElement]
  let signers: [BERElement]

  init(ber bytes: ArraySlice<UInt8>) throws(BERError) {
    encoding = bytes
    var contentInfo = try BERReader.only(bytes, BERTag.sequence, .ber, "the signature").children(.ber)
    guard try contentInfo.next(BERTag.objectIdentifier, "its content type").isObject(ObjectIdentifier.signedData) else {
      throw BERError("it is no SignedData")
    }
    let content = try contentInfo.next(BERTag.context(0), "its content")
    try contentInfo.end("the signature")

    var fields = try BERReader.only(content.content, BERTag.sequence, .ber, "SignedData").children(.ber)
    try fields.version(1, "SignedData")
    digestAlgorithms = try fields.next(BERTag.set, "digestAlgorithms").children(.ber).all("digestAlgorithms")
    try Self.checkDetached(fields.next(BERTag.sequence, "encapContentInfo"))
    certificates = try fields.next(BERTag.context(0), "certificates").children(.ber).all("certificates")
    signers = try fields.next(BERTag.set, "signerInfos").children(.ber).all("signerInfos")
    try fields.end("SignedData")
  }

  /// The content is the payment token around the signature, so there is none inside.
  private static func checkDetached(_ element: BERElement) throws(BERError) {
    var fields = element.children(.ber)
    guard try fields.next(BERTag.objectIdentifier, "eContentType").isObject(ObjectIdentifier.data) else {
      throw BERError("eContentType is not id-data")
    }
    try fields.end("encapContentInfo: it should be detached")
  }
}

/// One SignerInfo (RFC 5652 §5.3), read as DER, as Apple writes it: signed data must have one encoding.
struct SignerInfo {
  let issuer: ArraySlice<UInt8>
  let serialNumber: ArraySlice<UInt8>
  let digestAlgorithm: AlgorithmIdentifier
  let attributes: BERElement
  let signatureAlgorithm: AlgorithmIdentifier
  let signature: ArraySlice<UInt8>
  /// Whether unsigned attributes follow. Anyone can add them, so nothing in them is read.
  let hasUnsignedAttributes: Bool

  init(_ element: BERElement) throws(BERError) {
    var fields = element.children(.der)
    try fields.version(1, "SignerInfo")
    var identifier = try fields.next(BERTag.sequence, "sid").children(.der)
    issuer = try identifier.next(BERTag.sequence, "sid's issuer").encoding
    serialNumber = try identifier.next(BERTag.integer, "sid's serial number").content
    try identifier.end("sid")
    digestAlgorithm = try AlgorithmIdentifier(fields.next(BERTag.sequence, "digestAlgorithm"))
    attributes = try fields.next(BERTag.context(0), "signedAttrs")
    signatureAlgorithm = try AlgorithmIdentifier(fields.next(BERTag.sequence, "signatureAlgorithm"))
    signature = try fields.next(BERTag.octetString, "the signature's value").content
    let unsigned = try fields.nextIf(BERTag.context(1))
    guard unsigned?.content.isEmpty != true else { throw BERError("a set of no unsigned attributes") }
    hasUnsignedAttributes = unsigned != nil
    try fields.end("SignerInfo")
  }

  /// RFC 5652 §5.4: the signature covers the DER of the attributes with the tag of a SET in place of `[0]`.
  var signedDigest: SHA256.Digest {
    var attributes = Array(attributes.encoding)
    attributes[0] = BERTag.set
    return SHA256.hash(data: attributes)
  }
}

extension BERReader {
  /// The most elements of one kind; more are refused before they are stored.
  private static let countLimit = 16

  fileprivate mutating func version(_ number: UInt8, _ what: String) throws(BERError) {
    guard try next(BERTag.integer, "\(what)'s version").content.elementsEqual([number]) else {
      throw BERError("\(what) has another version than \(number)")
    }
  }

  fileprivate func all(_ what: String) throws(BERError) -> [BERElement] {
    var reader = self
    var elements: [BERElement] = []
    while !reader.isAtEnd {
      guard elements.count < Self.countLimit else { throw BERError("too many elements in \(what)") }
      elements.append(try reader.next())
    }
    return elements
  }
}
