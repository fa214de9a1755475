public import Ledger
public import Storage
public import TenderPayments

/// The answer to a call with an idempotency key.
public struct KeyedAnswer: Sendable, Hashable {
  public let answer: StoredAnswer
  /// Whether it was given before.
  public let isReplay: Bool
  /// False for a key that was used with another request. What such a caller gets is the API's rule: Worldline's is the
  /// first answer, ours a refusal.
  public let sameRequest: Bool
}

extension PaymentGateway {
  /// What ``once(_:render:_:)`` hands to its work, to be passed on to a verb.
  public struct KeyHooks: Sendable {
    public let alongside: @Sendable (Transaction) throws -> Void
    public let answered: @Sendable (Payment, Transaction) throws -> Void
  }

  /// Runs the work once for a key: its answer is kept in the commit of the payment's own answer, and given again byte
  /// for byte. A call whose process died is answered with what became of its payment.
  ///
  /// - Parameters:
  ///   - render: the bytes that leave, from the payment alone.
  ///   - work: one verb of this gateway, with both hooks passed on to it.
  /// - Throws: ``GatewayError/callInProgress`` while the first call is being worked on; whatever the work refuses, and
  ///   then the key is free again.
  public func once(
    _ call: IdempotentCall, render: @escaping @Sendable (Payment) -> StoredAnswer,
    _ work: (KeyHooks) async throws -> Payment
  ) async throws -> KeyedAnswer {
    if let known = try await answer(try await journal.standing(of: call), call, render) { return known }
    let hooks = KeyHooks(
      alongside: { try IdempotencyKeys.begin(call, in: $0) },
      answered: { try IdempotencyKeys.finish(call, render($0), in: $1) })
    do {
      let payment = try await work(hooks)
      return KeyedAnswer(
        answer: try await journal.keep(call, render(payment)), isReplay: false, sameRequest: true)
    } catch let taken as KeyTaken {
      guard let known = try await answer(taken.standing, call, render) else { throw GatewayError.callInProgress }
      return known
    }
  }

  private func answer(
    _ standing: KeyStanding, _ call: IdempotentCall, _ render: (Payment) -> StoredAnswer
  ) async throws -> KeyedAnswer? {
    switch standing {
    case .new: return nil
    case .running: throw GatewayError.callInProgress
    case .answered(let answer, let same): return KeyedAnswer(answer: answer, isReplay: true, sameRequest: same)
    case .abandoned(let subject):
      let payment = try await subjectOf(subject)
      return KeyedAnswer(
        answer: try await journal.keep(call, render(payment)), isReplay: true, sameRequest: true)
    }
  }

  private func subjectOf(_ subject: String) async throws -> Payment {
    if let payment = try await journal.payment(PaymentID(subject)) { return payment }
    guard let payment = try await journal.payment(of: OrderID(subject)) else {
      throw GatewayError.operationRefused(.noSuchPayment(PaymentID(subject)))
    }
    return payment
  }
}
