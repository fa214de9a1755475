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

  func opener() throws -> TokenOpener {
    let processing = try ProcessingKey(privateKeyPEM: key, merchantIdentifier: VectorMill.merchant)
    return TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)),
      keys: ProcessingKeyRing([VectorLibrary.merchant: [processing]]))
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
  /// The refusal; nil when the token opens.
  func refusal(of token: EncryptedPaymentToken) -> PaymentTokenError? {
    do {
      _ = try open(token, for: VectorLibrary.merchant, at: AttackLab.arrival)
      return nil
    } catch {
      return error
    }
  }
}

/// How much an attack does: everything in release, a share of it in a debug build, whose cryptography is ten times
/// slower; more when the environment says so.
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

/// Times of many small things.
struct Stopwatch {
  private var times: [Duration] = []
  private let clock = ContinuousClock()

  mutating func time<R>(_ body: () throws -> R) rethrows -> R {
    let start = clock.now
    defer { times.append(clock.now - start) }
    return try body()
  }

  func percentile(_ percent: Int) -> Duration {
    times.sorted()[min(times.count - 1, times.count * percent / 100)]
  }
}
