package import Acquiring
import Synchronization
import TenderPayments

/// Limits how many payments are under way at once, so that those are answered in time instead of all of them too late.
///
/// The HTTP server admits a payment when its request has arrived whole, before the payment token is opened or anything
/// is written. The gateway admits payments that do not come through HTTP. Both use the same slots.
///
/// Bursts are accepted for up to one second. Under longer load only as many payments are admitted as keep the
/// processors busy, until the server has had half as many once: more would wait for one another and none would be
/// answered sooner.
package final class AdmissionControl: Sendable {
  /// As many payments as keep one processor busy: so many share a commit.
  package static let workPerProcessor = 64

  private let load: Mutex<Load>
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - maximumInFlight: how many payments may be under way.
  ///   - maximumWorking: how many of them may be worked on under load that lasts. A payment that waits for the acquirer
  ///     is not worked on.
  package init(
    maximumInFlight: Int, maximumWorking: Int = .max,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    load = Mutex(
      Load(
        maximumInFlight: maximumInFlight, maximumWorking: min(maximumInFlight, maximumWorking), lastLight: now()))
    self.now = now
  }

  /// Whether the next payment would be refused.
  package var isFull: Bool { load.withLock { $0.isFull(at: now()) } }

  /// How many slots are taken.
  package var inFlight: Int { load.withLock { $0.inFlight } }

  /// Takes a slot, if one is free.
  package func admit() throws(GatewayError) -> AdmissionSlot {
    let isAdmitted = load.withLock { load in
      guard !load.isFull(at: now()) else { return false }
      load.change(inFlight: 1, at: now())
      return true
    }
    guard isAdmitted else { throw .overloaded }
    return AdmissionSlot { [self] in load.withLock { $0.change(inFlight: -1, at: now()) } }
  }

  /// The acquirer, asked so that a payment does not count as worked on while it authorizes or captures.
  package func excludingWaits(for acquirer: Acquirer) -> Acquirer {
    var excluding = acquirer
    excluding.authorize = { request, deadline in await self.waiting { await acquirer.authorize(request, deadline) } }
    excluding.capture = { request, deadline in await self.waiting { await acquirer.capture(request, deadline) } }
    return excluding
  }

  private func waiting(_ call: () async -> AcquirerAnswer) async -> AcquirerAnswer {
    load.withLock { $0.change(waiting: 1, at: now()) }
    defer { load.withLock { $0.change(waiting: -1, at: now()) } }
    return await call()
  }
}

/// The right of one payment to be under way. It is free for another payment after ``release()``, or when nothing
/// refers to it any more.
package final class AdmissionSlot: Sendable {
  /// The slot of the call that this task answers. The gateway does not take a second one for it.
  @TaskLocal package static var current: AdmissionSlot?

  private let isReleased = Atomic(false)
  private let onRelease: @Sendable () -> Void

  init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

  deinit { release() }

  /// Frees the slot. A second call does nothing.
  package func release() {
    guard !isReleased.exchange(true, ordering: .relaxed) else { return }
    onRelease()
  }
}

/// How many payments are under way, and since when there have been many.
private struct Load {
  /// How long more payments than the processors can work on are accepted.
  static let burst: Duration = .seconds(1)

  let maximumInFlight: Int
  let maximumWorking: Int
  /// When no more than half of `maximumWorking` were worked on for the last time.
  var lastLight: ContinuousClock.Instant
  private(set) var inFlight = 0
  private var waiting = 0

  init(maximumInFlight: Int, maximumWorking: Int, lastLight: ContinuousClock.Instant) {
    (self.maximumInFlight, self.maximumWorking, self.lastLight) = (maximumInFlight, maximumWorking, lastLight)
  }

  /// Captures by recovery hold no slot and wait too, so this may be fewer than are worked on.
  private var working: Int { max(0, inFlight - waiting) }

  mutating func isFull(at now: ContinuousClock.Instant) -> Bool {
    note(now)
    guard inFlight < maximumInFlight else { return true }
    return now - lastLight > Self.burst && working >= maximumWorking
  }

  mutating func change(inFlight more: Int = 0, waiting moreWaiting: Int = 0, at now: ContinuousClock.Instant) {
    note(now)
    inFlight += more
    waiting += moreWaiting
    note(now)
  }

  private mutating func note(_ now: ContinuousClock.Instant) {
    if working <= maximumWorking / 2 { lastLight = now }
  }
}
