import AcquirerSandbox
import Crypto
import Storage
import StrictJSON
import TenderPayments

/// The database of the emulated Checkout.com: payments and actions. Only what was done is kept for repeats: after a
/// refusal or a failure the same request is tried anew.
struct CheckoutComStore: ProviderStore {
  let database: Database
  let random: RandomBytes
  let secret: SymmetricKey

  init(path: String, clock: WallClock, random: RandomBytes) async throws {
    (database, secret) = try await Self.open(path: path, clock: clock, random: random)
    self.random = random
  }

  static func keeps(_ status: Int) -> Bool { (200..<300).contains(status) }

  /// A name of Checkout.com's: `pay_` and 26 characters.
  func newName(_ prefix: String) -> String {
    let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
    return prefix + "_" + String(random.next(26).map { alphabet[Int($0) % alphabet.count] })
  }
}

extension ProviderReply {
  init(_ problem: CheckoutComProblem) {
    self.init(problem.status, bytes: problem.json?.serialized() ?? [])
  }
}
