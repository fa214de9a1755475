package import Ledger
import Storage
package import TenderPayments

/// The answer to a call with an idempotency key, for its caller to render.
package struct KeyedAnswer: Sendable, Hashable {
  /// The first final outcome of the operation that the key names; as it is now while it is open.
  package let outcome: OperationOutcome
  /// All operations of the payment, as they were with that outcome.
  package let operations: [OperationRecord]
  /// When the call came that began the operation; nil for the answer to that call.
  package let firstCallAt: Timestamp?
  /// False for a key that was used with another request. What its caller gets is the API's rule: Worldline's is the
  /// first answer, ours a refusal.
  package let sameRequest: Bool

  /// Whether it is the key's answer from now on. An answer to an open outcome is not: it says how far the call has come.
  package var isFinal: Bool { outcome.isFinal }
  /// Whether the operation was begun by an earlier call.
  package var isReplay: Bool { firstCallAt != nil }
}

// Each operation runs once for its key, which names it. An answer is rendered from the operation's first final outcome, so
// a repeat gets what the first call got, whatever has become of the payment since.
//
// An open outcome is reported as it is: a repeat of the call makes us ask again, and gets what is known then. The same
// holds for a call whose process died.
extension PaymentGateway {
  /// Captures, voids or refunds once for the key.
  ///
  /// - Throws: ``GatewayError/callInProgress`` while the first call is running; whatever the operation is refused for, and
  ///   then the key is free again.
  package func perform(_ followUp: FollowUp, under key: IdempotentCall) async throws -> KeyedAnswer {
    if let known = try await findAnswer(under: key) { return known }
    do {
      let outcome = try await perform(followUp.under(key))
      return try await reading(followUp.payment) { try await firstOutcome(of: outcome.operation.reference) }
    } catch let taken as KeyTaken {
      return try await firstAnswer(under: key, taken)
    }
  }

  /// The answer that the key has already; nil for a new key. For a use case that opens the transaction of the claim
  /// itself, as the next one is.
  ///
  /// - Throws: ``GatewayError/callInProgress`` while the first call is running.
  package func findAnswer(under key: IdempotentCall) async throws -> KeyedAnswer? {
    try await answer(journal.status(of: key))
  }

  /// The answer of the call that claimed the key first.
  package func firstAnswer(under key: IdempotentCall, _ taken: KeyTaken) async throws -> KeyedAnswer {
    guard let known = try await answer(taken.status) else { throw GatewayError.callInProgress }
    return known
  }

  /// Nil for a new key.
  private func answer(_ status: KeyStatus) async throws -> KeyedAnswer? {
    switch status {
    case .new: return nil
    case .running: throw GatewayError.callInProgress
    case .over(let first, let same):
      let before = try await firstOutcome(of: first.operation, begunAt: first.begunAt, sameRequest: same)
      if before.isFinal { return before }
      _ = try await inquire(first.payment, dueOnly: true)
      return try await reading(first.payment) {
        try await firstOutcome(of: first.operation, begunAt: first.begunAt, sameRequest: same)
      }
    }
  }

  private func firstOutcome(
    of operation: AttemptReference, begunAt time: Timestamp? = nil, sameRequest: Bool = true
  ) async throws -> KeyedAnswer {
    let first = try await journal.firstOutcome(of: operation)
    return KeyedAnswer(
      outcome: first.outcome, operations: first.operations, firstCallAt: time, sameRequest: sameRequest)
  }
}
