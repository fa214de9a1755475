package import Foundation
import SwiftASN1
package import TenderPayments
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
  var extensions: [Certificate.Extension]
}

extension CertifiedKey {
  /// Certifies itself.
  static func root(_ form: CertificateRequestForm, key: Certificate.PrivateKey, random: RandomBytes) throws
    -> CertifiedKey
  {
    let identifier = SubjectKeyIdentifier(hash: form.publicKey)
    let certificate = try Self.sign(
      form, issuer: form.subject, key: key,
      identifiers: [Certificate.Extension(identifier, critical: false)], random: random)
    return CertifiedKey(certificate: certificate, key: key)
  }

  /// Issues a certificate, with the identifiers of its own key and of this issuer's.
  func issue(_ form: CertificateRequestForm, random: RandomBytes) throws -> Certificate {
    let issuer = AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: certificate.publicKey).keyIdentifier)
    return try Self.sign(
      form, issuer: certificate.subject, key: key,
      identifiers: [
        Certificate.Extension(issuer, critical: false),
        Certificate.Extension(SubjectKeyIdentifier(hash: form.publicKey), critical: false),
      ], random: random)
  }

  private static func sign(
    _ form: CertificateRequestForm, issuer: DistinguishedName, key: Certificate.PrivateKey,
    identifiers: [Certificate.Extension], random: RandomBytes
  ) throws -> Certificate {
    try Certificate(
      version: .v3, serialNumber: serialNumber(random), publicKey: form.publicKey,
      notValidBefore: Date(form.notBefore), notValidAfter: Date(form.notAfter), issuer: issuer, subject: form.subject,
      extensions: Certificate.Extensions(form.extensions + identifiers), issuerPrivateKey: key)
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
  package init(_ date: Date) { self.init(seconds: Int64(date.timeIntervalSince1970)) }

  /// The same day and time some months later; the month's last day when it has no such day.
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
