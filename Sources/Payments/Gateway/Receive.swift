package import Acquiring
package import Ledger
import TenderPayments

extension PaymentGateway {
  /// Receives a call that an acquirer or provider makes by itself: authentic and understood by its connector. Each event
  /// in it is kept once, compared with our own amounts, and posted, in a commit of its own.
  ///
  /// - Parameter route: the one whose address was called.
  /// - Throws: `EventRefusal` for a call that is not authentic or not understood; nothing of it is stored.
  package func receive(_ inbound: InboundEvent, through route: String) async throws -> ReceivedEvents {
    guard let acquirer = routes[route] else { throw EventRefusal.notExpected }
    let batch = try acquirer.readEvents(inbound)
    var verdicts: [InboxVerdict] = []
    for event in batch.events { verdicts.append(try await receive(event, through: route)) }
    return ReceivedEvents(verdicts: verdicts, acknowledgement: batch.acknowledgement)
  }

  private func receive(_ event: AcquirerEvent, through route: String) async throws -> InboxVerdict {
    let reference: AttemptReference
    switch try await operation(of: event, through: route) {
    case .known(let ours): reference = ours
    case .perhapsLater: return .early("unknown_reference")
    case .unknown:
      guard let movement = event.asMovement else { return .refused("unknown_reference") }
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

  /// The same for an event that is authenticated already.
  package func receive(_ event: ProviderEvent) async throws -> InboxVerdict {
    try await crashes.reach(.eventAccepted)
    let verdict = try await journal.receive(event, notBefore: clocks.latest)
    try await crashes.reach(.eventRecorded)
    return verdict
  }
}

/// What became of the events of one call.
package struct ReceivedEvents: Sendable, Hashable {
  /// In the order of the events.
  package let verdicts: [InboxVerdict]
  /// The answer that the provider expects, once none of the events has to come again.
  package let acknowledgement: Acknowledgement

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
