package import Acquiring
package import Gateway
import Synchronization
import TenderPayments

/// Lets so many payments in at once, and sends the next one away at the door: before its payment token is opened or
/// anything written. So those inside are served in time instead of all of them too late, and a server with too much to
/// do spends its time on payments and not on refusals.
///
/// What the refusal says is true of this call alone. One that was sent before may be inside, and whoever asks again
/// later gets its answer.
package final class PaymentDoor: Sendable {
  /// A connection, which has one payment under way at most.
  package typealias Caller = ObjectIdentifier

  private let crowd: Mutex<Crowd>
  private let now: @Sendable () -> ContinuousClock.Instant

  /// As many as keep one processor busy: so many share a commit.
  package static let perProcessor = 64

  /// - Parameters:
  ///   - limit: how many may be inside.
  ///   - atWork: how many of them this server may have work with, once it has had no fewer than half of that for a second.
  ///     Those that wait for the acquirer are not among them.
  package init(limit: Int, atWork: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    crowd = Mutex(Crowd(limit: limit, atWork: min(limit, atWork), lastCalm: now()))
    self.now = now
  }

  /// Whether the next one would be sent away at this moment.
  package var isFull: Bool { crowd.withLock { $0.isFull(at: now()) } }

  /// Keeps a place, if there is one, for a call that has arrived whole: what is let through here and would be sent away
  /// later had waited in vain among the payments.
  package func keep(for caller: Caller) {
    crowd.withLock { crowd in
      guard !crowd.isFull(at: now()), crowd.places[caller] == nil else { return }
      crowd.places[caller] = .kept
    }
  }

  /// Gives back a place that was kept and not taken.
  package func release(_ caller: Caller) {
    crowd.withLock { crowd in
      guard crowd.places[caller] == .kept else { return }
      crowd.remove(caller, at: now())
    }
  }

  /// Takes the place that was kept, or another.
  package func enter(_ caller: Caller) throws(GatewayError) {
    let entered = crowd.withLock { crowd in
      guard crowd.places[caller] != nil || !crowd.isFull(at: now()) else { return false }
      crowd.places[caller] = .taken
      return true
    }
    guard entered else { throw .overloaded }
  }

  package func leave(_ caller: Caller) { crowd.withLock { $0.remove(caller, at: now()) } }

  /// The same acquirer; whoever waits for its answer to a payment is no work meanwhile.
  package func watching(_ acquirer: Acquirer) -> Acquirer {
    Acquirer(
      capabilities: acquirer.capabilities,
      authorize: { request, deadline in await self.outside { await acquirer.authorize(request, deadline) } },
      capture: { request, deadline in await self.outside { await acquirer.capture(request, deadline) } },
      void: acquirer.void, refund: acquirer.refund, inquire: acquirer.inquire, reverse: acquirer.reverse,
      hear: acquirer.hear)
  }

  private func outside(_ call: () async -> AcquirerAnswer) async -> AcquirerAnswer {
    crowd.withLock { $0.wait(1, at: now()) }
    defer { crowd.withLock { $0.wait(-1, at: now()) } }
    return await call()
  }
}

/// Who is inside, and for how long there have been too many.
///
/// Many who come at once are let in, because they are served within a second. When that many are there all the time,
/// each waits for all of them and no more are served for it; then only as many are let in as keep the server busy, until
/// it has had half as many for once.
private struct Crowd {
  enum Place {
    /// Its call has arrived, and nobody has begun to answer it.
    case kept
    case taken
  }

  /// How long a crowd may be there.
  static let patience: Duration = .seconds(1)

  let limit: Int
  let atWork: Int
  /// When there was none for the last time.
  var lastCalm: ContinuousClock.Instant
  var places: [PaymentDoor.Caller: Place] = [:]
  private var waiting = 0

  init(limit: Int, atWork: Int, lastCalm: ContinuousClock.Instant) {
    (self.limit, self.atWork, self.lastCalm) = (limit, atWork, lastCalm)
  }

  /// A capture that nobody at the door waits for counts as waiting too, so it may be less than it seems.
  private var working: Int { max(0, places.count - waiting) }

  mutating func isFull(at now: ContinuousClock.Instant) -> Bool {
    note(now)
    guard places.count < limit else { return true }
    return now - lastCalm > Self.patience && working >= atWork
  }

  mutating func remove(_ caller: PaymentDoor.Caller, at now: ContinuousClock.Instant) {
    places[caller] = nil
    note(now)
  }

  mutating func wait(_ more: Int, at now: ContinuousClock.Instant) {
    note(now)
    waiting += more
    note(now)
  }

  private mutating func note(_ now: ContinuousClock.Instant) {
    if working <= atWork / 2 { lastCalm = now }
  }
}
