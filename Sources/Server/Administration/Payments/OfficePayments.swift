import Gateway
package import Ledger
package import TenderPayments

// For the pages, which note each attempt in the office's audit chain themselves.
extension PaymentAdministration {
  /// A second click, or another operator at the same moment, waits so often for the answer of the first call.
  private static let repeats = 20

  /// Does what the form of a payment asks for.
  ///
  /// - Parameters:
  ///   - amount: in the payment's currency, as `10.00`; nil for all that is left.
  ///   - key: of the form, under which a capture, void or refund is done once, however often it is asked for.
  ///   - addition: what the commit that reserves a capture, void or refund holds beside it. What it throws is thrown here,
  ///     and nothing is reserved. A repeat under the key, which reserves nothing, does without it.
  /// - Returns: what came of it, such as `refund of 5.00 EUR: approved`.
  /// - Throws: ``OfficeRefusal``
  package func perform(
    _ operation: Operation, on payment: PaymentID, amount: String?, isFinal: Bool = false, formKey key: String,
    adding addition: ReservationAddition? = nil
  ) async throws -> String {
    func once() async throws -> String {
      try await perform(operation, on: payment, amount: amount, isFinal: isFinal, key: key, adding: addition).outcome
    }
    return try await OfficeRefusal.translating { () async throws -> String in
      for _ in 0..<Self.repeats {
        do { return try await once() } catch GatewayError.callInProgress {
          try await Task.sleep(for: .milliseconds(200))
        } catch let problem as Problem where problem.code == "idempotency_key_reused" {
          var refusal = OfficeRefusal.refused(
            "This form was sent before, with another amount. Look at what was done, and send it again if you mean more.",
            at: "amount")
          refusal.isKeySpent = true
          throw refusal
        }
      }
      return try await once()
    }
  }
}
