public import Acquiring
public import ApplePayToken
public import Ledger
public import TenderPayments

/// Turns a payment token into an authorization, and an authorization into money, and never loses or doubles one.
///
/// The verbs stand in files of their own: `Authorize.swift` is the story, `Inquire.swift` settles what it had to leave
/// open.
public struct PaymentGateway: Sendable {
  let opener: TokenOpener
  let journal: Journal
  let acquirer: Acquirer
  let clock: WallClock
  /// How long the acquirer may take for one answer.
  let patience: Duration

  /// - Parameter patience: shorter than the journal's lease, and than the 30 seconds that the payment sheet waits.
  public init(
    opener: TokenOpener, journal: Journal, acquirer: Acquirer, clock: WallClock = .system,
    patience: Duration = .seconds(20)
  ) {
    self.opener = opener
    self.journal = journal
    self.acquirer = acquirer
    self.clock = clock
    self.patience = min(patience, Journal.lease / 2)
  }

  public func payment(_ id: PaymentID) async throws -> Payment? { try await journal.payment(id) }
  public func payment(for order: OrderID) async throws -> Payment? { try await journal.payment(of: order) }
  public func payment(for basket: BasketID) async throws -> Payment? { try await journal.payment(of: basket) }
}
