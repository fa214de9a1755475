import ApplePayToken
import Foundation
import SwiftASN1
import TenderPayments
import TenderTesting
import TokenIssuer
import TokenVectors
import X509

/// A merchant, the authorities that sign its payment tokens, and the opener that attacks use.
struct AttackSetup {
  static let signingTime = Timestamp(seconds: 1_750_000_000)
  static let arrival = signingTime.adding(.seconds(10))
  /// One for all attacks, because the RSA signer's key takes long to make.
  private static let authorities = Result { try SandboxPKI(clock: WallClock { signingTime }) }

  let pki: SandboxPKI
  let format: TokenVariant.Format
  /// The merchant's private key, in PEM.
  let key: String
  private let recipient: TokenRecipient

  init(_ format: TokenVariant.Format) throws {
    self.format = format
    pki = try Self.authorities.get()
    let file = format == .rsa ? "rsa-merchant.key.pem" : "ec-merchant.key.pem"
    key = try String(contentsOfFile: "\(ConformanceVectors.directory)/\(file)", encoding: .utf8)
    recipient = try TokenRecipient(
      publicKeyPEM: Certificate.PrivateKey(pemEncoded: key).publicKey.serializeAsPEM().pemString,
      merchantIdentifier: ConformanceVectors.merchant)
  }

  func opener(_ location: KeyLocation) throws -> TokenOpener {
    TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)),
      keys: ProcessingKeyRing([VectorLibrary.merchant: [try location.held(processingKey())]]))
  }

  func processingKey() throws -> ProcessingKey {
    try ProcessingKey(privateKeyPEM: key, merchantIdentifier: ConformanceVectors.merchant)
  }

  func order(applicationData: [UInt8]? = nil) throws -> PaymentTokenRequest {
    guard let card = SandboxCards.card(id: "visa-debit") else { throw CocoaError(.coderValueNotFound) }
    var order = PaymentTokenRequest(
      card: card, amount: .eur(1250), recipient: recipient, applicationData: applicationData)
    order.signingTime = Self.signingTime
    return order
  }

  func issuer() -> PaymentTokenIssuer { PaymentTokenIssuer(pki: pki, clock: WallClock { Self.signingTime }) }
}

extension TokenOpener {
  /// The refusal; nil when the token opens. An agent that is late on a busy machine is waited for.
  func refusal(of token: EncryptedPaymentToken) -> PaymentTokenError? {
    do {
      _ = try open(token, for: VectorLibrary.merchant, at: AttackSetup.arrival, within: TestRun.whole)
      return nil
    } catch {
      return error
    }
  }
}

/// How much an attack does: a share of it in a debug build, whose cryptography is ten times slower; more when the
/// environment says so (`make mutants`, `make fresh-tokens`).
enum Effort {
  #if DEBUG
    static let stride = 37
    static let seconds = 2.0
    static let mutants = 600
  #else
    static let stride = 1
    static let seconds = 15.0
    static let mutants = 10_000
  #endif

  static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
}

/// Times of many small things, as the processor spent them on this thread: what else the machine does in between does
/// not count, and what the code itself does counts whole.
struct Stopwatch {
  private var times: [Duration] = []

  mutating func time<R>(_ body: () throws -> R) rethrows -> R {
    let start = Self.spent
    defer { times.append(Self.spent - start) }
    return try body()
  }

  func percentile(_ percent: Int) -> Duration {
    times.sorted()[min(times.count - 1, times.count * percent / 100)]
  }

  var fastest: Duration { times.min() ?? .zero }

  private static var spent: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
