package import Acquiring
package import Ledger
package import Storage
package import TenderPayments

// Captures, voids and refunds: reserve, ask, post.
//
// What the acquirer refused or never heard of leaves the balances as they were. What is pending or unknown stays
// reserved until recovery settles it, so that nothing is taken or given back twice.
extension PaymentGateway {
  /// Takes held money.
  ///
  /// - Parameters:
  ///   - amount: nil takes all that is held and neither taken nor in flight.
  ///   - isFinal: whether this is the last capture; what is left of the hold is let go with it.
  ///   - alongside: written in the commit of the reservation; it may throw to refuse.
  ///   - answered: written in the commit of the answer.
  /// - Returns: what the capture came to. A decline and an outcome that nobody knows are answers, and leave the payment
  ///   as it was.
  package func capture(
    _ payment: PaymentID, _ amount: Amount? = nil, isFinal: Bool = false,
    alongside: @escaping @Sendable (Attempt, Transaction) throws -> Void = { _, _ in },
    answered: @escaping @Sendable (OperationOutcome, Transaction) throws -> Void = { _, _ in }
  ) async throws -> OperationOutcome {
    try await FollowUp(kind: .capture, payment: payment, amount: amount, isFinal: isFinal).done(
      by: self, alongside, answered)
  }

  /// Lets go of held money, all that is neither taken nor in flight or a part of it.
  package func void(
    _ payment: PaymentID, _ amount: Amount? = nil,
    alongside: @escaping @Sendable (Attempt, Transaction) throws -> Void = { _, _ in },
    answered: @escaping @Sendable (OperationOutcome, Transaction) throws -> Void = { _, _ in }
  ) async throws -> OperationOutcome {
    try await FollowUp(kind: .void, payment: payment, amount: amount).done(by: self, alongside, answered)
  }

  /// Gives back taken money, all that was not given back yet or a part of it.
  package func refund(
    _ payment: PaymentID, _ amount: Amount? = nil,
    alongside: @escaping @Sendable (Attempt, Transaction) throws -> Void = { _, _ in },
    answered: @escaping @Sendable (OperationOutcome, Transaction) throws -> Void = { _, _ in }
  ) async throws -> OperationOutcome {
    try await FollowUp(kind: .refund, payment: payment, amount: amount).done(by: self, alongside, answered)
  }

  /// Authorizes the order, and takes the money at once when that is how the order wants it.
  ///
  /// Both together keep within one budget. The shopper's answer is that of the authorization. A capture that comes to
  /// nothing leaves the payment authorized: recovery tries again what may be approved later, and a person hears of what
  /// was declined for good. A repeat of this call asks the acquirer for nothing.
  ///
  /// - Parameter deadline: from ``newDeadline()``, made when the shopper began to wait; nil for now.
  package func pay(
    _ order: Order, with token: EncryptedPaymentToken, before deadline: Deadline? = nil,
    alongside: @escaping @Sendable (Attempt, Transaction) throws -> Void = { _, _ in },
    answered: @escaping @Sendable (OperationOutcome, Transaction) throws -> Void = { _, _ in }
  ) async throws -> Payment {
    let deadline = deadline ?? newDeadline()
    let (payment, isNew) = try await authorize(
      order, with: token, before: deadline, alongside: alongside, answered: answered)
    guard isNew else { return payment }
    return await taken(payment, order.capture, before: deadline, heardBy: .shopper(whenOpen: .pending))
  }

  /// Settles what is open, and takes the money if it turns out to be held and was to be taken at once.
  ///
  /// A payment that was settled before is not taken here: not every question about it may become a capture. Nor does
  /// every question reach the acquirer: anybody may ask for the outcome as often as they like, so what was asked about a
  /// moment ago is left alone, in step with recovery.
  package func settle(_ payment: PaymentID, _ mode: CaptureMode) async throws -> Payment {
    let before = try await known(payment)
    let after = try await inquire(payment, dueOnly: true)
    return before.status.isSettled ? after : await taken(after, mode, before: newDeadline(), heardBy: .nobody)
  }

  /// The first try of an immediate capture. Later ones are recovery's, in its time.
  ///
  /// - Parameter audience: the shopper, as long as they have had no answer; they hear the first one again afterwards.
  private func taken(
    _ payment: Payment, _ mode: CaptureMode, before deadline: Deadline, heardBy audience: Audience
  ) async -> Payment {
    guard mode == .immediate, payment.status == .authorized, deadline.remaining > policy.captureNeeds else {
      return payment
    }
    let capture = FollowUp(
      kind: .capture, payment: payment.id, cause: .order, audience: audience, deadline: deadline)
    return (try? await capture.done(by: self))?.payment ?? payment
  }
}

/// One capture, void or refund, from the reservation to the answer in the books.
struct FollowUp: Sendable {
  let kind: OperationKind
  let payment: PaymentID
  var amount: Amount?
  var isFinal = false
  var cause = OperationCause.merchant
  var audience = Audience.nobody
  var deadline: Deadline?

  func done(
    by gateway: PaymentGateway, _ alongside: @escaping @Sendable (Attempt, Transaction) throws -> Void = { _, _ in },
    _ answered: @escaping @Sendable (OperationOutcome, Transaction) throws -> Void = { _, _ in }
  ) async throws -> OperationOutcome {
    let deadline = deadline ?? gateway.newDeadline()
    let call = gateway.inFlight.newCall()
    defer { call.end() }
    let attempt = try await reserve(by: gateway, call.noting(alongside))
    return try await gateway.scheduler.finishing {
      try await gateway.crashes.reach(points.reserved)
      let answer = await gateway.ask(attempt, before: deadline.within(gateway.policy.answerPatience))
      try await gateway.crashes.reach(points.answered)
      let after = try await gateway.record(answer, for: attempt, heardBy: audience, before: deadline, answered)
      try await gateway.crashes.reach(points.recorded)
      return after
    }
  }

  private func reserve(
    by gateway: PaymentGateway, _ alongside: @escaping @Sendable (Attempt, Transaction) throws -> Void
  ) async throws -> Attempt {
    do {
      return try await gateway.journal.reserve(
        kind, amount, isFinal: isFinal, of: payment, cause: cause
      ) { attempt, store in
        guard attempt.route == gateway.route else { throw GatewayError.acquirerNotConfigured(attempt.route) }
        try gateway.refuseTooFine(attempt.amount)
        try alongside(attempt, store)
      }
    } catch let error as JournalError {
      throw GatewayError.operationRefused(error)
    }
  }

  private var points: (reserved: CrashPoint, answered: CrashPoint, recorded: CrashPoint) {
    switch kind {
    case .void: (.voidReserved, .voidAnswered, .voidRecorded)
    case .refund: (.refundReserved, .refundAnswered, .refundRecorded)
    case .capture, .authorize, .reverse: (.captureReserved, .captureAnswered, .captureRecorded)
    }
  }
}

extension PaymentGateway {
  /// Asks for what follows an authorization.
  func ask(_ attempt: Attempt, before deadline: Deadline) async -> AcquirerAnswer {
    guard let authorization = attempt.authorization else { return .notSent("the acquirer's reference is not known") }
    let request = FollowUpRequest(
      reference: attempt.reference, authorization: authorization, amount: attempt.amount, isFinal: attempt.isFinal)
    return switch attempt.kind {
    case .capture: await acquirer.capture(request, deadline)
    case .void: await acquirer.void(request, deadline)
    case .refund: await acquirer.refund(request, deadline)
    case .authorize, .reverse: .notSent("an authorization is never sent again")
    }
  }
}
