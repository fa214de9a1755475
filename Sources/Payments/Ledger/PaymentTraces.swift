import Storage
package import Telemetry
package import TenderPayments

extension PaymentRecord {
  /// The span in which a payment was made, so that what happens to it later leads back there.
  static let traces = Migration("trace-1", "ALTER TABLE payments ADD COLUMN trace TEXT;")
}

extension Journal {
  /// The span in which a payment was made; nil where it was not traced, or is not known.
  package func trace(of payment: PaymentID) async throws -> TraceContext? {
    try await database.read { store in
      try store.row("SELECT trace FROM payments WHERE id = $1", .text(payment.rawValue))?.textOrNil("trace")
        .flatMap { TraceContext(stored: $0) }
    }
  }
}
