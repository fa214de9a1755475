import Acquiring
import ApplePayToken
import Ledger
public import Storage
public import TenderPayments

extension PaymentGateway {
  /// Asks the acquirer to hold the order's amount on the card in the payment token.
  ///
  /// A finished answer is given again before token and clock are judged, so a repeat gets it even when the token is
  /// too old to open. The attempt is durable before the acquirer hears of it, so a crash leaves something to inquire
  /// about; and an answer that never came leaves the payment *unknown*, never declined.
  ///
  /// - Parameter alongside: written in the commit of the claim. It may throw to refuse the payment: then nothing
  ///   happened, and its error is passed on.
  public func authorize(
    _ order: Order, with token: EncryptedPaymentToken,
    alongside: @escaping @Sendable (Transaction) throws -> Void = { _ in }
  ) async throws -> Payment {
    if let known = try await journal.answer(for: order.id, spending: TokenUse(of: token)) { return try settled(known) }
    let opened = try await opener.opening(token, for: order.merchant, at: clock.now())
    let card = try confirm(opened, matches: order)
    switch try await journal.claim(order, spending: card.use, card: card.summary, alongside: alongside) {
    case .known(let payment): return payment
    case .running(let payment): throw GatewayError.paymentInProgress(payment)
    case .tokenReused: throw GatewayError.tokenReused
    case .new(let attempt):
      return try await uninterrupted {
        let answer = await acquirer.authorize(card.request(for: order, attempt), .after(patience))
        return try await journal.record(answer, for: attempt)
      }
    }
  }

  /// What is begun is finished: a shopper who closes the page must not leave a hold whose answer nobody wrote down.
  func uninterrupted(_ work: @escaping @Sendable () async throws -> Payment) async throws -> Payment {
    try await Task { try await work() }.value
  }

  private func settled(_ payment: Payment) throws(GatewayError) -> Payment {
    guard payment.status.isSettled else { throw .paymentInProgress(payment) }
    return payment
  }
}
