import Acquiring
import HTTPTransport
import TenderPayments

/// What can become of one call over a network that keeps no promise.
enum Fate: String, CaseIterable {
  case answered, notSent, requestLost, replyLost, resetAfterwards, late, twice, garbage, serverErrorBefore,
    serverErrorAfter, afterHorizon

  /// Whether the request arrives while the caller waits for the answer.
  static let common: [Fate] = [.answered]
}

/// The wire between the gateway and the bank: it decides what arrives, when, how often, and which answer comes back.
final class SimulatedWire: @unchecked Sendable {
  private let thread: SimulatedThread
  private let bank: SimulatedBank
  /// How many of a thousand calls go wrong.
  var trouble = 0
  private let fates: [Fate]
  /// Whether requests may arrive after the settle horizon too.
  var hasLateArrivals = false
  /// What becomes of the next calls, whatever the chances.
  var next: [Fate] = []
  /// How long after its caller's timeout a late request arrives; nil for a time by chance.
  var lateBy: Duration?
  let capabilities: AcquirerCapabilities
  var verdict: (String) -> SimulatedBank.Verdict = { _ in .approve }
  var met: (Fate) -> Void = { _ in }
  /// An authorization waits for the bank's decision.
  var waits: (AuthorizationRequest) -> Void = { _ in }
  /// Whether the bank approves a new authorization for less than was asked for.
  var isForLess: () -> Bool = { false }
  /// Whether a capture, void or refund is only accepted now, and decided later.
  var isLater: (_ kind: String) -> Bool = { _ in false }
  /// Such a one waits for the bank's decision.
  var accepted: (_ kind: String, FollowUpRequest) -> Void = { _, _ in }
  /// Whether a capture, void or refund is declined for now.
  var isDeclinedForNow: () -> Bool = { false }
  /// An operation arrived after the settle horizon, and has this answer.
  var arrivedLate: (_ reference: String, _ amount: Amount, AcquirerAnswer) -> Void = { _, _, _ in }
  /// References of everything that it was asked about.
  private(set) var questions: Set<String> = []
  /// Voids that arrived before their hold's end.
  private(set) var earlyVoids: Set<String> = []
  /// How long the bank gives its first answer again; nil for ever.
  var memory: Duration?
  /// A capture or refund was approved.
  var moved: (_ kind: String, FollowUpRequest) -> Void = { _, _ in }
  /// An authorization was decided at once.
  var decided: (AuthorizationRequest, AcquirerAnswer) -> Void = { _, _ in }
  /// The cancel of an authorization was accepted under a name of the bank's.
  var cancelled: (InquiryRequest, _ name: String) -> Void = { _, _ in }
  /// The bank did what only its kind does.
  var did: (Peculiarity) -> Void = { _ in }
  /// Whether what is processed now is answered with an error.
  private var isFailing = false
  /// Whether a payment token is given to the bank in a first step.
  var hasFirstStep = false
  /// The calls that the bank makes by itself, by their body.
  private var calls: [[UInt8]: [AcquirerEvent]] = [:]

  init(
    _ thread: SimulatedThread, _ bank: SimulatedBank, _ capabilities: AcquirerCapabilities,
    fates: [Fate] = Fate.allCases
  ) {
    (self.thread, self.bank, self.capabilities) = (thread, bank, capabilities)
    let repeats = bank.repeatsAnswers && bank.conduct.failure != .forgotten
    self.fates = fates.filter { $0 != .answered && $0 != .afterHorizon && ($0 != .twice || repeats) }
  }

  /// A call of the bank that brings these events.
  func call(with events: [AcquirerEvent]) -> InboundEvent {
    let body = Array("call \(calls.count)".utf8)
    calls[body] = events
    return InboundEvent(headers: [], body: body, arrivedAt: thread.clock.now())
  }

  private func read(_ call: InboundEvent) throws(EventRefusal) -> EventBatch {
    guard let events = calls[call.body] else { throw .notAuthentic }
    return EventBatch(events: events)
  }

  private func prepare(
    _ request: AuthorizationRequest, _ deadline: Deadline, of process: SimulatedProcess?
  ) async -> Preparation {
    await ask("prepare", deadline, of: process, broken: Preparation.broken) {
      self.questions.insert(request.reference.rawValue)
      guard !self.bank.isRefused("authorize") else { return .declined(.unauthorized) }
      return .ready(self.bank.prepare(request))
    }
  }

