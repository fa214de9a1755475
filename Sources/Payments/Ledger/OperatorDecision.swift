package import Storage
package import TenderPayments

// The end of a capture, void or refund that no event and no inquiry ends: an operator has looked into the provider's
// dashboard. An event that comes later all the same is booked as what it is, with an alarm.
extension Journal {
  /// Acquires the lease of an open capture, void or refund of the payment.
  ///
  /// - Parameter inFlight: what this process is working on itself.
  /// - Throws: `JournalError` for another operation, for one that has its answer, and while a process may be asking the
  ///   acquirer about it.
  package func leaseOpen(
    _ operation: AttemptReference, of payment: PaymentID, except inFlight: Set<AttemptReference>,
    in store: Transaction
  ) throws -> Attempt {
    guard let (found, state) = try Operations.find(operation, in: store), found.payment == payment,
      found.kind.isFollowUp
    else { throw JournalError.noSuchOperation(operation) }
    guard state.isOpen else { throw JournalError.alreadyAnswered(state) }
    let end = store.now.adding(Self.lease)
    guard !inFlight.contains(operation), try !Operations.isLeased(operation, in: store),
      let attempt = try Operations.acquireLease(operation, owner: owner, until: end, in: store)
    else { throw JournalError.conflict }
    return attempt
  }

  /// Ends an operation whose lease was acquired as an operator has decided: operation, balances, alarm, event and audit
  /// entry with their note in one commit.
  ///
  /// - Parameter resolution: `approved` if the acquirer did it, `failed` if it did not.
  package func end(_ attempt: Attempt, as resolution: Resolution, note: String) async throws -> Payment {
    try await database.write { store in
      let before = try PaymentRecord.lock(attempt.payment, in: store)
      let answer = attempt.answer(resolution)
      guard try Operations.close(attempt, with: answer, in: store) != nil else {
        throw JournalError.conflict
      }
      try Operations.noteDecision(of: attempt.reference, in: store)
      var after = try move(before, by: answer, to: attempt, reportedTo: .noCaller, in: store)
      after.endAlarm(among: [AlarmReason.unknown(attempt.kind).rawValue])
      return try save(after, over: before, .resolved(resolution), of: attempt.reference, saying: note, in: store)
    }
  }
}

extension Attempt {
  /// An operator's decision as the answer that never came.
  fileprivate func answer(_ resolution: Resolution) -> AcquirerAnswer {
    guard resolution == .approved else { return .notSent("an operator's decision") }
    return .approved(Approval(acquirerReference: acquirerReference ?? ""))
  }
}

extension Operations {
  /// Whether an operator ended it.
  static func isDecided(_ reference: AttemptReference, in store: Transaction) throws -> Bool {
    try store.row("SELECT reference FROM operations WHERE reference = $1 AND decided = 1", .text(reference.rawValue))
      != nil
  }

  /// Keeps the acquirer's name of an operation that has none yet.
  static func learnName(
    _ reference: AttemptReference, from answer: AcquirerAnswer, in store: Transaction
  ) throws {
    guard case .approved(let approval) = answer, !approval.acquirerReference.isEmpty else { return }
    try store.run(
      "UPDATE operations SET acquirer_reference = $2 WHERE reference = $1 AND acquirer_reference IS NULL",
      .text(reference.rawValue), .text(approval.acquirerReference))
  }

  fileprivate static func noteDecision(of reference: AttemptReference, in store: Transaction) throws {
    try store.run("UPDATE operations SET decided = 1 WHERE reference = $1", .text(reference.rawValue))
  }

  fileprivate static func isLeased(_ reference: AttemptReference, in store: Transaction) throws -> Bool {
    try store.row(
      "SELECT reference FROM operations WHERE reference = $1 AND lease_until > $2", .text(reference.rawValue),
      .time(store.now)) != nil
  }
}
