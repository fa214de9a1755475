package import Acquiring
import ApplePayToken
package import Ledger
package import Storage
package import TenderPayments

extension PaymentGateway {
  /// Asks the acquirer to hold the order's amount on the card in the payment token.
  ///
  /// A finished answer is given again whatever is wrong with token or clock by now, so a repeat gets it even when the
  /// token is too old to open. The attempt is durable before the acquirer hears of it, so a crash leaves something to
  /// inquire about; and an answer that never came leaves the payment *unknown*, never declined.
  ///
  /// - Parameters:
  ///   - alongside: written in the commit of the claim. It may throw to refuse the payment: then nothing happened, and
  ///     its error is passed on.
  ///   - answered: written in the commit of the answer, with what the authorization came to.
  package func authorize(
    _ order: Order, with token: EncryptedPaymentToken,
    alongside: @escaping @Sendable (Attempt, Transaction) throws -> Void = { _, _ in },
    answered: @escaping @Sendable (OperationOutcome, Transaction) throws -> Void = { _, _ in }
  ) async throws -> Payment {
    try await authorize(order, with: token, before: newDeadline(), alongside: alongside, answered: answered).payment
  }

  /// - Returns: the payment, and whether this very call made it.
  func authorize(
    _ order: Order, with token: EncryptedPaymentToken, before deadline: Deadline,
    alongside: @escaping @Sendable (Attempt, Transaction) throws -> Void,
    answered: @escaping @Sendable (OperationOutcome, Transaction) throws -> Void
  ) async throws -> (payment: Payment, isNew: Bool) {
    let slot = try AdmissionSlot.current == nil ? admission.admit() : nil
    defer { slot?.release() }
    let card: ConfirmedInstrument
    do { card = try await opened(token, for: order, before: deadline) } catch {
      // A repeat whose token is good goes on to the claim, which knows the answer too.
      let use = TokenUse(of: token)
      guard let known = try await journal.answer(for: order.id, spending: use) else { throw error }
      return (try await settled(known, use), false)
    }
    try await crashes.reach(.authorizeOpened)
    let call = inFlight.newCall()
    defer { call.end() }
    switch try await journal.claim(
      order, spending: card.use, card: card.summary, terms: terms(card), alongside: call.noting(alongside))
    {
    case .known(let payment), .running(let payment): return (try await settled(payment, card.use), false)
    case .tokenReused: throw GatewayError.tokenReused
    case .new(let attempt):
      return try await scheduler.finishing {
        try await crashes.reach(.authorizeClaimed)
        let request = card.request(for: order, attempt)
        let answer = await acquirer.authorize(request, deadline.within(policy.answerPatience))
        try await crashes.reach(.authorizeAnswered)
        let payment = try await record(
          answer, for: attempt, heardBy: .shopper(whenOpen: policy.tellsUnknownAs), before: deadline, answered
        ).payment
        try await crashes.reach(.authorizeRecorded)
        return (payment, true)
      }
    }
  }

  /// How long a call may take in all, from now on. Whoever does something for the shopper before it pays makes it first.
  package func newDeadline() -> Deadline { .after(policy.budget, on: scheduler) }

  private func terms(_ card: ConfirmedInstrument) -> ClaimTerms {
    ClaimTerms(
      connector: route, amountConfirmed: card.amountConfirmed,
      holdUntil: acquirer.capabilities.holdLifetime.map { clocks.latest.adding($0) })
  }

  private func opened(
    _ token: EncryptedPaymentToken, for order: Order, before deadline: Deadline
  ) async throws -> ConfirmedInstrument {
    let card = try await confirm(token, pays: order)
    guard deadline.remaining >= policy.authorizationNeeds else { throw GatewayError.outOfTime }
    return card
  }

  /// An answer that was given is given again, to the payment token that it was given to also while it is open; another
  /// token has to wait.
  private func settled(_ payment: Payment, _ use: TokenUse) async throws -> Payment {
    guard !payment.status.isSettled else { return payment }
    guard payment.told != nil, try await journal.isPaid(payment.id, by: use) else {
      throw GatewayError.paymentInProgress(payment)
    }
    return payment
  }
}
