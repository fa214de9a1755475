import Storage
package import TenderPayments

// Approvals of another amount than was asked for. An authorization that is approved for less is a decline, and its
// hold is reversed. No other operation is asked for in part, so such an approval of it is not believed.
extension AcquirerAnswer {
  /// The answer as far as the gateway believes it: an approval of another amount leaves the outcome unknown, unless it
  /// is an authorization that was approved for less.
  package func believed(for attempt: Attempt) -> AcquirerAnswer {
    guard case .approved(let approval) = self, let approved = approval.approvedAmount else { return self }
    guard attempt.kind == .authorize, approved.isPart(of: attempt.amount) else {
      return .unknown(Interruption(.unintelligibleAnswer, detail: "approved for \(approved) of \(attempt.amount)"))
    }
    return self
  }

  /// Whether an acquirer holds less than was asked for.
  var isForLess: Bool { if case .approved(let approval) = self { approval.approvedAmount != nil } else { false } }

  /// The answer that is posted for a believed one.
  var posted: AcquirerAnswer { isForLess ? .declined(.approvedForLess) : self }
}

extension Decline {
  /// With ISO 8583's response code of a partial approval, whatever the provider's own code is.
  static let approvedForLess = Decline(reason: .approvedForLess, code: "10")
}

extension Amount {
  fileprivate func isPart(of whole: Amount) -> Bool {
    currency == whole.currency && isPositive && minorUnits < whole.minorUnits
  }
}

extension Journal {
  /// Records the amount that a reversal releases, before the acquirer is asked: an authorization that was approved for
  /// less holds less.
  ///
  /// - Returns: the reversal with this amount; nil when another process holds its lease.
  ///
  /// - Parameter authorization: the acquirer's name of what is released, by which an inquiry finds it later.
  package func undo(_ reversal: Attempt, of amount: Amount, authorization: String) async throws -> Attempt? {
    try await database.write { store in
      guard try Operations.setAmount(amount, of: reversal, in: store) else { return nil }
      if let target = reversal.target { try Operations.name(target, authorization, in: store) }
      return try Operations.find(reversal.reference, in: store)?.attempt
    }
  }
}

extension Operations {
  /// Keeps the acquirer's name of an operation that has none yet.
  fileprivate static func name(_ reference: AttemptReference, _ name: String, in store: Transaction) throws {
    try store.run(
      "UPDATE operations SET acquirer_reference = $2 WHERE reference = $1 AND acquirer_reference IS NULL",
      .text(reference.rawValue), .text(name))
  }

  fileprivate static func setAmount(_ amount: Amount, of attempt: Attempt, in store: Transaction) throws -> Bool {
    try store.changes(
      "UPDATE operations SET amount = $3 WHERE reference = $1 AND fence = $2 AND \(isOpen)",
      .text(attempt.reference.rawValue), .integer(attempt.fence), .integer(amount.minorUnits)) == 1
  }
}
