package import Ledger
import Storage
package import TenderPayments

/// A call that its caller may repeat under an idempotency key, and how its answer is rendered.
package struct KeyedOperation: Sendable {
  package let call: IdempotentCall
  /// The bytes that leave, from the outcome alone. They should say what state the operation is in: a refund whose
  /// outcome is open is not one that failed.
  let render: @Sendable (OperationOutcome) -> StoredAnswer

  package init(_ call: IdempotentCall, render: @escaping @Sendable (OperationOutcome) -> StoredAnswer) {
    self.call = call
    self.render = render
  }

  /// Claims the key in the commit that begins the operation.
  func begin(_ attempt: Attempt, notBefore time: Timestamp, in store: Transaction) throws {
    try IdempotencyKeys.begin(call, attempt.reference, of: attempt.payment, notBefore: time, in: store)
  }

  /// Keeps the answer in the commit that records the outcome, if the outcome is final. While another operation of the
  /// request is being sent, the call is not over.
  func keep(_ outcome: OperationOutcome, in store: Transaction) throws {
    guard !outcome.isSending else { return }
    guard outcome.isFinal else { return try IdempotencyKeys.leaveOpen(call, in: store) }
    try IdempotencyKeys.finish(call, render(outcome), in: store)
  }
}

/// The answer to a call with an idempotency key.
package struct KeyedAnswer: Sendable, Hashable {
  package let answer: StoredAnswer
  /// Whether it is the key's answer from now on. An answer to an open outcome is not: it says how far the call has come,
  /// and is not kept.
  package let isFinal: Bool
  /// Whether the operation was begun by an earlier call.
  package let isReplay: Bool
  /// False for a key that was used with another request. What its caller gets is the API's rule: Worldline's is the
  /// first answer, ours a refusal.
  package let sameRequest: Bool
}

// Each operation runs once for its key. The answer is kept in the commit that records the operation's outcome, and
// given again byte for byte.
//
// An open outcome is reported and not kept: a repeat of the call makes us ask again, and gets what is known then. The
// first final answer is the key's. The same holds for a call whose process died.
extension PaymentGateway {
  /// Authorizes the order, and captures at once if the order says so, once for the key.
  ///
  /// - Throws: ``GatewayError/callInProgress`` while the first call is running; whatever the payment is refused for, and
  ///   then the key is free again.
  package func pay(
    _ order: Order, with token: EncryptedPaymentToken, under key: KeyedOperation
  ) async throws -> KeyedAnswer {
    if let known = try await answer(under: key, journal.status(of: key.call)) { return known }
    do {
      let payment = try await pay(order, with: token, in: newCall(under: key))
      return try await reading(payment.id) { try await answer(of: payment.id, to: key) }
    } catch let taken as KeyTaken {
      return try await firstAnswer(under: key, taken)
    }
  }

  /// Captures, voids or refunds once for the key.
  ///
  /// - Throws: as of ``pay(_:with:under:)``.
  package func perform(_ followUp: FollowUp, under key: KeyedOperation) async throws -> KeyedAnswer {
    if let known = try await answer(under: key, journal.status(of: key.call)) { return known }
    do {
      return try await answer(perform(followUp.under(key)), to: key)
    } catch let taken as KeyTaken {
      return try await firstAnswer(under: key, taken)
    }
  }

  /// The answer that the key has already; nil for a new key. For a use case that opens the transaction of the claim
  /// itself, as the two that follow are.
  ///
  /// - Throws: ``GatewayError/callInProgress`` while the first call is running.
  package func findAnswer(under key: KeyedOperation) async throws -> KeyedAnswer? {
    try await answer(under: key, journal.status(of: key.call))
  }

  /// The answer to the call whose claim took the key.
  package func answer(of payment: PaymentID, to key: KeyedOperation) async throws -> KeyedAnswer {
    try await answer(journal.authorization(of: payment), to: key)
  }

  /// The answer of the call that claimed the key first.
  package func firstAnswer(under key: KeyedOperation, _ taken: KeyTaken) async throws -> KeyedAnswer {
    guard let known = try await answer(under: key, taken.status) else { throw GatewayError.callInProgress }
    return known
  }

  /// Nil for a new key.
  private func answer(under key: KeyedOperation, _ status: KeyStatus) async throws -> KeyedAnswer? {
    switch status {
    case .new: return nil
    case .running: throw GatewayError.callInProgress
    case .answered(let answer, let same):
      return KeyedAnswer(answer: answer, isFinal: true, isReplay: true, sameRequest: same)
    case .open(let operation, let same):
      let before = try await journal.outcome(of: operation)
      if !before.isFinal { _ = try await inquire(before.payment.id, dueOnly: true) }
      return try await reading(before.payment.id) {
        try await answer(journal.outcome(of: operation), to: key, isReplay: true, sameRequest: same)
      }
    }
  }

  private func answer(
    _ outcome: OperationOutcome, to key: KeyedOperation, isReplay: Bool = false, sameRequest: Bool = true
  ) async throws -> KeyedAnswer {
    let (rendered, isFinal) = (key.render(outcome), outcome.isFinal)
    let answer = isFinal ? try await keep(rendered, of: outcome, for: key.call) : rendered
    return KeyedAnswer(answer: answer, isFinal: isFinal, isReplay: isReplay, sameRequest: sameRequest)
  }

  /// The key's final answer. If the store cannot say which it is, the caller has to ask again: the money has moved by
  /// now.
  private func keep(
    _ answer: StoredAnswer, of outcome: OperationOutcome, for call: IdempotentCall
  ) async throws -> StoredAnswer {
    try await reading(outcome.payment.id) { try await journal.keep(call, answer, of: outcome) }
  }
}
