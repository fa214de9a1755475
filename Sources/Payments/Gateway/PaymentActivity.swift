import Ledger
import Telemetry
import TenderPayments

extension Activity {
  /// What became of a payment. An outcome that is open or failed is worth a look.
  func note(_ payment: Payment) {
    note(.payment(payment.id), .merchant(payment.merchant), .outcome(payment.status))
    switch payment.status {
    case .failed, .unknown: fail()
    case .authorizing, .pending, .authorized, .partiallyCaptured, .captured, .partiallyRefunded, .refunded, .verified,
      .voided, .declined:
      break
    }
  }

  /// Leads back to the span in which the payment was made. What is not traced asks for nothing.
  func lead(to payment: PaymentID, in journal: Journal) async {
    guard context != nil else { return }
    link(to: (try? await journal.trace(of: payment)) ?? nil)
  }
}