  /// - Parameter process: that asks; nil where there is only one.
  func acquirer(of process: SimulatedProcess? = nil) -> Acquirer {
    let prepares: @Sendable (AuthorizationRequest, Deadline) async -> Preparation = {
      await self.prepare($0, $1, of: process)
    }
    return Acquirer(
      capabilities: capabilities,
      prepare: hasFirstStep ? prepares : nil,
      authorize: { request, deadline in
        await self.ask(
          "authorize", deadline, of: process, broken: AcquirerAnswer.broken,
          late: self.report(request.reference, request.amount)
        ) { self.authorize(request) }
      },
      capture: { request, deadline in await self.ask("capture", request, deadline, of: process) },
      void: { request, deadline in await self.ask("void", request, deadline, of: process) },
      refund: { request, deadline in await self.ask("refund", request, deadline, of: process) },
      increment: { request, deadline in await self.ask("increment", request, deadline, of: process) },
      inquire: { request, deadline in
        await self.ask("inquire", deadline, of: process, broken: Inquiry.broken) { self.inquire(request) }
      },
      reverse: { request, deadline in
        await self.ask("reverse", deadline, of: process, broken: Reversal.broken) { self.reverse(request) }
      },
      readEvents: { event throws(EventRefusal) in
        guard self.bank.conduct.sendsEvents else { throw .notExpected }
        return try self.read(event)
      })
  }

  private func ask(
    _ kind: String, _ request: FollowUpRequest, _ deadline: Deadline, of process: SimulatedProcess?
  ) async -> AcquirerAnswer {
    await ask(
      kind, deadline, of: process, broken: AcquirerAnswer.broken, late: report(request.reference, request.amount)
    ) {
      self.followUp(kind, request)
    }
  }

  private func report(_ reference: AttemptReference, _ amount: Amount) -> (AcquirerAnswer) -> Void {
    { self.arrivedLate(reference.rawValue, amount, $0) }
  }

  private func authorize(_ request: AuthorizationRequest) -> AcquirerAnswer {
    questions.insert(request.reference.rawValue)
    guard !bank.isRefused("authorize") else { return .unauthorized }
    guard !hasFirstStep || request.isCharge || bank.hasInstrument(of: request) else { return .unauthorized }
    note(request.reference)
    defer { failIfFailing(request.reference) }
    if let error = rememberedError(request.reference) { return error }
    let isNew = !bank.isAnswered(request.reference.rawValue)
    let verdict = verdict(request.merchantReference)
    let mayBeLess = isNew && verdict.approves && request.amount.minorUnits > 1
    let answer = bank.authorize(request, verdict, isForLess: mayBeLess && isForLess())
    if case .pending = answer { waits(request) } else if isNew { decided(request, answer) }
    return answer
  }

  private func followUp(_ kind: String, _ request: FollowUpRequest) -> AcquirerAnswer {
    questions.insert(request.reference.rawValue)
    guard !bank.isRefused(kind) else { return .unauthorized }
    defer { failIfFailing(request.reference) }
    forgetWhatIsOld(request.reference.rawValue)
    if let error = rememberedError(request.reference) { return error }
    if kind == "void", isEarly(request) { earlyVoids.insert(request.reference.rawValue) }
    let isNew = !bank.isAnswered(request.reference.rawValue)
    note(request.reference)
    if isNew, isDeclinedForNow() { return bank.declineForNow(kind, request) }
    let answer = bank.followUp(kind, request, later: isLater(kind))
    switch answer {
    case .approved where kind != "void": moved(kind, request)
    // An acquirer that does not repeat its answers accepts the request a second time, and decides it.
    case .pending where isNew || !bank.repeatsAnswers: accepted(kind, request)
    default: break
    }
    return answer
  }

  /// Much before the hold's end, in true time.
  private func isEarly(_ request: FollowUpRequest) -> Bool {
    guard let lifetime = capabilities.holdLifetime, let hold = bank.reference(of: request.authorization),
      let begin = arrivals[hold]
    else { return false }
    return thread.uptime < begin + lifetime - .seconds(86_400)
  }

  private func forgetWhatIsOld(_ reference: String) {
    guard let memory, let begin = arrivals[reference], thread.uptime > begin + memory else { return }
    bank.forgetAnswer(reference)
  }

  private func failIfFailing(_ reference: AttemptReference) {
    guard isFailing, bank.isAnswered(reference.rawValue) else { return }
    bank.fail(reference.rawValue)
    if bank.conduct.failure == .forgotten { did(.errorForgotten) }
  }

  /// The error that the bank gives again under the key.
  private func rememberedError(_ reference: AttemptReference) -> AcquirerAnswer? {
    guard bank.isFailed(reference.rawValue) else { return nil }
    did(.errorRemembered)
    return .unknown(Interruption(.serverError))
  }

  private func note(_ reference: AttemptReference) {
    arrivals[reference.rawValue] = arrivals[reference.rawValue] ?? thread.uptime
  }

  /// When an operation first arrived at the bank.
  private var arrivals: [String: Duration] = [:]
  /// How far the status service lags behind. Longer, with the way, than the settle horizon it must not be.
  private static let lag: Duration = .seconds(30)

  /// A status service that lags behind: what it does not know yet it may know a moment later.
  private func inquire(_ request: InquiryRequest) -> Inquiry {
    let reference = request.reference.rawValue
    questions.insert(reference)
    guard !bank.isRefused("inquire") else { return .unavailable(.unauthorized) }
    if let unfound = unfound(request) { return unfound }
    let isNews = arrivals[reference].map { thread.uptime < $0 + Self.lag } ?? true
    guard !isNews || trouble == 0 || !thread.choices.chance(trouble / 2) else { return .notFound }
    return bank.inquire(request)
  }

