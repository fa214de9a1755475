package import Acquiring
package import Ledger
import TenderPayments

extension PaymentGateway {
  /// Receives a call that an acquirer or provider makes by itself: authentic and understood by its connector. Each event
  /// in it is kept once, compared with our own amounts, and posted, in a commit of its own.
  ///
  /// A provider may call one address with the events of all its accounts. What is about a payment of another route of
  /// the same connector is received through that route, if its keys have signed the call too.
  ///
  /// - Parameter route: the one whose address was called.
  /// - Throws: `EventRefusal` for a call that is not authentic or not understood; nothing of it is stored. The error of
  ///   an event that could not be stored, after all others are.
  package func receive(_ inbound: InboundEvent, through route: String) async throws -> ReceivedEvents {
    guard let acquirer = routes[route] else { throw EventRefusal.notExpected }
    let batch = try acquirer.readEvents(inbound)
    let siblings = routes.siblings(of: route).map(\.capabilities)
    var received = ReceivedEvents(batch)
    var owners: Set<String> = []
    for account in batch.otherAccounts {
      let owner = siblings.first { $0.eventAccounts.contains(account) }
      if let owner { owners.insert(owner.route) } else { received.passedOver += 1 }
    }
    var failure: (any Error)?
    func receive(_ events: [AcquirerEvent], through route: String) async -> Set<String> {
      var others: Set<String> = []
      for event in events {
        do {
          if let owner = try await owner(of: event, beside: route) {
            others.insert(owner)
          } else {
            received.verdicts.append(try await self.receive(event, through: route))
          }
        } catch { failure = failure ?? error }
      }
      return others
    }
    owners.formUnion(await receive(batch.events, through: route))
    for owner in owners {
      let theirs = try? routes[owner]?.readEvents(inbound)
      received.refusal = received.refusal ?? (theirs == nil ? .ofAnotherRoute : theirs?.refusal)
      _ = await receive(theirs?.events ?? [], through: owner)
    }
    if let failure { throw failure }
    return received
  }

  /// The route whose payment the event is about, where that is another one of the same connector.
  private func owner(of event: AcquirerEvent, beside route: String) async throws -> String? {
    let siblings = routes.siblings(of: route).map(\.capabilities.route)
    guard !siblings.isEmpty else { return nil }
    let owner: String? =
      switch event.subject {
      case .operation(let ours), .reversal(of: let ours, called: _): try await journal.route(of: ours)
      case .acquirerOperation(let name), .authorization(let name), .operationOfAnyone(called: _, of: let name, _):
        try await journal.route(ofOperationCalled: name, among: [route] + siblings)
      }
    return owner.flatMap { siblings.contains($0) ? $0 : nil }
  }

  private func receive(_ event: AcquirerEvent, through route: String) async throws -> InboxVerdict {
    let reference: AttemptReference
    switch try await operation(of: event, through: route) {
    case .known(let ours): reference = ours
    case .perhapsLater: return .early("unknown_reference")
    case .unknown:
      guard let movement = event.asMovement else { return try await journal.checkUnknownReference(through: route) }
      return try await receive(movement, through: route)
    }
    guard let outcome = ProviderEvent.Outcome(event) else { return .known }
    return try await receive(
      ProviderEvent(route: route, id: event.id, reference: reference, amount: event.amount, outcome: outcome))
  }

  private func operation(of event: AcquirerEvent, through route: String) async throws -> NamedOperation {
    switch event.subject {
    case .operation(let ours): .known(ours)
    case .acquirerOperation(let name), .authorization(let name), .operationOfAnyone(let name, _, _):
      try await journal.operation(called: name, through: route)
    case .reversal(let authorization, let name):
      try await journal.reversal(of: authorization, called: name, isDone: event.isApproval, through: route)
    }
  }

  /// Receives an event that is authenticated already.
  package func receive(_ event: ProviderEvent) async throws -> InboxVerdict {
    try await crashes.reach(.eventAccepted)
    let verdict = try await journal.receive(event, notBefore: clocks.latest)
    try await crashes.reach(.eventRecorded)
    return verdict
  }
}

/// What became of the events of one call.
package struct ReceivedEvents: Sendable, Hashable {
  /// In the order of the events, those of another route last.
  package fileprivate(set) var verdicts: [InboxVerdict] = []
  /// How many items of the call say nothing of our money.
  package fileprivate(set) var passedOver: Int
  /// Why the call has to come again: an item of it could not be read.
  package fileprivate(set) var refusal: EventRefusal?
  /// The answer that the provider expects, once none of the events has to come again.
  package let acknowledgement: Acknowledgement

  fileprivate init(_ batch: EventBatch) {
    (passedOver, refusal, acknowledgement) = (batch.passedOver, batch.refusal, batch.acknowledgement)
  }

  /// Whether one of the events has to come again: an earlier one is missing.
  package var isEarly: Bool {
    verdicts.contains { if case .early = $0 { true } else { false } }
  }
}

extension ProviderEvent.Outcome {
  /// Nil for an answer that leaves the outcome open.
  fileprivate init?(_ event: AcquirerEvent) {
    switch event.content {
    case .answer(.approved(let approval)): self = .approved(approval)
    case .answer(.declined(let decline)): self = .declined(decline)
    case .answer(.pending), .answer(.unknown), .answer(.notSent): return nil
    case .returned(let decline): self = .returned(decline)
    case .movement(let movement): self = .moved(movement, name: event.name)
    }
  }
}

extension AcquirerEvent {
  fileprivate var isApproval: Bool { if case .answer(.approved) = content { true } else { false } }
}
