import Crypto
import TenderPayments

/// Builds a detached CMS signature, byte for byte as Apple's broker emits it unless a part is changed:
/// BER with indefinite lengths, the leaf before the intermediate, no root, no revocation lists, nothing unsigned
/// (RFC 5652 §5).
///
/// All parts are DER with tag and length.
struct SignatureBuilder {
  /// The signed attributes, in the order in which they are written.
  struct Attribute: Equatable {
    var type: [UInt8]
    var values: [[UInt8]]
    var encoded: [UInt8] { BERWriter.definite(0x30, type, BERWriter.definite(0x31, values.flatMap { $0 })) }
  }

  var form: SignatureForm
  var key: SigningKey
  /// What is enclosed.
  var certificates: [[UInt8]]
  /// The certificate that the SignerInfo names.
  var issuer: [UInt8]
  var serialNumber: [UInt8]
  var attributes: [Attribute]

  var contentType = DEROID.idSignedData
  var version: [UInt8] = [0x02, 0x01, 0x01]
  var digestAlgorithms: [[UInt8]]
  var encapsulatedType = DEROID.idData
  /// After the encapsulated content type: nothing, because the content is elsewhere.
  var encapsulatedContent: [UInt8] = []
  /// After the certificates: nothing; revocation lists would stand here.
  var afterCertificates: [UInt8] = []
  var signerVersion: [UInt8] = [0x02, 0x01, 0x01]
  var signerDigestAlgorithm: [UInt8]
  /// The key's own when nil.
  var signatureAlgorithm: [UInt8]?
  var hasAttributes = true
  /// An OCTET STRING in one piece.
  var valueTag: UInt8 = 0x04
  /// After the signature's value: nothing; unsigned attributes would stand here.
  var afterValue: [UInt8] = []
  var hasIndefiniteLengths = true
  /// What is signed in place of the attributes.
  var signs: [UInt8]?

  /// Over the signature's value.
  var editValue: ([UInt8]) -> [UInt8] = { $0 }
  /// Over the one SignerInfo: what stands in the set of them.
  var editSigners: ([UInt8]) -> [UInt8] = { $0 }
  /// Over the whole.
  var edit: ([UInt8]) -> [UInt8] = { $0 }

  init(over content: [UInt8], at moment: Timestamp, by key: SigningKey, form: SignatureForm, signer: SignerNames) {
    self.form = form
    self.key = key
    certificates = signer.certificates
    (issuer, serialNumber) = (signer.issuer, signer.serialNumber)
    let sha256 = BERWriter.definite(0x30, DEROID.sha256, form == .withoutNull ? [] : DEROID.null)
    digestAlgorithms = [sha256]
    signerDigestAlgorithm = sha256
    let protection = BERWriter.definite(0x30, sha256, BERWriter.definite(0xA1, Array(key.algorithm.dropFirst(2))))
    let digest = BERWriter.definite(0x04, Array(SHA256.hash(data: content)))
    attributes = [
      Attribute(type: DEROID.contentType, values: [DEROID.idData]),
      Attribute(type: DEROID.signingTime, values: [moment.asn1]),
      Attribute(type: DEROID.algorithmProtection, values: [protection]),
      Attribute(type: DEROID.messageDigest, values: [digest]),
    ]
    if form == .withoutAlgorithmProtection { attributes.remove(at: 2) }
  }

  func encoded() throws -> [UInt8] {
    let signedData = wrap(
      0x30, version, BERWriter.definite(0x31, digestAlgorithms.flatMap { $0 }),
      wrap(0x30, encapsulatedType, encapsulatedContent), wrap(0xA0, certificates.flatMap { $0 }), afterCertificates,
      BERWriter.definite(0x31, editSigners(try signerInfo())))
    return edit(wrap(0x30, contentType, wrap(0xA0, signedData)))
  }

  /// What is signed is the attributes as a SET (tag 31); what is sent is the same bytes under tag A0.
  func signerInfo() throws -> [UInt8] {
    let attributes = attributes.flatMap(\.encoded)
    let value = try key.sign(signs ?? BERWriter.definite(0x31, attributes))
    return BERWriter.definite(
      0x30, signerVersion, BERWriter.definite(0x30, issuer, serialNumber), signerDigestAlgorithm,
      hasAttributes ? BERWriter.definite(0xA0, attributes) : [], signatureAlgorithm ?? key.algorithm,
      BERWriter.definite(valueTag, editValue(value)), afterValue)
  }

  private func wrap(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    let content = parts.flatMap { $0 }
    return hasIndefiniteLengths ? BERWriter.indefinite(tag, content) : BERWriter.definite(tag, content)
  }

  /// The place of an attribute; nil when it was removed.
  func index(of type: [UInt8]) -> Int? { attributes.firstIndex { $0.type == type } }

  mutating func set(_ type: [UInt8], _ values: [[UInt8]]) {
    if let index = index(of: type) { attributes[index].values = values }
  }

  mutating func remove(_ type: [UInt8]) { attributes.removeAll { $0.type == type } }

  /// DER's order of a set (X.690 §11.6), in which Apple's four attributes stand by their lengths alone.
  mutating func sort() { attributes.sort { $0.encoded.lexicographicallyPrecedes($1.encoded) } }
}

/// The signer's certificates, and the certificate that the signature names.
struct SignerNames {
  var certificates: [[UInt8]]
  var issuer: [UInt8]
  var serialNumber: [UInt8]
}
