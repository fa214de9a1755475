package import Storage
import TenderPayments

extension Journal {
  /// Ends an authorization of which provably nothing was sent, and begins another of the same payment at the next route,
  /// in one commit. The payment stays *authorizing*, and an idempotency key goes on to the new operation.
  ///
  /// - Parameters:
  ///   - reason: why nothing was sent, for the operator.
  ///   - terms: of the next route.
  ///   - call: the idempotency key of the call, if it has one.
  /// - Returns: nil when another process has acquired the operation's lease; then nothing is written.
  package func reroute(
    _ attempt: Attempt, because reason: String, to terms: ClaimTerms, under call: IdempotentCall?, in store: Transaction
  ) throws -> Attempt? {
    let before = try PaymentRecord.lock(attempt.payment, in: store)
    guard attempt.kind == .authorize, before.balances.status == .authorizing,
      try Operations.close(attempt, with: .notSent(reason), in: store) != nil
    else { return nil }
    var after = before.moved(to: before.balances, at: store.now)
    (after.route, after.holdUntil, after.sale) = (terms.route, terms.holdUntil, terms.sale)
    try after.save(over: before, in: store)
    let next = newAttempt(.authorize, attempt.amount, of: after, cause: .shopper, store)
    try insert(next, in: store)
    if let call { try IdempotencyKeys.continue(call, as: next.reference, in: store) }
    try remark(AuditEntry.rerouted, "\(before.route) to \(terms.route): \(reason)", on: attempt.payment, in: store)
    return next
  }
}
