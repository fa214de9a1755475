import Foundation
import SwiftASN1
import TenderPayments
package import X509

/// A certificate together with its private key.
package struct CertifiedKey: Sendable {
  package let certificate: Certificate
  package let key: Certificate.PrivateKey

  /// DER of the certificate.
  package var der: [UInt8] {
    get throws {
      var serializer = DER.Serializer()
      try serializer.serialize(certificate)
      return serializer.serializedBytes
    }
  }
}

/// The contents of a certificate before an issuer signs it.
struct CertificateRequestForm {
  var subject: DistinguishedName
  var publicKey: Certificate.PublicKey
  var notBefore: Timestamp
  var notAfter: Timestamp
  /// All extensions, in their order.
  var extensions: (KeyIdentifiers) throws -> [Certificate.Extension]
}

/// The extensions that name a certificate's key and its issuer's, both not critical.
struct KeyIdentifiers {
  let subject: Certificate.Extension
  let authority: Certificate.Extension

  init(of subject: Certificate.PublicKey, by authority: Certificate.PublicKey) throws {
    let issuer = AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: authority).keyIdentifier)
    self.subject = try Certificate.Extension(SubjectKeyIdentifier(hash: subject), critical: false)
    self.authority = try Certificate.Extension(issuer, critical: false)
  }
}

extension CertifiedKey {
  /// Certifies itself, with the digest that belongs to its curve.
  static func root(
    _ form: CertificateRequestForm, key: Certificate.PrivateKey, _ algorithm: Certificate.SignatureAlgorithm,
    random: RandomBytes
  ) throws -> CertifiedKey {
    let certificate = try Self.sign(form, issuer: form.subject, issuerKey: form.publicKey, key, algorithm, random)
    return CertifiedKey(certificate: certificate, key: key)
  }

  /// Issues a certificate, signed over SHA-256 as Apple's are, also by the root with its P-384 key.
  func issue(_ form: CertificateRequestForm, random: RandomBytes) throws -> Certificate {
    try Self.sign(form, issuer: certificate.subject, issuerKey: certificate.publicKey, key, .ecdsaWithSHA256, random)
  }

  private static func sign(
    _ form: CertificateRequestForm, issuer: DistinguishedName, issuerKey: Certificate.PublicKey,
    _ key: Certificate.PrivateKey, _ algorithm: Certificate.SignatureAlgorithm, _ random: RandomBytes
  ) throws -> Certificate {
    let extensions = try form.extensions(KeyIdentifiers(of: form.publicKey, by: issuerKey))
    return try Certificate(
      version: .v3, serialNumber: serialNumber(random), publicKey: form.publicKey,
      notValidBefore: Date(form.notBefore), notValidAfter: Date(form.notAfter), issuer: issuer, subject: form.subject,
      signatureAlgorithm: algorithm, extensions: Certificate.Extensions(extensions), issuerPrivateKey: key)
  }

  /// Eight bytes like Apple's: positive, and never shortened by a leading zero.
  private static func serialNumber(_ random: RandomBytes) -> Certificate.SerialNumber {
    var bytes = random.next(8)
    bytes[0] = bytes[0] & 0x3F | 0x40
    return Certificate.SerialNumber(bytes: bytes)
  }
}

extension Date {
  init(_ moment: Timestamp) { self.init(timeIntervalSince1970: Double(moment.seconds)) }
}

extension Timestamp {
  /// This day and time some months later; the month's last day when it has no such day.
  func adding(months: Int64) -> Timestamp {
    let (year, month, day) = calendar
    let index = year * 12 + month - 1 + months
    let time = seconds - (Timestamp(year: year, month: month, day: day)?.seconds ?? seconds)
    for candidate in stride(from: day, through: 28, by: -1) {
      if let start = Timestamp(year: index / 12, month: index % 12 + 1, day: candidate) {
        return Timestamp(seconds: start.seconds + time)
      }
    }
    return Timestamp(
      seconds: (Timestamp(year: index / 12, month: index % 12 + 1, day: min(day, 28))?.seconds ?? 0) + time)
  }
}
