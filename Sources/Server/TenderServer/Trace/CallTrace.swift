import Synchronization
import TenderPayments

/// Records one call while it is answered: which basket it is about, and how long each part takes.
///
/// ``current`` is nil where no ``TraceRecorder`` is installed.
final class CallTrace: Sendable {
  @TaskLocal static var current: CallTrace?

  struct Report: Sendable {
    let name: String
    let about: String?
    let start: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    let spans: [PaymentTrace.Span]
    /// Looks into the payment token.
    let payment: (@Sendable () -> OpenedPayment?)?
  }

  private struct Notes {
    var basket: BasketID?
    var about: String?
    var spanStart: ContinuousClock.Instant
    var spans: [PaymentTrace.Span] = []
    var payment: (@Sendable () -> OpenedPayment?)?
    var showsPayment = false
  }

  private let start: ContinuousClock.Instant
  private let notes: Mutex<Notes>

  init() {
    start = .now
    notes = Mutex(Notes(spanStart: start))
  }

  /// The call is about this basket, and the caller may see it.
  func concerns(_ basket: BasketID) { notes.withLock { $0.basket = basket } }

  func isAbout(_ what: String) { notes.withLock { $0.about = what } }

  /// Ends a span that began with the end of the one before.
  func span(_ name: String, outcome: String? = nil) {
    let now = ContinuousClock.now
    notes.withLock { notes in
      notes.spans.append(.init(name: name, microseconds: (now - notes.spanStart).microseconds, outcome: outcome))
      notes.spanStart = now
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
            name: name, about: notes.about, start: start, end: notes.spanStart, spans: notes.spans,
            payment: notes.showsPayment ? notes.payment : nil)
        )
      }
    }
  }
}
