import HTTPTransport
import Synchronization
package import TenderPayments

/// Stops asking an acquirer that does not answer, so that payments fail at once instead of waiting for it.
///
/// After ``Settings/failures`` calls in a row that broke it opens: nothing is sent, and every verb answers that nothing
/// was. After ``Settings/rest`` one call is let through; its answer closes the circuit, or opens it again. Only calls that
/// reached the network count: what a connector refuses by itself says nothing of the acquirer, and one merchant's such
/// requests must not stop the route for the others.
package final class CircuitBreaker: Sendable {
  package struct Settings: Sendable, Hashable {
    package var failures = 5
    package var rest: Duration = .seconds(5)
    package init() {}
  }

  private enum State: Sendable { case closed(failures: Int), open(until: Duration), trying(until: Duration) }

  private let settings: Settings
  private let uptime: @Sendable () -> Duration
  private let state = Mutex(State.closed(failures: 0))
  private let openings = Atomic(0)

  package init(_ settings: Settings = Settings(), on scheduler: Scheduler = .system) {
    self.settings = settings
    self.uptime = scheduler.uptime
  }

  /// Whether calls are being turned away; for the gauge.
  package var isOpen: Bool {
    state.withLock { state in if case .closed = state { false } else { true } }
  }

  /// How often it has opened.
  package var opened: Int { openings.load(ordering: .relaxed) }

  /// What an admitted call is to the circuit.
  enum Turn: Sendable { case usual, trial }

  /// Whether a call may go out; nil if not. While a first one tries, the others are turned away; one that never comes
  /// back gives its turn to the next.
  func admit() -> Turn? {
    let now = uptime()
    return state.withLock { state in
      switch state {
      case .closed: return .usual
      case .open(let until), .trying(let until):
        guard now >= until else { return nil }
        state = .trying(until: now + settings.rest)
        return .trial
      }
    }
  }

  /// The call has sent nothing. If it was the trial, the next one is.
  func giveBack(_ turn: Turn) {
    let now = uptime()
    state.withLock { state in
      if turn == .trial, case .trying = state { state = .open(until: now) }
    }
  }

  func note(broken: Bool) {
    let now = uptime()
    state.withLock { state in
      switch (broken, state) {
      case (false, _): state = .closed(failures: 0)
      case (true, .closed(let failures)) where failures + 1 < settings.failures:
        state = .closed(failures: failures + 1)
      case (true, .closed):
        state = .open(until: now + settings.rest)
        openings.add(1, ordering: .relaxed)
      case (true, _): state = .open(until: now + settings.rest)
      }
    }
  }
}

extension Acquirer {
  /// The acquirer behind a circuit breaker.
  package func guarded(by breaker: CircuitBreaker) -> Acquirer {
    var guarded = self
    guarded.prepare = prepare.map(breaker.guarding)
    guarded.authorize = breaker.guarding(authorize)
    guarded.capture = breaker.guarding(capture)
    guarded.void = breaker.guarding(void)
    guarded.refund = breaker.guarding(refund)
    guarded.increment = increment.map(breaker.guarding)
    guarded.inquire = breaker.guarding(inquire)
    guarded.reverse = breaker.guarding(reverse)
    return guarded
  }
}

/// An answer that says whether the acquirer was there at all.
private protocol Reachability: SendableMetatype {
  var isBroken: Bool { get }
  static var shortCircuited: Self { get }
}

extension CircuitBreaker {
  fileprivate func guarding<Request, Answer: Reachability>(
    _ verb: @escaping Acquirer.Verb<Request, Answer>
  ) -> Acquirer.Verb<Request, Answer> {
    { request, deadline in
      guard let turn = self.admit() else { return .shortCircuited }
      let (answer, isSent) = await NetworkUse.watching { await verb(request, deadline) }
      if isSent { self.note(broken: answer.isBroken) } else { self.giveBack(turn) }
      return answer
    }
  }
}

private let open = "the acquirer has not answered for a while; its circuit is open"

extension AcquirerAnswer: Reachability {
  fileprivate var isBroken: Bool {
    switch self {
    case .unknown(let interruption): interruption.isBroken
    case .notSent: true
    case .approved, .declined, .pending: false
    }
  }
  fileprivate static var shortCircuited: AcquirerAnswer { .notSent(open) }
}

extension Inquiry: Reachability {
  fileprivate var isBroken: Bool {
    switch self {
    case .unavailable(let interruption): interruption.isBroken
    case .answer, .notFound: false
    }
  }
  fileprivate static var shortCircuited: Inquiry { .unavailable(Interruption(.connectionLost, detail: open)) }
}

extension Preparation: Reachability {
  fileprivate var isBroken: Bool {
    switch self {
    case .failed(let interruption): interruption.isBroken
    case .ready, .declined: false
    }
  }
  fileprivate static var shortCircuited: Preparation { .failed(Interruption(.connectionLost, detail: open)) }
}

extension Reversal: Reachability {
  fileprivate var isBroken: Bool {
    switch self {
    case .unavailable(let interruption): interruption.isBroken
    case .reversed, .accepted, .nothingFound, .refused: false
    }
  }
  fileprivate static var shortCircuited: Reversal { .unavailable(Interruption(.connectionLost, detail: open)) }
}

extension Interruption {
  /// An acquirer that answers with doubt is there; one that says nothing, or nonsense, is not.
  fileprivate var isBroken: Bool { kind != .acquirerUncertain }
}
