import Acquiring
import ApplePayToken
package import Ledger
package import Storage
import Telemetry
package import TenderPayments

// An authorization, step by step: begin the call, open the payment token and confirm the order, claim (one commit), ask
// the acquirer, record the answer (one commit).
//
// The attempt is durable before the acquirer is asked, so a crash leaves something to inquire about. An answer that
// never came leaves the payment *unknown*, never declined. An answer that was given is given again, also when the
// payment token is too old to open by now.
//
// Both calls to the acquirer keep within one budget. The shopper's answer is that of the authorization. A capture that
// fails leaves the payment authorized: recovery tries again what may be approved later, and raises an alarm for what was
// declined for good.
extension PaymentGateway {
  /// Begins a call that authorizes. The caller ends it.
  ///
  /// - Parameters:
  ///   - deadline: from ``newDeadline()``, made when the shopper began to wait; nil for now.
  ///   - key: the idempotency key that the claim takes, and that names the authorization.
  package func newCall(before deadline: Deadline? = nil, under key: IdempotentCall? = nil) throws -> PaymentCall {
    let slot = try AdmissionSlot.current == nil ? admission.admit() : nil
    return PaymentCall(
      deadline: deadline ?? newDeadline(), key: key, operations: inFlight.newCall(), slot: slot,
      trace: Activity.current?.context)
  }

  /// How long a call may take in all, from now on. A caller that does something for the shopper before it pays makes it
  /// first.
  package func newDeadline() -> Deadline { .after(policy.budget, on: scheduler) }

  /// Opens the payment token and confirms that it pays the order. Nothing is written.
  ///
  /// - Parameter choice: what decides the payment's route beside the order.
  package func confirm(
    _ token: EncryptedPaymentToken, pays order: Order, choosing choice: RouteChoice = RouteChoice(),
    in call: PaymentCall
  ) async throws -> Confirmation {
    try await confirm(.token(token), pays: order, choosing: choice, in: call)
  }

  /// Confirms any credential: opens it, and compares it with the order. Writes nothing.
  package func confirm(
    _ credential: PaymentCredential, pays order: Order, choosing choice: RouteChoice = RouteChoice(),
    in call: PaymentCall
  ) async throws -> Confirmation {
    let confirmed: ConfirmedOrder
    do {
      confirmed = try await trace(.openToken) {
        try await confirm(credential, pays: order, choice, before: call.deadline)
      }
    } catch {
      // A repeat whose token is good goes on to the claim, which knows the answer too.
      let use = credential.use
      guard let known = try await journal.answer(for: order.id, spending: use) else { throw error }
      let answer = try await firstAnswer(of: known, to: use)
      Activity.current?.note(answer)
      return .answered(answer)
    }
    try await crashes.reach(.authorizeOpened)
    return .confirmed(confirmed)
  }

  /// Claims the order. After the commit the acquirer may be asked; while it is in doubt, not.
  ///
  /// - Throws: `ClaimRefused`, which rolls the caller's transaction back. ``answer(_:to:)`` takes it. Where a commit
  ///   in doubt is run again, it may be refused by itself.
  package func claim(_ confirmed: ConfirmedOrder, for call: PaymentCall, in store: Transaction) throws -> Attempt {
    let attempt = try journal.claim(
      confirmed.order, spending: confirmed.use, card: confirmed.card,
      terms: terms(confirmed, at: confirmed.candidates[0].capabilities, in: call.trace), in: store)
    call.operations.note(attempt.reference)
    try begin(call.key, attempt, in: store)
    return attempt
  }

  /// Asks the acquirer for what was claimed, records its answer, and captures at once if the order says so.
  ///
  /// - Returns: the outcome of both as one request.
  package func authorize(
    _ confirmed: ConfirmedOrder, _ attempt: Attempt, in call: PaymentCall
  ) async throws -> OperationOutcome {
    Activity.current?.note(.acquirer(attempt.route), .payment(attempt.payment), .merchant(confirmed.order.merchant))
    if let network = confirmed.network { Activity.current?.note(.network(network)) }
    let authorized = try await scheduler.finishing { try await send(attempt, confirmed, call) }
    let recorded =
      confirmed.isCapturedAtOnce && authorized.outcome.payment.status == .authorized
      ? try await capture(authorized, in: call) : authorized
    Activity.current?.note(recorded.outcome.payment)
    guard recorded.isDropped, call.key != nil else { return recorded.outcome }
    // An event or another process has brought the answer, and the payment may have moved on: a repeat gets the first.
    return try await reading(attempt.payment) {
      try await journal.firstOutcome(of: recorded.outcome.operation.reference).outcome
    }
  }

