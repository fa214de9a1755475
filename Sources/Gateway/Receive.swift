public import Ledger

extension PaymentGateway {
  /// Takes what a provider says by itself, after its connector has found it authentic: kept once, held against our own
  /// amounts, and posted.
  public func receive(_ event: ProviderEvent) async throws -> InboxVerdict {
    try await crashes.reach(.eventAccepted)
    let verdict = try await journal.receive(event)
    try await crashes.reach(.eventRecorded)
    return verdict
  }
}
