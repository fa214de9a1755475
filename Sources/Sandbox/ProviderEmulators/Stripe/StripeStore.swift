import AcquirerSandbox
import Crypto
import Storage
import StrictJSON
import TenderPayments

/// The database of the emulated Stripe: intents and refunds. Stripe keeps every result once it has begun to execute a
/// call.
struct StripeStore: ProviderStore {
  static let keyUsed: (any Error)? = StripeProblem.keyUsed

  let database: Database
  let random: RandomBytes
  let secret: SymmetricKey
  /// The accounts that events have to name, because they are not a platform's own.
  let connected: Set<String>

  init(path: String, clock: WallClock, random: RandomBytes, connected: Set<String>) async throws {
    (database, secret) = try await Self.open(path: path, clock: clock, random: random)
    (self.random, self.connected) = (random, connected)
  }

  /// `pi_` and 24 letters and digits.
  func newID(_ prefix: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    return "\(prefix)_" + String(random.next(24).map { alphabet[Int($0) % alphabet.count] })
  }

  func connectedName(_ account: String) -> String? { connected.contains(account) ? account : nil }

  static func text(_ value: JSONValue) -> SQLValue { .text(String(decoding: value.serialized(), as: UTF8.self)) }

  static func map(_ text: String) throws -> [String: String] {
    try JSONField(JSONReader.read(Array(text.utf8))).object.members.reduce(into: [:]) { map, member in
      if case .string(let text) = member.value { map[member.key] = text }
    }
  }
}
