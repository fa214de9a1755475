import Administration
import CommandSupport
import Foundation
import HTTPTransport
import TenderPayments
import TenderServer

/// Shows what a command will do, and asks at a terminal.
enum Confirmation {
  /// - Parameter isConfirmed: `--yes`.
  /// - Throws: when the operator says no, or cannot be asked.
  static func require(_ summary: String, isConfirmed: Bool) throws {
    Terminal.sayError(summary)
    guard !isConfirmed else { return }
    guard isatty(STDIN_FILENO) == 1 else {
      throw MistakenCall("nothing was done: standard input is no terminal, so nobody can be asked; repeat with --yes")
    }
    Terminal.sayError("Go on? [y/N]")
    guard ["y", "yes"].contains(readLine()?.lowercased() ?? "") else { throw CallFailure("nothing was done") }
  }
}

/// Shows what a capture, a void or a refund will do, and asks at a terminal.
struct MoneyConfirmation {
  let operation: PaymentAdministration.Operation
  let payment: PaymentReport
  /// As typed; nil for all that is left.
  let amount: String?

  /// - Parameter isConfirmed: `--yes`.
  /// - Throws: when the operator says no, or cannot be asked.
  func require(isConfirmed: Bool) throws { try Confirmation.require(try summary(), isConfirmed: isConfirmed) }

  /// `refund 12.50 EUR, all that is left, of payment …`
  func summary() throws -> String {
    let what =
      try amount.map { "\(try typed($0))" }
      ?? (left > 0 ? "\(payment.money(left)), all that is left," : "all that is left")
    let standing =
      "\(payment.money(payment.authorized)) authorized, \(payment.money(payment.captured)) captured, "
      + "\(payment.money(payment.refunded)) refunded"
    return "\(operation.rawValue) \(what) of payment \(payment.id) of \(payment.merchant): \(standing)"
  }

  private func typed(_ text: String) throws -> Amount {
    guard let currency = Currency(code: payment.currency) else {
      throw MistakenCall("the payment's currency \(payment.currency) is not known here")
    }
    return try currency.amount(typed: text)
  }

  /// Minor units. What is under way at the acquirer may make it less.
  private var left: Int64 {
    operation == .refund
      ? payment.captured.subtractingClamped(payment.refunded).subtractingClamped(payment.chargedBack ?? 0)
      : payment.authorized.subtractingClamped(payment.captured)
  }
}