  /// The answer where the bank does not look for our reference.
  private func unfound(_ request: InquiryRequest) -> Inquiry? {
    switch bank.conduct {
    case .worldlineDirect where request.acquirerReference == nil:
      return .unavailable(Interruption(.acquirerUncertain, detail: "nothing is found by our reference"))
    case .worldlineAcquiring where request.kind == .authorization && request.acquirerReference == nil:
      did(.askedWithoutName)
      return .notFound
    case .worldlineDirect:
      did(.askedByName)
      return nil
    default: return nil
    }
  }

  private func reverse(_ request: InquiryRequest) -> Reversal {
    questions.insert(request.reference.rawValue)
    guard !bank.isRefused("reverse") else { return .unavailable(.unauthorized) }
    guard bank.conduct == .adyen else {
      let reversal = bank.reverse(request.reference.rawValue)
      if bank.conduct == .worldlineAcquiring { did(reversal == .reversed ? .undone : .undoneTooEarly) }
      return reversal
    }
    let name = bank.acceptCancel(of: request.reference.rawValue)
    cancelled(request, name)
    return .accepted(acquirerReference: name)
  }

  private func ask<Answer: Sendable>(
    _ verb: String, _ deadline: Deadline, of process: SimulatedProcess?, broken: @escaping (Fate) -> Answer,
    late: @escaping (Answer) -> Void = { _ in }, _ handle: @escaping () -> Answer
  ) async -> Answer {
    guard deadline.remaining > .zero else { return broken(.notSent) }
    NetworkUse.note()
    let fate = next.isEmpty ? drawn : next.removeFirst()
    met(fate)
    return await thread.suspended(of: process) { reply in
      self.run(fate, verb, deadline.remaining, broken(fate), late, handle, reply)
    }
  }

  private var drawn: Fate {
    guard trouble > 0, thread.choices.chance(trouble) else { return .answered }
    let possible = hasLateArrivals ? fates + [.afterHorizon] : fates
    return possible[thread.choices.pick(possible.count)]
  }

  private func run<Answer>(
    _ fate: Fate, _ verb: String, _ timeout: Duration, _ broken: Answer,
    _ late: @escaping (Answer) -> Void, _ process: @escaping () -> Answer, _ reply: @escaping (Answer) -> Void
  ) {
    // The process that asked may have died since; the bank acts on the request all the same.
    let way = thread.choices.milliseconds(5...400)
    let life = life
    func deliver(_ delay: Duration, _ answer: @escaping () -> Answer) {
      thread.after(min(delay, timeout), "\(verb) answered: \(fate.rawValue)") { [self] in
        if self.life == life { reply(answer()) }
      }
    }
    func arrive(_ delay: Duration, _ then: @escaping (Answer) -> Void = { _ in }) {
      thread.after(delay, "\(verb) arrives") { then(process()) }
    }
    switch fate {
    case .answered: arrive(way) { answer in deliver(way) { answer } }
    case .twice:
      // A copy of what was refused because of our account is refused like it, also if it comes when that is corrected.
      let before = bank.refusals
      arrive(way) { answer in
        deliver(way) { answer }
        if self.bank.refusals == before { arrive(way * 2) }
      }
    case .notSent, .serverErrorBefore: deliver(way) { broken }
    case .requestLost: deliver(timeout) { broken }
    case .replyLost:
      arrive(way)
      deliver(timeout) { broken }
    case .late:
      arrive(timeout + (lateBy ?? thread.choices.milliseconds(1...50_000)))
      deliver(timeout) { broken }
    case .afterHorizon:
      arrive(timeout + capabilities.settleHorizon + thread.choices.milliseconds(1_000...200_000), late)
      deliver(timeout) { broken }
    case .resetAfterwards, .garbage: arrive(way) { _ in deliver(way) { broken } }
    case .serverErrorAfter:
      thread.after(way, "\(verb) arrives") { [self] in
        isFailing = true
        _ = process()
        isFailing = false
        deliver(way) { broken }
      }
    }
  }

  /// Raised when the engine dies, so that a dead process gets no answers.
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

extension Interruption {
  fileprivate static let unauthorized = Interruption(.serverError, detail: "HTTP 401")
}

extension AcquirerAnswer {
  fileprivate static let unauthorized = AcquirerAnswer.declined(.unauthorized)

  fileprivate static func broken(_ fate: Fate) -> AcquirerAnswer {
    fate == .notSent ? .notSent("connection refused") : .unknown(fate.interruption)
  }
}

extension Decline {
  fileprivate static let unauthorized = Decline(reason: .configuration, code: "unauthorized")
}

extension Preparation {
  fileprivate static func broken(_ fate: Fate) -> Preparation { .failed(fate.interruption) }
}

extension Inquiry {
  fileprivate static func broken(_ fate: Fate) -> Inquiry { .unavailable(fate.interruption) }
}

extension Reversal {
  fileprivate static func broken(_ fate: Fate) -> Reversal { .unavailable(fate.interruption) }
}
