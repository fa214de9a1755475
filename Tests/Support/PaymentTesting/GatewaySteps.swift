import ApplePayToken
package import Gateway
package import Ledger
import Storage
package import TenderPayments

// The gateway's steps one after another, for a test that writes nothing of its own in the claim's transaction. The use
// cases of the product open that transaction themselves.
extension PaymentGateway {
  /// Asks the acquirer to hold the order's amount on the card in the payment token.
  ///
  /// - Parameter order: without immediate capture.
  package func authorize(_ order: Order, with token: EncryptedPaymentToken) async throws -> Payment {
    try await pay(order, with: token)
  }

  /// Authorizes the order, and captures at once if the order says so.
  package func pay(
    _ order: Order, with token: EncryptedPaymentToken, before deadline: Deadline? = nil
  ) async throws -> Payment {
    try await pay(order, with: token, in: newCall(before: deadline))
  }

  /// Authorizes the order, and captures at once if the order says so, once for the key.
  package func pay(
    _ order: Order, with token: EncryptedPaymentToken, under key: IdempotentCall
  ) async throws -> KeyedAnswer {
    if let known = try await findAnswer(under: key) { return known }
    do { _ = try await pay(order, with: token, in: newCall(under: key)) } catch let taken as KeyTaken {
      return try await firstAnswer(under: key, taken)
    }
    guard let known = try await findAnswer(under: key) else { throw GatewayError.tokenReused }
    return known
  }

  private func pay(_ order: Order, with token: EncryptedPaymentToken, in call: PaymentCall) async throws -> Payment {
    defer { call.end() }
    switch try await confirm(token, pays: order, in: call) {
    case .answered(let payment): return payment
    case .confirmed(let confirmed):
      let attempt: Attempt
      do { attempt = try await claim(confirmed, for: call) } catch let refused as ClaimRefused {
        return try await answer(refused, to: confirmed)
      }
      return try await authorize(confirmed, attempt, in: call).payment
    }
  }

  private func claim(_ confirmed: ConfirmedOrder, for call: PaymentCall) async throws -> Attempt {
    try await journal.database.writeOnce { store, inDoubt in
      do { return try claim(confirmed, for: call, in: store) } catch let refused as ClaimRefused {
        guard let inDoubt, refused.isBy(inDoubt) else { throw refused }
        return inDoubt
      }
    }
  }
}

extension PaymentGateway {
  package func capture(
    _ payment: PaymentID, _ amount: Amount? = nil, isFinal: Bool = false
  ) async throws -> OperationOutcome {
    try await perform(.capture(payment, amount, isFinal: isFinal))
  }

  package func void(_ payment: PaymentID, _ amount: Amount? = nil) async throws -> OperationOutcome {
    try await perform(.void(payment, amount))
  }

  package func refund(_ payment: PaymentID, _ amount: Amount? = nil) async throws -> OperationOutcome {
    try await perform(.refund(payment, amount))
  }

  package func increment(_ payment: PaymentID, by amount: Amount) async throws -> OperationOutcome {
    try await perform(.increment(payment, by: amount))
  }
}
