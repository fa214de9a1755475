import Storage
package import TenderPayments

/// What an operator has found out about a payment or an operation of it.
package enum Resolution: String, Sendable, Hashable, Codable, CaseIterable {
  /// The money was held, and has been released.
  case voided
  /// Nothing was ever held; or the acquirer did not do an operation whose outcome is open.
  case failed
  /// The acquirer did an operation whose outcome is open, or that is recorded as declined or failed:
  /// ``Journal/recordApproval(of:in:note:)``.
  case approved
}

// The one end of an open payment that no acquirer's answer brings about.
extension Journal {
  /// Records what an operator decided, with their note, and ends the payment: status, alarm, event and audit entry in
  /// one commit. The order is free afterwards.
  ///
  /// Refused if the outcome is known, and while a process still asks the acquirer about it. An approval that comes
  /// later all the same is not adopted: a reversal is written.
  package func resolve(_ payment: PaymentID, as resolution: Resolution, note: String) async throws -> Payment {
    try await database.write { store in
      let before = try PaymentRecord.lock(payment, in: store)
      let event = PaymentEvent.resolved(resolution)
      guard case .becomes(let status)? = PaymentState.destination(from: before.balances.status, event) else {
        throw JournalError.alreadyResolved(before.balances.status)
      }
      guard try !Operations.isHeld(payment, in: store) else { throw JournalError.conflict }
      let authorization = try Operations.end(payment, as: resolution, in: store)
      var balances = before.balances
      balances.status = status
      var after = before.moved(to: balances, at: store.now)
      after.endAlarm()
      return try save(after, over: before, event, of: authorization, saying: note, in: store)
    }
  }
}
