import ApplePayToken
import ArgumentParser
import CommandSupport
import Foundation
import MerchantIdentity
import Synchronization
import TenderPayments

/// The payment token, and the form of the answer.
struct TokenInput: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "A PKPaymentToken, an ApplePayPaymentToken or its paymentData, as JSON; - reads standard input.",
      valueName: "file"))
  var file: String

  @Flag(help: "Print JSON.")
  var json = false

  /// Prints the report, or the refusal as the result that it is: on standard output, with exit code 1.
  func answering(_ question: (EncryptedPaymentToken) throws -> TokenReport) throws {
    let bytes = try NamedFile.bytes(file)
    var token: EncryptedPaymentToken?
    do {
      let read = try EncryptedPaymentToken(bytes: bytes)
      token = read
      Terminal.say(try question(read).text(json: json))
    } catch let refusal as PaymentTokenError {
      Terminal.say(TokenReport(refusal: refusal, of: token).text(json: json))
      throw ExitCode(1)
    }
  }
}

/// The roots to trust, and the moment to verify at.
struct VerificationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Verify as of this moment, for example 2026-11-21T10:00:00Z; now by default.", valueName: "time")
  )
  var at: String?

  @Option(
    help: ArgumentHelp(
      "Trust this root instead of Apple's, for example a sandbox's; may be repeated.", valueName: "pem"))
  var root: [String] = []

  @Option(help: "Accept only signers of this environment: production, apple-sandbox or simulated.")
  var environment: String?

  func validate() throws {
    if let at, Timestamp(rfc3339: at) == nil {
      throw ValidationError("--at is a time in UTC, for example 2026-11-21T10:00:00Z.")
    }
    if let environment, Environment(rawValue: environment) == nil {
      throw ValidationError("--environment is production, apple-sandbox or simulated.")
    }
  }

  func time() throws -> Timestamp { at.flatMap(Timestamp.init(rfc3339:)) ?? WallClock.system.now() }

  /// - Parameter novelties: collects signers and forms of signatures that were not seen before.
  func verifier(reporting novelties: Novelties) throws -> TokenVerifier {
    let trust = root.isEmpty ? TokenTrust.apple() : try roots()
    return TokenVerifier(
      trust: environment.flatMap(Environment.init(rawValue:)).map(trust.only) ?? trust,
      monitor: SignerMonitor(report: novelties.add))
  }

  /// A root that cannot be read says nothing about the payment token.
  private func roots() throws -> TokenTrust {
    do { return try TokenTrust.roots(try root.map(NamedFile.certificate)) } catch let error as PaymentTokenError {
      throw MistakenCall("--root: \(error.reason). \(error.advice)")
    }
  }
}

/// What a signer monitor reported during one command.
final class Novelties: Sendable {
  private let lines = Mutex<[String]>([])

  /// One line each: what is new, and its name.
  var all: [String] { lines.withLock { $0 } }

  func add(_ novelty: SignerMonitor.Novelty) {
    lines.withLock { $0.append("\(novelty.kind.rawValue): \(novelty.detail)") }
  }
}

/// Files named on the command line. One that cannot be read is a mistake in the call.
enum NamedFile {
  /// - Parameter path: `-` is standard input.
  static func bytes(_ path: String) throws -> [UInt8] {
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
    }
  }

  private static func unreadable(_ path: String) -> MistakenCall {
    MistakenCall("\(path): \(String(cString: strerror(errno)))")
  }

  /// A private key, as PEM also where the file is DER.
  ///
  /// - Throws: also ``PaymentTokenError``, for a file that is recognised as something else than a private key.
  static func privateKey(_ path: String) throws -> String {
    let bytes = try bytes(path)
    if let mistake = KeyFileMistakes.find(in: bytes) { throw mistake }
    guard let text = String(validating: bytes, as: UTF8.self) else { return pem(bytes, "PRIVATE KEY") }
    return text
  }

  static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

  /// Certificates as PEM: Apple's portal gives DER, other programs PKCS #7.
  ///
  /// - Throws: also ``PaymentTokenError``, for a file without one.
  static func certificate(_ path: String) throws -> String {
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
