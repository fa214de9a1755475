import NIOSSL
import SwiftASN1
import TenderPayments
import X509

/// A file with a certificate in any form that Apple's portal, a keychain or OpenSSL writes.
package struct CertificateFile: Sendable {
  /// DER.
  package let certificates: [[UInt8]]
  /// PEM; nil where the file holds no key. Only PKCS #12 and PEM do.
  package let privateKeyPEM: String?

  /// Reads DER, PEM and PKCS #7. A file of any other form has no certificates.
  package init(_ bytes: [UInt8]) {
    if let text = String(validating: bytes, as: UTF8.self), bytes.firstRange(of: Array("-----BEGIN ".utf8)) != nil {
      let documents = PEMDocument.all(in: text)
      certificates = documents.flatMap { Self.certificates(of: $0) }
      privateKeyPEM = documents.first { $0.discriminator.hasSuffix("PRIVATE KEY") }.map { $0.pemString + "\n" }
    } else {
      certificates = Self.certificates(der: bytes)
      privateKeyPEM = nil
    }
  }

  /// Whether a file has the form of PKCS #12, which a passphrase opens.
  package static func isPKCS12(_ bytes: [UInt8]) -> Bool { (try? PKCS12Contents(bytes)) != nil }

  /// Reads PKCS #12.
  ///
  /// - Throws: ``MerchantIdentityError`` when the passphrase is wrong, the file has another form, it lacks certificate or
  ///   key, or the two do not fit.
  package init(pkcs12 bytes: [UInt8], passphrase: String) throws(MerchantIdentityError) {
    do {
      let file = try PKCS12File(bytes, passphrase: passphrase)
      let key = try Self.privateKey(der: file.privateKey)
      certificates = try Self.ordered(file.certificates, by: key)
      privateKeyPEM = try key.serializeAsPEM().pemString + "\n"
    } catch let fault as PKCS12File.Fault {
      throw Self.refusal(fault)
    } catch let error as MerchantIdentityError {
      throw error
    } catch {
      throw Self.noPKCS12
    }
  }

  /// The certificate of the key first.
  private static func ordered(_ certificates: [[UInt8]], by key: Certificate.PrivateKey) throws -> [[UInt8]] {
    let own = try certificates.filter { try Certificate(derEncoded: $0).publicKey == key.publicKey }
    guard !own.isEmpty else {
      throw MerchantIdentityError(
        .keyMismatch, "The private key in the PKCS #12 file is not the one that its certificate was made for.",
        advice: "Export the certificate from the keychain that made its request: there its key is below it.")
    }
    return own + certificates.filter { !own.contains($0) }
  }

  private static func refusal(_ fault: PKCS12File.Fault) -> MerchantIdentityError {
    switch fault {
    case .wrongPassphrase: noPKCS12
    case .noKey: lacking("no private key")
    case .severalKeys: lacking("several private keys")
    case .noCertificate: lacking("no certificate")
    case .unreadable: unreadable
    }
  }

  private static func lacking(_ what: String) -> MerchantIdentityError {
    MerchantIdentityError(
      .certificateUnreadable, "The PKCS #12 file holds \(what).",
      advice: "Export one certificate and its key together from the keychain.")
  }

  private static let unreadable = MerchantIdentityError(
    .certificateUnreadable, "The PKCS #12 file is sealed or locked in a way that is not read here.",
    advice:
      "Write it anew: openssl pkcs12 -legacy -in old.p12 -nodes -out all.pem && openssl pkcs12 -export -in all.pem "
      + "-out new.p12; then remove all.pem. Leave -legacy out where OpenSSL does not know it.")

  private static let noPKCS12 = MerchantIdentityError(
    .certificateUnreadable, "The file is no PKCS #12, or the passphrase is another.",
    advice: "Export certificate and key together from the keychain, and give the passphrase of that export.")

  /// Certificate and key as PKCS #12.
  package static func pkcs12(
    certificatePEM: String, privateKeyPEM: String, passphrase: String
  ) throws(MerchantIdentityError) -> [UInt8] {
    // NIOSSL ends the process at a pair that does not fit.
    _ = try CertificateAndKey(certificatePEM: certificatePEM, privateKeyPEM: privateKeyPEM)
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
  private static func privateKey(der: [UInt8]) throws -> Certificate.PrivateKey {
    for type in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"] {
      if let key = try? Certificate.PrivateKey(pemDocument: PEMDocument(type: type, derBytes: der)) { return key }
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
