package import Acquiring
package import Ledger
import TenderPayments

extension PaymentGateway {
  /// Receives an event that an acquirer or provider sends: authentic and understood by its connector, kept once,
  /// compared with our own amounts, and posted.
  ///
  /// - Throws: `EventRefusal` for what is not believed; nothing is kept of it.
  package func receive(_ inbound: InboundEvent) async throws -> InboxVerdict {
    let event = try acquirer.readEvent(inbound)
    guard let outcome = ProviderEvent.Outcome(event.answer) else { return .known }
    return try await receive(
      ProviderEvent(
        connector: route, id: event.id, reference: event.reference, amount: event.amount,
        outcome: outcome))
  }

  /// The same for an event that was found authentic before.
  package func receive(_ event: ProviderEvent) async throws -> InboxVerdict {
    try await crashes.reach(.eventAccepted)
    let verdict = try await journal.receive(event, notBefore: clocks.latest)
    try await crashes.reach(.eventRecorded)
    return verdict
  }
}

extension ProviderEvent.Outcome {
  /// Nil for what decides nothing.
  fileprivate init?(_ answer: AcquirerAnswer) {
    switch answer {
    case .approved(let approval): self = .approved(approval)
    case .declined(let decline): self = .declined(decline)
    case .pending, .unknown, .notSent: return nil
    }
  }
}
