import ApplePayToken
import Crypto
import Foundation
import Sandbox
import TenderPayments
import TenderTesting
import TokenVectors
import X509

/// A merchant, a sandbox that signs for it, and the one place from which every attack takes its opener.
struct AttackLab {
  let pki: SandboxPKI
  let format: TokenVariant.Format
  let key: String
  private let recipient: TokenRecipient

  init(_ format: TokenVariant.Format) throws {
    let mill = try VectorMill()
    self.format = format
    pki = mill.pki
    key = format == .rsa ? mill.rsaKeyPEM : mill.ellipticKey.pemRepresentation
    recipient = try mill.order(format).recipient
  }

  func opener(_ home: KeyHome) throws -> TokenOpener {
    TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)),
      keys: ProcessingKeyRing([VectorLibrary.merchant: [try home.held(processingKey())]]))
  }

  func processingKey() throws -> ProcessingKey {
    try ProcessingKey(privateKeyPEM: key, merchantIdentifier: VectorMill.merchant)
  }

  func order(applicationData: [UInt8]? = nil) throws -> TokenOrder {
    var order = try VectorMill().order(format)
    order.applicationData = applicationData
    order.signingTime = VectorMill.signingTime
    return order
  }

  func mint(random: RandomBytes = .system) -> TokenMint {
    TokenMint(pki: pki, clock: WallClock { VectorMill.signingTime }, random: random)
  }

  static let arrival = VectorMill.signingTime.adding(.seconds(10))
}

extension TokenOpener {
  /// The refusal; nil when the token opens. An agent that is late on a busy machine is waited for.
  func refusal(of token: EncryptedPaymentToken) -> PaymentTokenError? {
    do {
      _ = try open(token, for: VectorLibrary.merchant, at: AttackLab.arrival, within: KeyHome.patience)
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
