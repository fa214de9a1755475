package import Acquiring
package import Gateway
package import Storage
package import TenderPayments

/// Who takes the money for an order: the payment gateway, as far as placing an order needs it.
package struct Cashier: Sendable {
  /// Asks the acquirer, once, and takes the money at once if that is how the order wants it. A repeat gets the same
  /// payment. A decline is an answer.
  ///
  /// Nothing is waited for after the deadline. The last argument writes in the commit that claims the order, before the
  /// acquirer hears of it; if it throws, nothing has happened.
  package let pay:
    @Sendable (Order, EncryptedPaymentToken, Deadline, _ alongside: @escaping @Sendable (Transaction) throws -> Void)
      async throws -> Payment
  /// Asks the acquirer what became of a payment whose outcome is open, and takes money that it turns out to hold if it
  /// was to be taken at once. Never sends an authorization.
  package let settle: @Sendable (PaymentID, CaptureMode) async throws -> Payment

  package init(
    pay:
      @escaping @Sendable (
        Order, EncryptedPaymentToken, Deadline, @escaping @Sendable (Transaction) throws -> Void
      ) async throws -> Payment,
    settle: @escaping @Sendable (PaymentID, CaptureMode) async throws -> Payment
  ) {
    self.pay = pay
    self.settle = settle
  }

  package static func gateway(_ gateway: PaymentGateway) -> Cashier {
    Cashier(
      pay: { order, token, deadline, alongside in
        try await gateway.pay(order, with: token, before: deadline, alongside: { try alongside($1) })
      },
      settle: { try await gateway.settle($0, $1) })
  }
}
