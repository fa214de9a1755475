import NIOSSL
import SwiftASN1
import X509

/// A file with a certificate in any form that Apple's portal, a keychain or OpenSSL writes.
package struct CertificateFile: Sendable {
  /// DER.
  package let certificates: [[UInt8]]
  /// PEM; nil where the file holds no key. Only PKCS #12 and PEM do.
  package let privateKeyPEM: String?

  /// Reads DER, PEM and PKCS #7. A file of any other form has no certificates.
  package init(_ bytes: [UInt8]) {
    if let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN ") {
      let documents = (try? PEMDocument.parseMultiple(pemString: text)) ?? []
      certificates = documents.flatMap { Self.certificates(of: $0) }
      privateKeyPEM = documents.first { $0.discriminator.hasSuffix("PRIVATE KEY") }.map { $0.pemString + "\n" }
    } else {
      certificates = Self.certificates(der: bytes)
      privateKeyPEM = nil
    }
  }

  /// Reads PKCS #12.
  ///
  /// - Throws: ``MerchantIdentityError`` when the passphrase is wrong, the file has another form, or it lacks certificate
  ///   or key.
  package init(pkcs12 bytes: [UInt8], passphrase: String) throws(MerchantIdentityError) {
    guard let contents = try? PKCS12Contents(bytes) else { throw Self.noPKCS12 }
    guard contents.hasKey, contents.mayHaveCertificate else {
      throw MerchantIdentityError(
        .certificateUnreadable, "The PKCS #12 file holds no \(contents.hasKey ? "certificate" : "private key").",
        advice: "Export certificate and key together from the keychain.")
    }
    do {
      let bundle = try NIOSSLPKCS12Bundle(buffer: bytes, passphrase: Array(passphrase.utf8))
      certificates = try bundle.certificateChain.map { try $0.toDERBytes() }
      privateKeyPEM = try Self.privateKeyPEM(der: bundle.privateKey.derBytes)
    } catch {
      throw Self.noPKCS12
    }
  }

  private static let noPKCS12 = MerchantIdentityError(
    .certificateUnreadable, "The file is no PKCS #12, or the passphrase is another.",
    advice: "Export certificate and key together from the keychain, and give the passphrase of that export.")

  /// Certificate and key as PKCS #12.
  package static func pkcs12(
    certificatePEM: String, privateKeyPEM: String, passphrase: String
  ) throws(MerchantIdentityError) -> [UInt8] {
    do {
      return try NIOSSLPKCS12Bundle(
        certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8)),
        privateKey: try NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem)
      ).serialize(passphrase: Array(passphrase.utf8))
    } catch {
      throw MerchantIdentityError(
        .privateKeyUnreadable, "Certificate and key cannot be written as PKCS #12.", advice: "Export them as PEM.")
    }
  }

  /// - Parameter der: of a key in its traditional form, or PKCS #8.
  private static func privateKeyPEM(der: [UInt8]) throws -> String {
    for type in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"] {
      let document = PEMDocument(type: type, derBytes: der)
      if let key = try? Certificate.PrivateKey(pemDocument: document) {
        return try key.serializeAsPEM().pemString + "\n"
      }
    }
    throw MerchantIdentityError(.privateKeyUnreadable, "The key is neither P-256 nor RSA.", advice: "Make a new one.")
  }

  private static func certificates(of document: PEMDocument) -> [[UInt8]] {
    switch document.discriminator {
    case "CERTIFICATE": [document.derBytes]
    case "PKCS7", "CMS": certificates(der: document.derBytes)
    default: []
    }
  }

  private static func certificates(der bytes: [UInt8]) -> [[UInt8]] {
    if (try? Certificate(derEncoded: bytes)) != nil { return [bytes] }
    return (try? signedData(bytes)) ?? []
  }

  /// The certificates of a PKCS #7 SignedData (RFC 2315 §9.1), which need have no signature.
  private static func signedData(_ bytes: [UInt8]) throws -> [[UInt8]] {
    try DER.sequence(try DER.parse(bytes), identifier: .sequence) { content in
      let type = try ASN1ObjectIdentifier(derEncoded: &content)
      guard type == [1, 2, 840, 113_549, 1, 7, 2] else { throw ASN1Error.invalidASN1Object(reason: "no SignedData") }
      return try DER.explicitlyTagged(&content, tagNumber: 0, tagClass: .contextSpecific) { node in
        try DER.sequence(node, identifier: .sequence) { fields in
          var certificates: [[UInt8]] = []
          while let field = fields.next() {
            guard field.identifier == ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific),
              case .constructed(let children) = field.content
            else { continue }
            certificates = children.map { Array($0.encodedBytes) }
          }
          return certificates
        }
      }
    }
  }
}

extension CertificateFile: CustomStringConvertible, CustomReflectable {
  package var description: String { "file of \(certificates.count) certificates" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