  /// The answer of the payment that was in the claim's way: that of the order, or of this very payment token.
  package func answer(_ refused: ClaimRefused, to confirmed: ConfirmedOrder) async throws -> Payment {
    switch refused.claim {
    case .known(let payment), .running(let payment):
      let answer = try await firstAnswer(of: payment, to: confirmed.use)
      Activity.current?.note(answer)
      return answer
    case .tokenReused, .new: throw GatewayError.tokenReused
    }
  }

  /// Captures what was just authorized. A capture that fails or is not begun is left to recovery.
  private func capture(_ authorized: RecordedAnswer, in call: PaymentCall) async throws -> RecordedAnswer {
    let (operation, payment) = (authorized.outcome.operation, authorized.outcome.payment.id)
    do {
      var capture = FollowUp(kind: .capture, payment: payment, cause: .order)
      (capture.recipient, capture.deadline) = (.shopper(whenOpen: .pending), call.deadline)
      (capture.partOf, capture.key) = (operation.reference, call.key)
      if call.deadline.remaining > policy.captureNeeds {
        let captured = try await run(capture)
        guard captured.outcome.operation.kind == .capture else { return captured }
        return RecordedAnswer(
          outcome: OperationOutcome(
            operation: operation, payment: captured.outcome.payment, parts: [captured.outcome.operation]),
          isDropped: captured.isDropped)
      }
    } catch StorageError.outcomeUnknown where call.key != nil {
      // The capture may be under way: what is answered now would not be what a repeat gets.
      throw GatewayError.outcomeNotRecorded(payment)
    } catch GatewayError.outcomeNotRecorded(let payment) where call.key != nil {
      throw GatewayError.outcomeNotRecorded(payment)
    } catch {}
    if let key = call.key { try? await database.write { try IdempotencyKeys.release(key, in: $0) } }
    return authorized
  }

  private func confirm(
    _ credential: PaymentCredential, pays order: Order, _ choice: RouteChoice, before deadline: Deadline
  ) async throws -> ConfirmedOrder {
    let confirmed = try await confirm(credential, pays: order, choice)
    try await refuseIfRestored(confirmed)
    guard deadline.remaining >= policy.authorizationNeeds else { throw GatewayError.outOfTime }
    return confirmed
  }

  private func send(
    _ attempt: Attempt, _ confirmed: ConfirmedOrder, _ call: PaymentCall
  ) async throws -> RecordedAnswer {
    try await crashes.reach(.authorizeClaimed)
    let answer = await ask(attempt, confirmed, before: call.deadline)
    try await crashes.reach(.authorizeAnswered)
    if case .notSent(let reason) = answer, let next = try await reroute(attempt, because: reason, confirmed, call) {
      return try await send(next, confirmed, call)
    }
    let recorded = try await record(
      ReceivedAnswer(
        answer: answer, attempt: attempt, key: call.key, isCapturedNext: confirmed.isCapturedAtOnce),
      reportedTo: .shopper(whenOpen: policy.reportUnknownAs),
      before: call.deadline)
    try await crashes.reach(.authorizeRecorded)
    return recorded
  }

