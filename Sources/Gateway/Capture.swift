import Acquiring
import Ledger
public import Storage
public import TenderPayments

extension PaymentGateway {
  /// Takes held money: reserve, ask, post.
  ///
  /// What the acquirer refused or never heard of leaves the hold as it was. What is pending or unknown stays reserved
  /// until an inquiry settles it, so that nothing is taken twice.
  ///
  /// - Parameter amount: nil takes all that is held and neither taken nor in flight.
  public func capture(_ payment: PaymentID, _ amount: Amount? = nil) async throws -> Payment {
    let attempt = try await reserve(payment, amount)
    let request = try FollowUpRequest(attempt)
    return try await uninterrupted {
      let answer = await acquirer.capture(request, .after(patience))
      return try await journal.record(answer, for: attempt)
    }
  }

  /// Authorizes the order, and takes the money at once when that is how the order wants it.
  ///
  /// The shopper's answer is that of the authorization. What becomes of the capture is the merchant's matter: if it
  /// fails, the payment stays authorized and can be captured again; a repeat of this call does so.
  public func pay(
    _ order: Order, with token: EncryptedPaymentToken,
    alongside: @escaping @Sendable (Transaction) throws -> Void = { _ in }
  ) async throws -> Payment {
    await taken(try await authorize(order, with: token, alongside: alongside), order.capture)
  }

  /// Settles what is open by inquiry, and takes the money if it turns out to be held and was to be taken at once.
  ///
  /// A payment that was settled before is not taken here: not every question about it may become a capture.
  public func settle(_ payment: PaymentID, _ mode: CaptureMode) async throws -> Payment {
    let before = try await known(payment)
    let after = try await inquire(payment)
    return before.status.isSettled ? after : await taken(after, mode)
  }

  private func taken(_ payment: Payment, _ mode: CaptureMode) async -> Payment {
    guard mode == .immediate, payment.status == .authorized else { return payment }
    do { return try await capture(payment.id) } catch { return payment }
  }

  private func reserve(_ payment: PaymentID, _ amount: Amount?) async throws -> Attempt {
    do {
      return try await journal.reserveCapture(amount, of: payment)
    } catch let error as JournalError {
      throw GatewayError.operationRefused(error)
    }
  }
}

extension FollowUpRequest {
  init(_ attempt: Attempt) throws(GatewayError) {
    guard let authorization = attempt.authorization else {
      throw .operationRefused(.notPossible(attempt.kind, .authorizing))
    }
    self.init(reference: attempt.reference, authorization: authorization, amount: attempt.amount)
  }
}
