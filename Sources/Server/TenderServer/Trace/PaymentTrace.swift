import StrictJSON
import TenderPayments

/// The calls about one basket, each divided into spans that follow one another.
struct PaymentTrace: Sendable {
  /// The first call began; every other time counts from here.
  let startedAt: Timestamp
  private let start: ContinuousClock.Instant
  /// As they began. One is added when it is answered, which may be after later ones.
  private(set) var calls: [Call] = []
  /// Opens the payment token, when a page asks for its content.
  private var opening: (@Sendable () -> OpenedPayment?)?

  /// Beyond this many, the second-oldest call is removed; the first is kept.
  static let mostCalls = 60

  struct Call: Sendable {
    /// `POST /applepay/payment`: the route, without ids.
    let name: String
    /// Its subject, where the name does not show it: `shippingMethodSelection`.
    let about: String?
    /// Microseconds since the first call began.
    let at: Int64
    let microseconds: Int64
    /// The HTTP status of the answer.
    let status: Int
    let spans: [Span]
  }

  /// A part of a call, named by what was done when it ended.
  struct Span: Sendable {
    let name: String
    let microseconds: Int64
    /// The outcome, where more than one is possible: `approved`.
    let outcome: String?
  }

  init(startedAt: Timestamp, _ start: ContinuousClock.Instant) {
    (self.startedAt, self.start) = (startedAt, start)
  }

  mutating func add(_ call: CallTrace.Report, status: Int) {
    let at = (call.start - start).microseconds
    calls.insert(
      Call(
        name: call.name, about: call.about, at: at, microseconds: (call.end - call.start).microseconds,
        status: status, spans: call.spans),
      at: calls.firstIndex { $0.at > at } ?? calls.endIndex)
    if calls.count > Self.mostCalls { calls.remove(at: 1) }
    opening = call.payment ?? opening
  }

  /// The content of the payment token, masked. It is opened when a page asks, not while the shopper waits.
  var payment: OpenedPayment? { opening?() }
}

/// A payment token after it was opened, as far as a page may show it.
struct OpenedPayment: Sendable {
  let version: String
  /// 64 hex digits, chosen by the device.
  let transactionId: String
  /// SHA-256 of the merchant's public key to which it was encrypted, in base64 as in the payment token.
  let publicKeyHash: String
  /// SHA-256 of what binds it to the basket, 64 hex digits.
  let applicationDataHash: String?
  let signedAt: String
  /// Apple's keys; account number and cryptogram masked.
  let paymentData: JSONValue
}
