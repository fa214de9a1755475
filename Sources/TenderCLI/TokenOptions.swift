import ApplePayToken
import ArgumentParser
import Foundation
import TenderPayments

/// The payment token, and the form of the answer.
struct TokenInput: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "A PKPaymentToken, an ApplePayPaymentToken or its paymentData, as JSON; - reads standard input.",
      valueName: "file"))
  var file: String

  @Flag(help: "Answer in JSON.")
  var json = false

  func token() throws -> EncryptedPaymentToken { try EncryptedPaymentToken(bytes: try TokenFile.bytes(file)) }

  /// Prints the report, or the refusal as the result that it is: on standard output, with exit code 1.
  func answering(_ question: () throws -> TokenReport) throws {
    do {
      print(try question().text(json: json))
    } catch let refusal as PaymentTokenError {
      print(TokenReport(refusal: refusal).text(json: json))
      throw ExitCode(1)
    }
  }
}

/// Whom to trust, and when.
struct TokenJudgement: ParsableArguments {
  @Option(help: ArgumentHelp("Judge as of this moment, as 2026-11-21T10:00:00Z; now by default.", valueName: "time"))
  var at: String?

  @Option(help: ArgumentHelp("Trust this root instead of Apple's, as a sandbox's; may be repeated.", valueName: "pem"))
  var root: [String] = []

  @Option(help: "Accept only signers of this environment: production, apple-sandbox or simulated.")
  var environment: String?

  func validate() throws {
    if let at, Timestamp(rfc3339: at) == nil {
      throw ValidationError("--at is a time in UTC, as 2026-11-21T10:00:00Z.")
    }
    if let environment, Environment(rawValue: environment) == nil {
      throw ValidationError("--environment is production, apple-sandbox or simulated.")
    }
  }

  func time() throws -> Timestamp { at.flatMap(Timestamp.init(rfc3339:)) ?? WallClock.system.now() }

  func verifier() throws -> TokenVerifier {
    let trust = root.isEmpty ? TokenTrust.apple() : try TokenTrust.roots(try root.map(TokenFile.certificate))
    return TokenVerifier(trust: environment.flatMap(Environment.init(rawValue:)).map(trust.only) ?? trust)
  }
}

/// Files named on the command line. One that cannot be read is a mistake in the call: exit code 2.
enum TokenFile {
  static func bytes(_ path: String) throws -> [UInt8] {
    if path == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
    guard let data = FileManager.default.contents(atPath: path) else {
      Terminal.complain("Error: \(path) cannot be read.")
      throw ExitCode(2)
    }
    return Array(data)
  }

  static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

  /// Apple's portal gives certificates in DER.
  static func certificate(_ path: String) throws -> String {
    let bytes = try bytes(path)
    let text = String(decoding: bytes, as: UTF8.self)
    guard !text.contains("-----BEGIN") else { return text }
    return "-----BEGIN CERTIFICATE-----\n\(Base64.encode(bytes))\n-----END CERTIFICATE-----\n"
  }
}
