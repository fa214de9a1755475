import Acquiring
package import Ledger
import Storage
import Telemetry
package import TenderPayments

// Captures, voids, refunds and increments: reserve, ask, post.
//
// What the acquirer refused or never received leaves the balances as they were. What is pending or unknown stays
// reserved until recovery resolves it, so that nothing is captured or refunded twice.
extension PaymentGateway {
  /// Resolves an open outcome, and captures at once if the order says so and the money turns out to be held.
  ///
  /// A payment whose outcome was known before is not captured here: not every call for it may become a capture. Nor
  /// does every call reach the acquirer: a client may ask for the outcome as often as it likes, so an operation that
  /// was inquired about a moment ago is left alone, as recovery does.
  package func resolve(_ payment: PaymentID, _ mode: CaptureMode) async throws -> Payment {
    let before = try await require(payment)
    let after = try await inquire(payment, dueOnly: true)
    guard !before.status.isResolved, mode == .immediate, after.status == .authorized else { return after }
    return (try? await perform(FollowUp(kind: .capture, payment: payment, cause: .order)))?.payment ?? after
  }
}

/// One capture, void, refund or increment.
package struct FollowUp: Sendable {
  let kind: OperationKind
  package let payment: PaymentID
  var amount: Amount?
  var isFinal = false
  /// The number of the capture that a refund gives back; nil for any.
  var capture: Int?
  var cause = OperationCause.merchant
  /// Whether an operator asks, who has looked at the payment.
  private(set) var isByPerson = false
  /// For recovery: it is not begun unless this is due when it is reserved.
  var due: DueWork?
  var recipient = Recipient.noCaller
  var deadline: Deadline?
  /// The authorization that began the request, where this captures in the same call. Its claim has taken the key.
  var partOf: AttemptReference?
  var key: IdempotentCall?
  /// The merchant's own name of the operation.
  private(set) var merchantReference: String?
  /// What the commit of the reservation holds beside it.
  private(set) var addition: ReservationAddition?

  /// The follow-up under the merchant's own reference.
  package func named(_ reference: String?) -> FollowUp {
    var named = self
    named.merchantReference = reference
    return named
  }

  /// The follow-up as an operator asks for it.
  package var byPerson: FollowUp {
    var asked = self
    asked.isByPerson = true
    return asked
  }

  /// The follow-up with an addition of its caller to the commit that reserves. If that throws, nothing is reserved.
  package func adding(_ addition: ReservationAddition?) -> FollowUp {
    var added = self
    added.addition = addition
    return added
  }

  func under(_ key: IdempotentCall) -> FollowUp {
    var keyed = self
    keyed.key = key
    return keyed
  }

  /// An increment has those of a capture.
  fileprivate var points: (reserved: CrashPoint, answered: CrashPoint, recorded: CrashPoint) {
    switch kind {
    case .void: (.voidReserved, .voidAnswered, .voidRecorded)
    case .refund: (.refundReserved, .refundAnswered, .refundRecorded)
    default: (.captureReserved, .captureAnswered, .captureRecorded)
    }
  }
}

extension FollowUp {
  /// Captures held money.
  ///
  /// - Parameters:
  ///   - amount: nil captures all that is held and neither captured nor in flight.
  ///   - isFinal: whether this is the last capture; what is left of the hold is released with it.
  package static func capture(_ payment: PaymentID, _ amount: Amount? = nil, isFinal: Bool = false) -> FollowUp {
    FollowUp(kind: .capture, payment: payment, amount: amount, isFinal: isFinal)
  }

  /// Releases held money: all that is neither captured nor in flight, or a part of it.
  package static func void(_ payment: PaymentID, _ amount: Amount? = nil) -> FollowUp {
    FollowUp(kind: .void, payment: payment, amount: amount)
  }

  /// Refunds captured money: all that is not refunded yet, or a part of it.
  ///
  /// Where the acquirer refunds one capture at a time, a refund of several is one operation for each. They are reserved
  /// in one commit, and then each has its own answer.
  ///
  /// - Parameter capture: its number; nil refunds any.
  package static func refund(_ payment: PaymentID, _ amount: Amount? = nil, capture: Int? = nil) -> FollowUp {
    FollowUp(kind: .refund, payment: payment, amount: amount, capture: capture)
  }

  /// Raises what is held, where the route can; before anything is captured, and alone.
  package static func increment(_ payment: PaymentID, by amount: Amount) -> FollowUp {
    FollowUp(kind: .increment, payment: payment, amount: amount)
  }
}

// The steps of a capture, void, refund or increment.
extension PaymentGateway {
  /// - Returns: the outcome. A decline and an unknown outcome are answers, and leave the payment as it was.
  package func perform(_ followUp: FollowUp) async throws -> OperationOutcome {
    try await run(followUp).outcome
  }

  func run(_ followUp: FollowUp) async throws -> RecordedAnswer {
    let deadline = followUp.deadline ?? newDeadline()
    let call = inFlight.newCall()
    defer { call.end() }
    if followUp.partOf == nil { await Activity.current?.lead(to: followUp.payment, in: journal) }
    let attempts = try await trace(.claim) { try await reserve(followUp, call) }
    let recorded = try await scheduler.finishing { try await send(attempts, followUp, before: deadline) }
    Activity.current?.note(.acquirer(attempts[0].route))
    Activity.current?.note(recorded.outcome.payment)
    return recorded
  }