  /// Asks once, and once more where the acquirer repeats its answer to our reference: the payment token is in memory.
  private func ask(_ attempt: Attempt, _ confirmed: ConfirmedOrder, before deadline: Deadline) async
    -> AcquirerAnswer
  {
    guard let acquirer = routes[attempt.route] else { return .notSent("the route is not configured") }
    var request = confirmed.request(attempt, to: acquirer.capabilities)
    if let prepare = acquirer.prepare, acquirer.capabilities.preparedInstruments.contains(confirmed.instrumentKind) {
      switch await prepare(request, deadline.within(policy.answerTimeout)) {
      case .ready(let name): request.prepared = name
      case .declined(let decline): return .declined(decline)
      case .failed(let interruption): return .notSent("the first of two steps failed: \(interruption.detail)")
      }
      guard (try? await journal.markPrepared(attempt, as: request.prepared ?? "")) == true else {
        return .notSent("the result of the first of two steps could not be stored")
      }
    }
    let answer = await acquirer.authorize(request, deadline.within(policy.answerTimeout))
    guard !attempt.verifiesCard else { return answer.isFinal ? answer : .verificationWithoutAnswer }
    guard case .unknown = answer, acquirer.capabilities.repeatsAuthorizations,
      deadline.remaining >= policy.authorizationNeeds
    else { return answer }
    let second = await acquirer.authorize(request, deadline.within(policy.answerTimeout))
    // Not sent, or refused because of our account, says nothing of the first request.
    return second.saysNothingOfAnEarlierRequest ? answer : second
  }

  /// The next route of a payment of which provably nothing was sent; nil where there is none, or too little time. A
  /// verification may have been sent, and holds nothing all the same: it is not sent elsewhere.
  private func reroute(
    _ attempt: Attempt, because reason: String, _ confirmed: ConfirmedOrder, _ call: PaymentCall
  ) async throws -> Attempt? {
    guard !attempt.verifiesCard, let next = confirmed.candidates(after: attempt.route).first?.capabilities,
      call.deadline.remaining >= policy.authorizationNeeds
    else { return nil }
    let terms = terms(confirmed, at: next)
    let rerouted: Attempt? = try await trace(.claim) {
      try await database.writeOnce { store, inDoubt in
        if case .some(let begun?) = inDoubt, try journal.hasBegun(begun, in: store) { return begun }
        let rerouted = try journal.reroute(attempt, because: reason, to: terms, under: call.key, in: store)
        if let rerouted { call.operations.note(rerouted.reference) }
        return rerouted
      }
    }
    if let rerouted { Activity.current?.note(.acquirer(rerouted.route)) }
    return rerouted
  }

  private func terms(
    _ confirmed: ConfirmedOrder, at acquirer: AcquirerCapabilities, in trace: TraceContext? = nil
  ) -> ClaimTerms {
    let sale = confirmed.sale(at: acquirer)
    let type = sale.authorization ?? acquirer.usualAuthorizationType
    return ClaimTerms(
      route: acquirer.route, amountConfirmed: confirmed.amountConfirmed,
      holdUntil: acquirer.holdLifetime(of: type).map { clocks.latest.adding($0) },
      captureDelay: confirmed.captureDelay, sale: StoredSale(sale, type), transactionIdentifier: sale.transactionID,
      signed: confirmed.signedAt, trace: trace)
  }

  /// The first answer is given again to the payment token that it was given to, also while the outcome is open; another
  /// token has to wait.
  private func firstAnswer(of payment: Payment, to use: TokenUse) async throws -> Payment {
    guard !payment.status.isResolved else { return payment }
    guard payment.reportedOutcome != nil, try await journal.isPaid(payment.id, by: use) else {
      throw GatewayError.paymentInProgress(payment)
    }
    return payment
  }
}

extension StoredSale {
  fileprivate init(_ sale: SaleDetails, _ type: AuthorizationType?) {
    self.init(
      merchantAccount: sale.merchantAccount, statementDescriptor: sale.statementDescriptor,
      merchantCategory: sale.merchantCategory, authorizationType: type)
  }
}

/// One call that authorizes: how long it may take, and what it holds until it ends.
package struct PaymentCall: Sendable {
  let deadline: Deadline
  let key: IdempotentCall?
  let operations: CallInFlight
  /// Nil when the server has taken a slot for this call.
  let slot: AdmissionSlot?
  /// The span in which it is made; nil where it is not traced.
  let trace: TraceContext?

  package func end() {
    operations.end()
    slot?.release()
  }
}

/// What opening a payment token for an order leads to.
package enum Confirmation: Sendable {
  case confirmed(ConfirmedOrder)
  /// The payment token cannot be opened, and has its answer from before.
  case answered(Payment)
}
