import Acquiring
package import Ledger
import Storage
package import TenderPayments

// The last way to the end of a capture, void or refund: its event never came, the acquirer cannot say what became of it,
// and an operator has found out elsewhere.
extension PaymentGateway {
  /// Ends an open capture, void or refund as an operator has decided.
  ///
  /// The acquirer is asked once more, as recovery asks it, and its answer counts before the operator's.
  ///
  /// - Parameters:
  ///   - resolution: `approved` if the acquirer did it, `failed` if it did not.
  ///   - note: what the decision rests on, for the audit chain.
  /// - Throws: ``GatewayError/answerMayCome(_:)`` as long as the acquirer or recovery may still find out;
  ///   ``GatewayError/operationRefused(_:)`` when it has its answer, now or since this question.
  package func end(
    _ operation: AttemptReference, of payment: PaymentID, as resolution: Resolution, note: String
  ) async throws -> Payment {
    let deadline = newHold()
    let call = inFlight.newCall()
    defer { call.end() }
    let attempt = try await lease(operation, of: payment, call)
    guard let acquirer = routes[attempt.route]?.capabilities else {
      try await journal.release(attempt)
      throw GatewayError.acquirerNotConfigured(attempt.route)
    }
    guard attempt.hasGivenUp(acquirer) else {
      try await journal.release(attempt)
      throw GatewayError.answerMayCome(operation)
    }
    return try await reading(payment) {
      try await resolve(attempt, before: deadline)
      return try await end(try await lease(operation, of: payment, call), resolution, note)
    }
  }

  private func end(_ attempt: Attempt, _ resolution: Resolution, _ note: String) async throws -> Payment {
    do { return try await journal.end(attempt, as: resolution, note: note) } catch let error as JournalError {
      throw GatewayError.operationRefused(error)
    }
  }

  private func lease(
    _ operation: AttemptReference, of payment: PaymentID, _ call: CallInFlight
  ) async throws -> Attempt {
    do {
      return try await database.write { store in
        let others = inFlight.references().subtracting(call.noted)
        let attempt = try journal.leaseOpen(operation, of: payment, except: others, in: store)
        call.note(attempt.reference)
        return attempt
      }
    } catch let error as JournalError {
      throw GatewayError.operationRefused(error)
    }
  }
}

extension Attempt {
  /// Whether neither the acquirer nor recovery is expected to find out any more: the settle horizon has passed, and the
  /// acquirer has accepted the operation or would do a repeat as another one.
  fileprivate func hasGivenUp(_ acquirer: AcquirerCapabilities) -> Bool {
    guard past?.state == .pending else { return isSilent(acquirer) && !mayRepeat(acquirer) }
    return past.map { $0.leasedAt >= $0.sentAt.adding(acquirer.settleHorizon) } ?? false
  }
}
