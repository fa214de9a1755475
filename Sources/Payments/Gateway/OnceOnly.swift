package import Ledger
package import Storage
package import TenderPayments

/// The answer to a call with an idempotency key.
package struct KeyedAnswer: Sendable, Hashable {
  package let answer: StoredAnswer
  /// Whether this is the key's answer from now on. While the outcome is open it is not: it says how far the call has
  /// come, and is not kept.
  package let isFinal: Bool
  /// Whether the work was begun by an earlier call.
  package let isReplay: Bool
  /// False for a key that was used with another request. What such a caller gets is the API's rule: Worldline's is the
  /// first answer, ours a refusal.
  package let sameRequest: Bool
}

extension PaymentGateway {
  /// What ``once(_:render:_:)`` hands to its work, to be passed on to a verb.
  package struct KeyHooks: Sendable {
    package let alongside: @Sendable (Attempt, Transaction) throws -> Void
    package let answered: @Sendable (OperationOutcome, Transaction) throws -> Void
  }

  /// Runs the work once for a key: its answer is kept in the commit of the operation's own answer, and given again byte
  /// for byte.
  ///
  /// An outcome that is open is told and not kept: whoever repeats the call makes us ask again, and hears what is known
  /// then. The first answer for good is the key's. The same holds for a call whose process died.
  ///
  /// - Parameters:
  ///   - render: the bytes that leave, from the outcome alone. They should say what state the operation is in: a refund
  ///     that may yet come to pass is not one that did not happen.
  ///   - work: one verb of this gateway, with both hooks passed on to it; after an authorization ``authorization(of:)``.
  /// - Throws: ``GatewayError/callInProgress`` while the first call is being worked on; whatever the work refuses, and
  ///   then the key is free again.
  package func once(
    _ call: IdempotentCall, render: @escaping @Sendable (OperationOutcome) -> StoredAnswer,
    _ work: (KeyHooks) async throws -> OperationOutcome
  ) async throws -> KeyedAnswer {
    if let known = try await known(try await journal.standing(of: call), call, render) { return known }
    do {
      let outcome = try await work(hooks(call, render))
      return try await answer(outcome, to: call, isReplay: false, sameRequest: true, render)
    } catch let taken as KeyTaken {
      guard let known = try await known(taken.standing, call, render) else { throw GatewayError.callInProgress }
      return known
    }
  }

  /// What a payment's authorization has come to.
  package func authorization(of payment: Payment) async throws -> OperationOutcome {
    try await journal.authorization(of: payment.id)
  }

  private func hooks(
    _ call: IdempotentCall, _ render: @escaping @Sendable (OperationOutcome) -> StoredAnswer
  ) -> KeyHooks {
    KeyHooks(
      alongside: { [clocks] in
        try IdempotencyKeys.begin(call, $0.reference, of: $0.payment, notBefore: clocks.latest, in: $1)
      },
      answered: { outcome, store in
        guard outcome.isFinal else { return try IdempotencyKeys.leaveOpen(call, in: store) }
        try IdempotencyKeys.finish(call, render(outcome), in: store)
      })
  }

  private func known(
    _ standing: KeyStanding, _ call: IdempotentCall, _ render: (OperationOutcome) -> StoredAnswer
  ) async throws -> KeyedAnswer? {
    switch standing {
    case .new: return nil
    case .running: throw GatewayError.callInProgress
    case .answered(let answer, let same):
      return KeyedAnswer(answer: answer, isFinal: true, isReplay: true, sameRequest: same)
    case .open(let operation, let same):
      let before = try await journal.outcome(of: operation)
      if !before.isFinal { _ = try await inquire(before.payment.id, dueOnly: true) }
      let outcome = try await journal.outcome(of: operation)
      return try await answer(outcome, to: call, isReplay: true, sameRequest: same, render)
    }
  }

  /// The key's answer for good. When the store does not say which it is, the caller has to ask again: the money has
  /// moved by now.
  private func kept(
    _ answer: StoredAnswer, of outcome: OperationOutcome, for call: IdempotentCall
  ) async throws -> StoredAnswer {
    do { return try await journal.keep(call, answer, of: outcome) } catch is StorageError {
      throw GatewayError.outcomeNotRecorded(outcome.payment.id)
    }
  }

  private func answer(
    _ outcome: OperationOutcome, to call: IdempotentCall, isReplay: Bool, sameRequest: Bool,
    _ render: (OperationOutcome) -> StoredAnswer
  ) async throws -> KeyedAnswer {
    let (rendered, isFinal) = (render(outcome), outcome.isFinal)
    let answer = isFinal ? try await kept(rendered, of: outcome, for: call) : rendered
    return KeyedAnswer(answer: answer, isFinal: isFinal, isReplay: isReplay, sameRequest: sameRequest)
  }
}
