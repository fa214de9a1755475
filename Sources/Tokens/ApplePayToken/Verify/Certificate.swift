import TenderPayments

/// An X.509 certificate (RFC 5280) in DER: the parts needed to verify Apple's signatures.
///
/// Immutable. A class, because it has a dozen fields and is passed around for every payment token.
final class Certificate: Sendable {
  let encoding: [UInt8]
  /// The TBSCertificate, which is what the issuer signed.
  let signedPart: ArraySlice<UInt8>
  let serialNumber: ArraySlice<UInt8>
  let issuer: ArraySlice<UInt8>
  let subject: ArraySlice<UInt8>
  let notBefore: Timestamp
  let notAfter: Timestamp
  /// SubjectPublicKeyInfo.
  let publicKeyInfo: ArraySlice<UInt8>
  let extensions: CertificateExtensions
  /// Nil for an unsupported algorithm; such a certificate can be read but is never trusted.
  let signatureAlgorithm: SignatureAlgorithm?
  let signature: ArraySlice<UInt8>
  /// The last common name of the subject. It does not affect trust; it distinguishes Apple's sandbox from production.
  let commonName: String?

  init(der: ArraySlice<UInt8>) throws(BERError) {
    encoding = Array(der)
    var outer = try BERReader.only(encoding[...], BERTag.sequence, .der, "a certificate").children(.der)
    let body = try outer.next(BERTag.sequence, "the certificate's body")
    let algorithm = try outer.next(BERTag.sequence, "the certificate's signature algorithm")
    signature = try Self.wholeBytes(outer.next(BERTag.bitString, "the certificate's signature"))
    try outer.end("a certificate")
    signedPart = body.encoding
    signatureAlgorithm = try AlgorithmIdentifier(algorithm).signature

    var fields = body.children(.der)
    let version = try fields.next(BERTag.context(0), "the certificate's version")
    guard version.content.elementsEqual([BERTag.integer, 1, 2]) else {
      throw BERError("a certificate that is not version 3")
    }
    serialNumber = try fields.next(BERTag.integer, "the serial number").content
    let inner = try fields.next(BERTag.sequence, "the inner signature algorithm")
    guard inner.encoding == algorithm.encoding else { throw BERError("a certificate that names two algorithms") }
    issuer = try fields.next(BERTag.sequence, "the issuer").encoding
    (notBefore, notAfter) = try Self.validity(fields.next(BERTag.sequence, "the validity"))
    subject = try fields.next(BERTag.sequence, "the subject").encoding
    publicKeyInfo = try fields.next(BERTag.sequence, "the public key").encoding
    extensions = try CertificateExtensions(fields.nextIf(BERTag.context(3)))
    try fields.end("the certificate's body")
    commonName = Self.commonName(subject)
  }

  /// Reads the only certificate in a text of PEM.
  convenience init(onlyIn text: String, _ code: PaymentTokenError.Code) throws(PaymentTokenError) {
    guard let blocks = PEM.blocks(text) else { throw PaymentTokenError(code, PEM.isCut) }
    let found = blocks.filter { $0.label == "CERTIFICATE" }
    guard let only = found.first, found.count == 1 else {
      let reason =
        if found.count > 1 {
          "the file holds \(found.count) certificates; give the one that is meant, alone"
        } else if let name = PEM.name(in: blocks) {
          name == "trusted certificate"
            ? "the certificate is in OpenSSL's own form; convert it: openssl x509 -in file.pem -out plain.pem"
            : "the file holds a \(name), and no certificate"
        } else {
          "the file holds no certificate in PEM; one in DER is converted so: "
            + "openssl x509 -inform der -in file.cer -out file.pem"
        }
      throw PaymentTokenError(code, reason)
    }
    guard !only.bytes.isEmpty else { throw PaymentTokenError(code, PEM.noBase64) }
    do throws(BERError) { try self.init(der: only.bytes[...]) } catch {
      throw PaymentTokenError(code, "the certificate cannot be read: \(error.reason)")
    }
  }

  func isValid(at time: Timestamp) -> Bool { notBefore <= time && time <= notAfter }

  private static func validity(_ element: BERElement) throws(BERError) -> (Timestamp, Timestamp) {
    var fields = element.children(.der)
    guard let notBefore = try fields.next().time, let notAfter = try fields.next().time else {
      throw BERError("a date of the validity is malformed")
    }
    try fields.end("the validity")
    return (notBefore, notAfter)
  }

  private static func wholeBytes(_ bitString: BERElement) throws(BERError) -> ArraySlice<UInt8> {
    guard bitString.content.first == 0 else { throw BERError("a bit string that does not end on a byte") }
    return bitString.content.dropFirst()
  }

  private static func commonName(_ name: ArraySlice<UInt8>) -> String? {
    guard var parts = try? BERReader.only(name, BERTag.sequence, .der, "a name").children(.der) else { return nil }
    var found: String?
    while let set = try? parts.next() {
      var attributes = set.children(.der)
      while let attribute = try? attributes.next() {
        var fields = attribute.children(.der)
        guard let type = try? fields.next(), type.isObject(ObjectIdentifier.commonName), let value = try? fields.next()
        else { continue }
        found = String(decoding: value.content.prefix(256), as: UTF8.self)
      }
    }
    return found
  }
}
