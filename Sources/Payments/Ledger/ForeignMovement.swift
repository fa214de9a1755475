import Storage
package import TenderPayments

/// Money of a payment that a provider, a card scheme or a person in the provider's dashboard moved: no operation of ours
/// asked for it.
package struct ForeignMovement: Sendable, Hashable {
  package enum Subject: Sendable, Hashable {
    case operation(AttemptReference)
    /// The acquirer's name of the authorization or of another operation.
    case name(String)
  }

  package let route: String
  /// The provider's name of the event.
  package let id: String
  package let subject: Subject
  package let amount: Amount
  /// What happened, such as `refund` or `chargeback`.
  package let kind: String

  package init(route: String, id: String, subject: Subject, amount: Amount, kind: String) {
    self.route = route
    self.id = id
    self.subject = subject
    self.amount = amount
    self.kind = kind
  }
}

/// Whether an acquirer's name of an operation is known.
package enum NamedOperation: Sendable, Hashable {
  case known(AttemptReference)
  /// An operation of the route has no name yet: its answer may bring this one.
  case perhapsLater
  case unknown
}

extension Journal {
  package func operation(called name: String, through route: String) async throws -> NamedOperation {
    try await database.read { store in
      if let reference = try Operations.reference(called: name, through: route, in: store) { return .known(reference) }
      return try Operations.awaitsName(through: route, in: store) ? .perhapsLater : .unknown
    }
  }

  /// Records a movement once, with an alarm on its payment and an entry in the audit chain. The balances stay: an operator
  /// compares with the provider.
  package func receive(_ movement: ForeignMovement) async throws -> InboxVerdict {
    try await database.write { store in
      guard let reference = try self.reference(of: movement, in: store),
        let (attempt, _) = try Operations.find(reference, in: store), attempt.route == movement.route
      else { return .refused("unknown_reference") }
      guard try Inbox.add(movement, about: reference, in: store) else { return .known }
      try raise(.movedElsewhere, on: attempt.payment, in: store)
      try remark(
        AuditEntry.alarmed, "\(movement.kind) of \(movement.amount), by the provider", on: attempt.payment, in: store)
      return .contradicted(AlarmReason.movedElsewhere.rawValue)
    }
  }

  private func reference(of movement: ForeignMovement, in store: Transaction) throws -> AttemptReference? {
    switch movement.subject {
    case .operation(let reference): reference
    case .name(let name): try Operations.reference(called: name, through: movement.route, in: store)
    }
  }
}
