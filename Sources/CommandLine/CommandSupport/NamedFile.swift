import ApplePayToken
import Foundation
import MerchantIdentity
import TenderPayments

/// Files named on the command line. One that cannot be read is a mistake in the call.
package enum NamedFile {
  /// As much as a server takes of a report. `/dev/zero` has no end.
  private static let longest = 128 << 20

  /// - Parameter path: `-` is standard input.
  package static func bytes(_ path: String) throws -> [UInt8] {
    let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw unreadable(path) }
    defer { if file != STDIN_FILENO { close(file) } }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(file, &piece, piece.count)
      guard count >= 0 || errno == EINTR else { throw unreadable(path) }
      guard count != 0 else { return bytes }
      bytes += piece.prefix(max(count, 0))
      guard bytes.count <= longest else {
        throw MistakenCall("\(path): there are more than \(longest >> 20) MiB, or no end; name a file")
      }
    }
  }

  private static func unreadable(_ path: String) -> MistakenCall {
    MistakenCall("\(path): \(String(cString: strerror(errno)))")
  }

  /// A private key, as PEM also where the file is DER.
  ///
  /// - Throws: also ``PaymentTokenError``, for a file that is recognised as something else than a private key.
  package static func privateKey(_ path: String) throws -> String {
    let bytes = try bytes(path)
    if let mistake = KeyFileMistakes.find(in: bytes) { throw mistake }
    guard let text = String(validating: bytes, as: UTF8.self) else { return pem(bytes, "PRIVATE KEY") }
    return text
  }

  package static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

  /// Certificates as PEM: Apple's portal gives DER, other programs PKCS #7.
  ///
  /// - Throws: also ``PaymentTokenError``, for a file without one.
  package static func certificate(_ path: String) throws -> String {
    let bytes = try bytes(path)
    let text = String(decoding: bytes, as: UTF8.self)
    let letters = String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    let certificates = [bytes, Base64.decode(letters) ?? []].flatMap { CertificateFile($0).certificates }
    guard !certificates.isEmpty else {
      // Its reader names what else is in it.
      guard text.contains("-----BEGIN") else { throw noCertificate(bytes) }
      return text
    }
    return certificates.map { pem($0, "CERTIFICATE") }.joined()
  }

  private static func noCertificate(_ bytes: [UInt8]) -> PaymentTokenError {
    let reason =
      switch KeyFileMistakes.find(in: bytes)?.code {
      case .pkcs12File?:
        "the file is PKCS #12; take the certificate out of it: openssl pkcs12 -in file.p12 -clcerts -nokeys -out file.pem"
      default: "the file holds no certificate in PEM, DER or PKCS #7"
      }
    return PaymentTokenError(.unreadableCertificate, reason)
  }

  /// In lines of 64 characters, as RFC 7468 §2 has it.
  private static func pem(_ bytes: [UInt8], _ label: String) -> String {
    let letters = Array(Base64.encode(bytes).utf8)
    let lines = stride(from: 0, to: letters.count, by: 64).map { start in
      String(decoding: letters[start...].prefix(64), as: UTF8.self)
    }
    return "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n"
  }
}
