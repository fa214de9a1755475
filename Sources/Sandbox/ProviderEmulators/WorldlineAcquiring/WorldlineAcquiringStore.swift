import AcquirerSandbox
import Crypto
import Storage
import TenderPayments

/// The database of the emulated Worldline Acquiring: payments and operations. An operation's name gets its first answer
/// for ever.
struct WorldlineAcquiringStore: ProviderStore {
  static let idempotencyWindow: Duration? = nil
  static let keyUsed: (any Error)? = WorldlineAcquiringProblem.conflict("operationId was used for another request")

  let database: Database
  let random: RandomBytes
  let secret: SymmetricKey

  init(path: String, clock: WallClock, random: RandomBytes) async throws {
    (database, secret) = try await Self.open(path: path, clock: clock, random: random)
    self.random = random
  }

  /// A name in the form of Worldline's: `pay:ch:etu:` and 22 characters.
  func newName() -> String {
    let text = Base64.encode(random.next(16)).replacing("+", with: "-").replacing("/", with: "_")
    return "pay:ch:etu:" + text.prefix(22)
  }
}
