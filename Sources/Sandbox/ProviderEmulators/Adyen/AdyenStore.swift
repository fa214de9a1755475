import AcquirerSandbox
import Crypto
import Storage
import TenderPayments

/// The database of the emulated Adyen: payments, modifications and bookings.
struct AdyenStore: ProviderStore {
  static let idempotencyWindow: Duration? = .seconds(7 * 86_400)
  static let keyUsed: (any Error)? = AdyenProblem.keyUsed

  let database: Database
  let random: RandomBytes
  let secret: SymmetricKey

  init(path: String, clock: WallClock, random: RandomBytes) async throws {
    (database, secret) = try await Self.open(path: path, clock: clock, random: random)
    self.random = random
  }

  /// Adyen keeps what it has decided, and not who may not call.
  static func keeps(_ status: Int) -> Bool { [200, 201, 422].contains(status) }

  /// Sixteen letters and digits, as Adyen's.
  func newPSPReference() -> String {
    let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ23456789")
    return String(random.next(16).map { alphabet[Int($0) % alphabet.count] })
  }
}

extension ProviderReply {
  init(_ problem: AdyenProblem) { self.init(problem.status, problem.json) }
}
