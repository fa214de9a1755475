import Acquiring
import TenderPayments

/// What can become of one call over a network that keeps no promise.
enum Fate: String, CaseIterable {
  case answered, notSent, requestLost, replyLost, resetAfterwards, late, twice, garbage, serverErrorBefore,
    serverErrorAfter

  /// Whether the request arrives while somebody waits for the answer.
  static let common: [Fate] = [.answered]
}

/// The wire between the gateway and the bank: it decides what arrives, when, how often, and what is heard of it.
final class SimulatedWire: @unchecked Sendable {
  private let thread: SimulatedThread
  private let bank: SimulatedBank
  /// How many of a thousand calls go wrong.
  var trouble = 0
  private let fates: [Fate]
  /// What becomes of the next call, whatever the chances.
  var next: Fate?
  let capabilities: AcquirerCapabilities
  var verdict: (String) -> SimulatedBank.Verdict = { _ in .approve }
  var met: (Fate) -> Void = { _ in }
  /// An authorization waits for the bank's decision.
  var waits: (AuthorizationRequest) -> Void = { _ in }
  /// Whether a capture or refund is only accepted now, and decided later.
  var isLater: () -> Bool = { false }
  /// Such a one waits for the bank's decision.
  var accepted: (FollowUpRequest) -> Void = { _ in }
  /// A capture or refund was approved.
  var moved: (_ kind: String, FollowUpRequest) -> Void = { _, _ in }

  init(
    _ thread: SimulatedThread, _ bank: SimulatedBank, _ capabilities: AcquirerCapabilities,
    fates: [Fate] = Fate.allCases
  ) {
    (self.thread, self.bank, self.capabilities) = (thread, bank, capabilities)
    self.fates = fates.filter { $0 != .answered && ($0 != .twice || bank.repeatsAnswers) }
  }

  var acquirer: Acquirer {
    Acquirer(
      capabilities: capabilities,
      authorize: { request, deadline in
        await self.ask("authorize", deadline, broken: AcquirerAnswer.broken) { self.authorize(request) }
      },
      capture: { request, deadline in
        await self.ask("capture", deadline, broken: AcquirerAnswer.broken) { self.followUp("capture", request) }
      },
      void: { request, deadline in
        await self.ask("void", deadline, broken: AcquirerAnswer.broken) { self.followUp("void", request) }
      },
      refund: { request, deadline in
        await self.ask("refund", deadline, broken: AcquirerAnswer.broken) { self.followUp("refund", request) }
      },
      inquire: { request, deadline in
        await self.ask("inquire", deadline, broken: Inquiry.broken) { self.inquire(request) }
      },
      reverse: { request, deadline in
        await self.ask("reverse", deadline, broken: Reversal.broken) {
          self.bank.reverse(request.reference.rawValue)
        }
      })
  }

  private func authorize(_ request: AuthorizationRequest) -> AcquirerAnswer {
    note(request.reference)
    let answer = bank.authorize(request, verdict(request.merchantReference))
    if case .pending = answer { waits(request) }
    return answer
  }

  private func followUp(_ kind: String, _ request: FollowUpRequest) -> AcquirerAnswer {
    note(request.reference)
    let answer = bank.followUp(kind, request, later: kind != "void" && isLater())
    switch answer {
    case .approved where kind != "void": moved(kind, request)
    case .pending: accepted(request)
    default: break
    }
    return answer
  }

  private func note(_ reference: AttemptReference) {
    arrivals[reference.rawValue] = arrivals[reference.rawValue] ?? thread.uptime
  }

  /// When the bank first heard of an operation.
  private var arrivals: [String: Duration] = [:]
  /// How far the status service lags behind. Longer, with the way, than the settle horizon it must not be.
  private static let lag: Duration = .seconds(30)

  /// A status service that lags behind: what it does not know yet it may know a moment later.
  private func inquire(_ request: InquiryRequest) -> Inquiry {
    let reference = request.reference.rawValue
    let isNews = arrivals[reference].map { thread.uptime < $0 + Self.lag } ?? true
    guard !isNews || trouble == 0 || !thread.choices.chance(trouble / 2) else { return .notFound }
    return bank.inquire(reference)
  }

  private func ask<Answer: Sendable>(
    _ verb: String, _ deadline: Deadline, broken: @escaping (Fate) -> Answer, _ process: @escaping () -> Answer
  ) async -> Answer {
    guard deadline.remaining > .zero else { return broken(.notSent) }
    let fate = next ?? drawn
    next = nil
    met(fate)
    return await thread.suspended { heard in
      self.run(fate, verb, deadline.remaining, broken(fate), process, heard)
    }
  }

  private var drawn: Fate {
    trouble > 0 && thread.choices.chance(trouble) ? fates[thread.choices.pick(fates.count)] : .answered
  }

  private func run<Answer>(
    _ fate: Fate, _ verb: String, _ patience: Duration, _ broken: Answer, _ process: @escaping () -> Answer,
    _ heard: @escaping (Answer) -> Void
  ) {
    // Whoever asked may have died since; then nobody hears, and it happens all the same.
    let way = thread.choices.milliseconds(5...400)
    let life = life
    func hear(_ delay: Duration, _ answer: @escaping () -> Answer) {
      thread.after(min(delay, patience), "\(verb) heard: \(fate.rawValue)") { [self] in
        if self.life == life { heard(answer()) }
      }
    }
    func arrive(_ delay: Duration, _ then: @escaping (Answer) -> Void = { _ in }) {
      thread.after(delay, "\(verb) arrives") { then(process()) }
    }
    switch fate {
    case .answered: arrive(way) { answer in hear(way) { answer } }
    case .twice:
      arrive(way) { answer in hear(way) { answer } }
      arrive(way * 3)
    case .notSent, .serverErrorBefore: hear(way) { broken }
    case .requestLost: hear(patience) { broken }
    case .replyLost:
      arrive(way)
      hear(patience) { broken }
    case .late:
      arrive(patience + thread.choices.milliseconds(1...50_000))
      hear(patience) { broken }
    case .resetAfterwards, .garbage, .serverErrorAfter: arrive(way) { _ in hear(way) { broken } }
    }
  }

  /// Raised when the engine dies, so that nobody answers the dead.
  var life = 0
}

extension Fate {
  fileprivate var interruption: Interruption {
    switch self {
    case .garbage: Interruption(.unintelligibleAnswer)
    case .serverErrorBefore, .serverErrorAfter: Interruption(.serverError)
    case .resetAfterwards: Interruption(.connectionLost)
    default: Interruption(.timeout)
    }
  }
}

extension AcquirerAnswer {
  fileprivate static func broken(_ fate: Fate) -> AcquirerAnswer {
    fate == .notSent ? .notSent("connection refused") : .unknown(fate.interruption)
  }
}

extension Inquiry {
  fileprivate static func broken(_ fate: Fate) -> Inquiry { .unavailable(fate.interruption) }
}

extension Reversal {
  fileprivate static func broken(_ fate: Fate) -> Reversal { .unavailable(fate.interruption) }
}
