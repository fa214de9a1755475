import Synchronization
import TenderPayments

/// Watches one call while it is answered: which basket it is about, and how long each part of it takes.
///
/// There is one only where a ``JourneyRecorder`` watches; elsewhere ``current`` is nil, and nothing is noted.
final class CallWitness: Sendable {
  @TaskLocal static var current: CallWitness?

  struct Report: Sendable {
    let name: String
    let about: String?
    let start: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    let laps: [Journey.Lap]
    /// Looks into the payment token.
    let payment: (@Sendable () -> OpenedPayment?)?
  }

  private struct Notes {
    var basket: BasketID?
    var about: String?
    var lapStart: ContinuousClock.Instant
    var laps: [Journey.Lap] = []
    var payment: (@Sendable () -> OpenedPayment?)?
    var showsPayment = false
  }

  private let start: ContinuousClock.Instant
  private let notes: Mutex<Notes>

  init() {
    start = .now
    notes = Mutex(Notes(lapStart: start))
  }

  /// The call is about this basket, and whoever calls may know it.
  func concerns(_ basket: BasketID) { notes.withLock { $0.basket = basket } }

  func isAbout(_ what: String) { notes.withLock { $0.about = what } }

  /// What has been done since the lap before.
  func lap(_ name: String, outcome: String? = nil) {
    let now = ContinuousClock.now
    notes.withLock { notes in
      notes.laps.append(.init(name: name, microseconds: (now - notes.lapStart).microseconds, outcome: outcome))
      notes.lapStart = now
    }
  }

  func may(show payment: @escaping @Sendable () -> OpenedPayment?) { notes.withLock { $0.payment = payment } }

  /// The payment was made: the report shows what its payment token holds.
  func showsPayment() { notes.withLock { $0.showsPayment = true } }

  /// Nil for a call that turned out to be about no basket.
  func report(_ name: String) -> (basket: BasketID, report: Report)? {
    notes.withLock { notes in
      notes.basket.map {
        (
          $0,
          Report(
            name: name, about: notes.about, start: start, end: notes.lapStart, laps: notes.laps,
            payment: notes.showsPayment ? notes.payment : nil)
        )
      }
    }
  }
}
