public import Storage
public import TenderPayments

/// Who takes the money for an order: the payment gateway, as the two verbs that placing an order needs.
public struct Cashier: Sendable {
  /// Asks the acquirer, once. The last argument writes in the commit that claims the order, before the acquirer hears
  /// of it; if it throws, nothing has happened. A decline is an answer.
  public let authorize:
    @Sendable (Order, EncryptedPaymentToken, _ alongside: @escaping @Sendable (Transaction) throws -> Void)
      async throws -> Payment
  /// Takes all that is held.
  public let capture: @Sendable (PaymentID) async throws -> Payment

  public init(
    authorize:
      @escaping @Sendable (
        Order, EncryptedPaymentToken, @escaping @Sendable (Transaction) throws -> Void
      ) async throws -> Payment,
    capture: @escaping @Sendable (PaymentID) async throws -> Payment
  ) {
    self.authorize = authorize
    self.capture = capture
  }
}