  /// One commit: the reservations, the attempts, the idempotency key and what the caller adds.
  private func reserve(_ followUp: FollowUp, _ call: CallInFlight) async throws -> [Attempt] {
    do {
      return try await database.writeOnce { store, inDoubt in
        if let inDoubt, try journal.hasBegun(inDoubt[0], in: store) { return inDoubt }
        let attempts = try reserve(followUp, in: store)
        for attempt in attempts {
          try refuseImpossible(attempt)
          try refuseIfRestored(followUp, attempt, in: store)
          if let name = followUp.merchantReference { try journal.name(attempt, name, in: store) }
          call.note(attempt.reference)
        }
        if followUp.partOf == nil { try begin(followUp.key, attempts[0], in: store) }
        try followUp.addition?(attempts, store)
        return attempts
      }
    } catch let error as JournalError {
      throw GatewayError.operationRefused(error)
    }
  }

  /// Claims the key, if there is one, in the commit that begins the operation.
  func begin(_ key: IdempotentCall?, _ attempt: Attempt, in store: Transaction) throws {
    guard let key else { return }
    try IdempotencyKeys.begin(key, attempt.reference, of: attempt.payment, notBefore: clocks.latest, in: store)
  }

  /// - Returns: one attempt, or one for each capture that a refund gives back.
  private func reserve(_ followUp: FollowUp, in store: Transaction) throws -> [Attempt] {
    let (payment, cause) = (followUp.payment, followUp.cause)
    if let due = followUp.due, try !journal.take(due, of: payment, in: store) { throw JournalError.conflict }
    var first = followUp.partOf
    if case .capture? = followUp.due { first = try journal.requestOfDueCapture(of: payment, in: store) }
    let acquirer = routes[try journal.route(of: payment, in: store)]
    let (amount, capture) = (followUp.amount, followUp.capture)
    guard followUp.kind == .refund, acquirer?.capabilities.refundsOneCapture == true else {
      return [
        try journal.reserve(
          followUp.kind, amount, isFinal: followUp.isFinal, of: payment, capture: capture, cause: cause,
          partOf: first, in: store)
      ]
    }
    return try journal.reserveRefunds(amount, of: payment, capture: capture, cause: cause, in: store)
  }

  /// Before it is committed: what the payment's acquirer cannot do.
  private func refuseImpossible(_ attempt: Attempt) throws(GatewayError) {
    let acquirer = try acquirer(of: attempt).capabilities
    guard acquirer.toAcquirer(attempt.amount) != nil else { throw .amountTooFine(attempt.amount) }
    guard
      attempt.isWhole || attempt.lapses(at: acquirer)
        || acquirer.parts(of: attempt.authorizationType).contains(AcquirerCapabilities.Parts(attempt.kind))
    else {
      throw .partNotPossible(attempt.kind, attempt.route)
    }
  }

  /// Sends each operation of the request, whatever becomes of the others.
  private func send(
    _ attempts: [Attempt], _ followUp: FollowUp, before deadline: Deadline
  ) async throws -> RecordedAnswer {
    guard attempts.count > 1 else { return try await send(attempts[0], followUp, before: deadline) }
    let outcomes = await concurrently(attempts, width: policy.captureWidth) { attempt in
      try await send(attempt, followUp, before: deadline)
    }
    for outcome in outcomes { _ = try outcome.get() }
    return try await readRecorded(attempts[0])
  }

  private func send(
    _ attempt: Attempt, _ followUp: FollowUp, before deadline: Deadline
  ) async throws -> RecordedAnswer {
    try await crashes.reach(followUp.points.reserved)
    let answer = await ask(attempt, before: deadline.within(policy.answerTimeout))
    try await crashes.reach(followUp.points.answered)
    let recorded = try await record(
      ReceivedAnswer(answer: answer, attempt: attempt, key: followUp.key), reportedTo: followUp.recipient,
      before: deadline)
    try await crashes.reach(followUp.points.recorded)
    return recorded
  }
}

extension PaymentGateway {
  /// Asks for what follows an authorization.
  func ask(_ attempt: Attempt, before deadline: Deadline) async -> AcquirerAnswer {
    guard let acquirer = routes[attempt.route] else { return .notSent("the route is not configured") }
    guard let authorization = attempt.authorization else { return .notSent("the acquirer's reference is not known") }
    guard !attempt.lapses(at: acquirer.capabilities) else {
      return .declined(Decline(reason: .holdEnded, code: "hold_lapsed"))
    }
    let request = FollowUpRequest(
      reference: attempt.reference, authorization: authorization, amount: attempt.amount, isFinal: attempt.isFinal,
      capture: attempt.capture, merchantAccount: attempt.merchantAccount, isWhole: attempt.isWhole,
      number: attempt.captureNumber)
    return switch attempt.kind {
    case .capture: await acquirer.capture(request, deadline)
    case .void: await acquirer.void(request, deadline)
    case .refund: await acquirer.refund(request, deadline)
    case .increment: await acquirer.increment?(request, deadline) ?? .notSent("the acquirer raises no hold")
    default: .notSent("an authorization is never sent again")
    }
  }
}

extension Attempt {
  /// Whether this is the end of a hold that the acquirer releases as a whole only. What was not captured ends there by
  /// itself, and is released here without asking.
  fileprivate func lapses(at acquirer: AcquirerCapabilities) -> Bool {
    kind == .void && cause == .expiry && !isWhole && !acquirer.parts(of: authorizationType).contains(.void)
  }
}

extension AcquirerCapabilities.Parts {
  /// A part that an operation of this kind moves.
  fileprivate init(_ kind: OperationKind) {
    switch kind {
    case .capture: self = .capture
    case .void: self = .void
    case .refund: self = .refund
    case .increment: self = .increment
    default: self = []
    }
  }
}
