import AcquirerSandbox
import Crypto
import DirectWire
import Storage
import TenderPayments

/// The database of the emulated Worldline Direct: payments and operations. A repeat gets the first answer for a day,
/// whatever its contents.
struct WorldlineDirectStore: ProviderStore {
  static let idempotencyWindow: Duration? = Idempotence.window

  let database: Database
  let random: RandomBytes
  let secret: SymmetricKey

  init(path: String, clock: WallClock, random: RandomBytes) async throws {
    (database, secret) = try await Self.open(path: path, clock: clock, random: random)
    self.random = random
  }

  /// What was decided is kept for repeats, and not who may not call.
  static func keeps(_ status: Int) -> Bool { [200, 201, 400, 402, 404].contains(status) }

  /// Ten digits, as Worldline's.
  func newPaymentID() -> String {
    "4" + random.next(9).map { String($0 % 10) }.joined()
  }
}

extension ProviderReply {
  init(_ status: Int, _ body: some Encodable) throws { self.init(status, bytes: try DirectJSON.bytes(body)) }

  init(_ fault: PlatformFault, id: String) throws {
    try self.init(fault.httpStatusCode, PlatformError(errorId: id, fault))
  }
}

/// Why a call is not done.
struct WorldlineDirectRefusal: Error {
  let fault: PlatformFault
  init(_ fault: PlatformFault) { self.fault = fault }
}
