import Crypto
import CryptoExtras
import StrictJSON
import SwiftASN1
import TenderPayments
import X509

/// A certificate of Apple's portal and the private key that was made for it, read from PEM and found to fit.
struct CertificateAndKey: Sendable {
  let certificate: Certificate
  let certificatePEM: String
  let privateKeyPEM: String
  /// The SHA-256 of the merchant identifier, from the extension that only Apple Pay's certificates have.
  let merchantHash: [UInt8]

  init(certificatePEM: String, privateKeyPEM: String) throws(MerchantIdentityError) {
    let (key, keyPEM) = try Self.readKey(privateKeyPEM)
    let (certificate, document) = try Self.readCertificate(certificatePEM, preferring: key.publicKey)
    guard let merchantHash = certificate.merchantHash else { throw Self.namesNoMerchant }
    guard certificate.publicKey == key.publicKey else {
      throw MerchantIdentityError(
        .keyMismatch, "The private key is not the one that the certificate was made for.",
        advice: "Use the key whose certificate request was uploaded; if it is lost, make a new certificate.")
    }
    self.certificate = certificate
    self.certificatePEM = document.pemString + "\n"
    self.privateKeyPEM = keyPEM
    self.merchantHash = merchantHash
  }

  /// A PEM file may hold a whole chain: the merchant's own certificate is the one that names a merchant.
  private static func readCertificate(
    _ text: String, preferring key: Certificate.PublicKey
  ) throws(MerchantIdentityError) -> (Certificate, PEMDocument) {
    do {
      let documents = PEMDocument.all(in: text).filter { $0.discriminator == "CERTIFICATE" }
      let read = try documents.map { (try Certificate(pemDocument: $0), $0) }
      let own = read.filter { $0.0.merchantHash != nil }
      if let best = own.first(where: { $0.0.publicKey == key }) ?? own.first ?? read.first { return best }
    } catch {
      throw Self.unreadableCertificate
    }
    throw Self.unreadableCertificate
  }

  private static let unreadableCertificate = MerchantIdentityError(
    .certificateUnreadable, "No certificate can be read from the PEM text.",
    advice: "Convert what the portal gave: openssl x509 -inform der -in merchant_id.cer -out merchant_id.pem.")

  private static func readKey(_ text: String) throws(MerchantIdentityError) -> (Certificate.PrivateKey, String) {
    guard !text.contains("ENCRYPTED") else {
      throw MerchantIdentityError(
        .privateKeyEncrypted, "The private key is locked with a passphrase.",
        advice: "Unlock it: openssl pkey -in locked.pem -out key.pem, and guard the file by its permissions.")
    }
    do {
      let documents = PEMDocument.all(in: text)
      if let document = documents.first(where: { $0.discriminator.hasSuffix("PRIVATE KEY") }) {
        return (try Certificate.PrivateKey(pemDocument: document), document.pemString + "\n")
      }
    } catch {
      throw Self.unreadableKey
    }
    throw Self.unreadableKey
  }

  private static let unreadableKey = MerchantIdentityError(
    .privateKeyUnreadable, "No private key can be read from the PEM text.",
    advice: "Give the key as “PRIVATE KEY”, “EC PRIVATE KEY” or “RSA PRIVATE KEY” (RSA of at least 2048 bits).")
}

extension PEMDocument {
  /// The blocks of a text; none where one is not ended.
  static func all(in text: String) -> [PEMDocument] {
    (PEM.blocks(text) ?? []).map { PEMDocument(type: $0.label, derBytes: $0.bytes) }
  }
}

extension CertificateAndKey {
  var purpose: CertificateKind? { certificate.purpose }
  var isP256: Bool { certificate.algorithm == .p256 }
  var isRSA2048: Bool { certificate.algorithm == .rsa2048 }
  var isFromApple: Bool { certificate.isFromApple }
  var notBefore: Timestamp { certificate.firstMoment }
  var notAfter: Timestamp { certificate.lastMoment }

  func requireMerchant(_ merchant: MerchantIdentifier) throws(MerchantIdentityError) {
    guard merchantHash == merchant.hash else { throw Self.wrongMerchant(merchantHash, merchant) }
  }

  static let namesNoMerchant = MerchantIdentityError(
    .notApplePayCertificate, "The certificate names no merchant identifier (extension 1.2.840.113635.100.6.32).",
    advice: "Use the certificate made under the merchant identifier in the developer account.")

  static func wrongMerchant(_ hash: [UInt8], _ merchant: MerchantIdentifier) -> MerchantIdentityError {
    MerchantIdentityError(
      .wrongMerchant,
      "The certificate is for the merchant with hash \(Hex.encode(hash).uppercased()), not for \(merchant).",
      advice: "\(merchant) has the hash \(merchant.uppercaseHexHash): use the certificate made under it.")
  }
}

extension Certificate {
  /// Apple's extension 1.2.840.113635.100.6.32: a UTF-8 string of 64 hex digits.
  var merchantHash: [UInt8]? {
    guard let value = extensions[oid: [1, 2, 840, 113_635, 100, 6, 32]]?.value,
      value.starts(with: [0x0C, 0x40]), value.count == 66
    else { return nil }
    return Hex.decode(String(decoding: value.dropFirst(2), as: UTF8.self))
  }
}

extension DistinguishedName {
  enum Field { case commonName, organizationName, userID }

  func first(_ field: Field) -> String? {
    let type: ASN1ObjectIdentifier =
      switch field {
      case .commonName: .RDNAttributeType.commonName
      case .organizationName: .RDNAttributeType.organizationName
      case .userID: [0, 9, 2342, 19_200_300, 100, 1, 1]
      }
    for name in self {
      for attribute in name where attribute.type == type {
        // Anybody can write such a name: longer ones are none, and no others are dear to compare.
        return String(attribute.value).flatMap { $0.utf8.count <= 256 && StreamSafeText.accepts($0) ? $0 : nil }
      }
    }
    return nil
  }
}
