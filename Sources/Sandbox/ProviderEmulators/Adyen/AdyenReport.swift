import HTTPServing
import Storage
import TenderPayments

// The payment accounting report: a line for every change of a payment's state.
extension AdyenStore {
  func book(
    _ type: String, _ value: Int64, on payment: AdyenPayment, by modification: AdyenModification? = nil,
    in transaction: Transaction
  ) throws {
    try transaction.run(
      """
      INSERT INTO bookings (sequence, payment, modification, record_type, amount, modification_reference, booked_at)
      VALUES ((SELECT COALESCE(MAX(sequence), 0) + 1 FROM bookings), $1, $2, $3, $4, $5, $6)
      """, .text(payment.pspReference), .text(optional: modification?.pspReference), .text(type), .integer(value),
      .text(optional: modification?.reference), .time(transaction.now))
  }

  /// CSV with Adyen's column names, oldest line first.
  func report(of account: String) async throws -> String {
    let lines = try await database.read { transaction in
      try transaction.rows(
        """
        SELECT bookings.*, payments.reference, payments.brand, payments.currency FROM bookings
        JOIN payments ON payments.psp_reference = bookings.payment
        WHERE payments.account = $1 ORDER BY sequence
        """, .text(account)
      ).map { try Self.line($0, account) }
    }
    return ([Self.columns.joined(separator: ",")] + lines).map { $0 + "\n" }.joined()
  }

  private static let columns = [
    "Company Account", "Merchant Account", "Psp Reference", "Merchant Reference", "Payment Method", "Booking Date",
    "TimeZone", "Main Currency", "Main Amount", "Record Type", "Modification Psp Reference",
    "Modification Merchant Reference",
  ]

  private static func line(_ row: Row, _ account: String) throws -> String {
    let currency = try row.text("currency")
    let amount = AdyenAmount(value: try row.integer("amount"), currency: currency)
    return [
      "TenderSandbox", account, try row.text("payment"), try row.text("reference"), try row.text("brand"),
      String(try row.time("booked_at").description.dropLast()).replacing("T", with: " "), "UTC", currency,
      amount?.decimalString ?? "", try row.text("record_type"), try row.textOrNil("modification") ?? "",
      try row.textOrNil("modification_reference") ?? "",
    ].map(CSV.field).joined(separator: ",")
  }
}
