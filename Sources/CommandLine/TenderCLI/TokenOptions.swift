import ApplePayToken
import ArgumentParser
import CommandSupport
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

/// The roots to trust, and the environment.
struct TrustOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Trust this root instead of Apple's, for example a sandbox's; may be repeated.", valueName: "pem"))
  var root: [String] = []

  @Option(help: "Accept only signers of this environment: production, apple-sandbox or simulated.")
  var environment: String?

  func validate() throws {
    if let environment, Environment(rawValue: environment) == nil {
      throw ValidationError("--environment is production, apple-sandbox or simulated.")
    }
  }

  func trust() throws -> TokenTrust {
    let trust = root.isEmpty ? TokenTrust.apple() : try roots()
    return environment.flatMap(Environment.init(rawValue:)).map(trust.only) ?? trust
  }

  /// A root that cannot be read says nothing about the payment token.
  private func roots() throws -> TokenTrust {
    do { return try TokenTrust.roots(try root.map(NamedFile.certificate)) } catch let error as PaymentTokenError {
      throw MistakenCall("--root: \(error.reason). \(error.advice)")
    }
  }
}

/// The roots to trust, and the moment to verify at.
struct VerificationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Verify as of this moment, for example 2026-11-21T10:00:00Z; now by default.", valueName: "time")
  )
  var at: String?

  @OptionGroup var trust: TrustOptions

  func validate() throws {
    if let at, Timestamp(rfc3339: at) == nil {
      throw ValidationError("--at is a time in UTC, for example 2026-11-21T10:00:00Z.")
    }
  }

  func time() throws -> Timestamp { at.flatMap(Timestamp.init(rfc3339:)) ?? WallClock.system.now() }

  /// - Parameter novelties: collects signers and forms of signatures that were not seen before.
  func verifier(reporting novelties: Novelties) throws -> TokenVerifier {
    TokenVerifier(trust: try trust.trust(), monitor: SignerMonitor(report: novelties.add))
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
