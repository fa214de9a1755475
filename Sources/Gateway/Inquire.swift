import Acquiring
import Ledger
public import TenderPayments

extension PaymentGateway {
  /// Settles one operation of a payment whose answer is missing, by asking the acquirer what became of it.
  ///
  /// It never sends an authorization again: the payment token is gone, and the first request may yet arrive. What the
  /// acquirer does not know, or does not say, stays as it is.
  ///
  /// - Returns: the payment as it stands afterwards; unchanged also while the call that began the operation may still
  ///   be waiting for its own answer.
  public func inquire(_ payment: PaymentID) async throws -> Payment {
    guard let attempt = try await journal.takeOver(payment) else { return try await known(payment) }
    let question = InquiryRequest(reference: attempt.reference, amount: attempt.amount)
    switch await acquirer.inquire(question, .after(patience)) {
    case .answer(let answer) where isNews(answer):
      return try await journal.record(answer, for: attempt)
    case .answer, .notFound, .unavailable:
      try await journal.release(attempt)
      return try await known(payment)
    }
  }

  /// Only a yes or a no ends the waiting.
  private func isNews(_ answer: AcquirerAnswer) -> Bool {
    switch answer {
    case .approved, .declined: true
    case .pending, .unknown, .notSent: false
    }
  }

  func known(_ payment: PaymentID) async throws -> Payment {
    guard let known = try await journal.payment(payment) else {
      throw GatewayError.operationRefused(.noSuchPayment(payment))
    }
    return known
  }
}
