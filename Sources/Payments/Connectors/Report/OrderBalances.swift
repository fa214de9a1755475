import Acquiring
package import TenderPayments

// A merchant's own list of what became of its payments, as CSV, where the provider gives no list: balances, because a
// merchant's shop keeps no operations.
extension OrderBalances {
  private static let names = ["payment", "authorized", "captured", "refunded", "currency"]

  /// - Throws: for anything but a whole file with these columns, in any order; others are left alone.
  package static func read(_ bytes: [UInt8]) throws(ReportError) -> [OrderBalances] {
    var table = try ReportTable(bytes[...])
    let missing = names.filter { !table.names.contains($0) }
    guard missing.isEmpty else {
      throw ReportError(
        line: 1, "this is no CSV with the columns of orders; missing: \(missing.joined(separator: ", "))")
    }
    guard Set(table.names).count == table.names.count else { throw ReportError(line: 1, "a column is named twice") }
    var orders: [OrderBalances] = []
    var payments: Set<PaymentID> = []
    while let row = try table.next() {
      try ReportError.require(orders.count < AcquirerReport.mostLines, AcquirerReport.mostLines, at: row.line)
      let order = try order(Dictionary(uniqueKeysWithValues: zip(table.names, row.fields)), at: row.line)
      // Where a payment has two balances, neither is known to be the right one.
      guard payments.insert(order.payment).inserted else {
        throw ReportError(line: row.line, "payment \(order.payment.rawValue.prefix(60)) is named twice")
      }
      orders.append(order)
    }
    return orders
  }

  private static func order(_ members: [String: String], at line: Int) throws(ReportError) -> OrderBalances {
    func member(_ name: String) throws(ReportError) -> String {
      guard let text = members[name] else { throw ReportError(line: line, "\(name) is missing") }
      return text
    }
    let code = try member("currency")
    guard let currency = Currency(code: code), currency.isMoney else {
      throw ReportError(line: line, "currency", code, mustBe: "a code of ISO 4217, such as EUR")
    }
    func amount(_ name: String) throws(ReportError) -> Amount {
      let text = try member(name)
      guard let units = Int64(text), units >= 0, let amount = Amount(received: units, currency: currency) else {
        throw ReportError(line: line, name, text, mustBe: "a whole number of minor units, such as 1250")
      }
      return amount
    }
    let payment = try member("payment")
    guard payment.utf8.count == 32, Timestamp(ofID: payment) != nil else {
      throw ReportError(
        line: line, "payment", payment, mustBe: "the id that Tender gave the payment, as webhooks name it")
    }
    return OrderBalances(
      payment: PaymentID(payment), authorized: try amount("authorized"), captured: try amount("captured"),
      refunded: try amount("refunded"), name: try members.name("name", at: line))
  }
}
