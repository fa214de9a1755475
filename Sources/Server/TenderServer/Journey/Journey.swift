import StrictJSON
import TenderPayments

/// What one basket went through at this server, call by call, each in laps that follow one another.
struct Journey: Sendable {
  /// The first call began; every other time counts from here.
  let startedAt: Timestamp
  private let start: ContinuousClock.Instant
  private(set) var calls: [Call] = []
  /// Opens the payment token, for whoever asks what stood in it.
  private var opening: (@Sendable () -> OpenedPayment?)?

  /// A shopper who changes the sheet without end pushes out what came in the middle, never the beginning.
  static let mostCalls = 60

  struct Call: Sendable {
    /// `POST /applepay/payment`: the route, without ids.
    let name: String
    /// What it was about, where the name does not tell: `shippingMethodSelection`.
    let about: String?
    /// Microseconds since the journey began.
    let at: Int64
    let microseconds: Int64
    /// The HTTP status of the answer.
    let status: Int
    let laps: [Lap]
  }

  /// A part of a call, named by what was done when it ended.
  struct Lap: Sendable {
    let name: String
    let microseconds: Int64
    /// What came of it, where more than one thing can: `approved`.
    let outcome: String?
  }

  init(startedAt: Timestamp, _ start: ContinuousClock.Instant) {
    (self.startedAt, self.start) = (startedAt, start)
  }

  mutating func add(_ call: CallWitness.Report, status: Int) {
    calls.append(
      Call(
        name: call.name, about: call.about, at: (call.start - start).microseconds,
        microseconds: (call.end - call.start).microseconds, status: status, laps: call.laps))
    if calls.count > Self.mostCalls { calls.remove(at: 1) }
    opening = call.payment ?? opening
  }

  /// What stood in the payment token, masked. It is opened for whoever looks, and not while a shopper waits.
  var payment: OpenedPayment? { opening?() }
}

/// A payment token after it was opened, as far as a page may show it.
struct OpenedPayment: Sendable {
  let version: String
  /// 64 hex digits, chosen by the device.
  let transactionId: String
  /// SHA-256 of the merchant's public key to which it was encrypted, 64 hex digits.
  let publicKeyHash: String
  /// SHA-256 of what binds it to the basket, 64 hex digits.
  let applicationDataHash: String?
  let signedAt: String
  /// Apple's keys; account number and cryptogram masked.
  let paymentData: JSONValue
}
