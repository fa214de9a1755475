package import Ledger
import Orders
package import Storage
package import TenderPayments

/// The query of `GET /v2/{merchantId}/payments`.
package struct PaymentQuery: Sendable {
  private static let known: Set = [
    "merchantReference", "orderId", "paymentId", "status", "amount", "currencyCode", "from", "until", "limit", "cursor",
  ]
  /// How many orders of one reference are looked at.
  private static let orders = 500

  private var list: MerchantPayments
  private let reference: String?

  /// - Throws: ``QueryRefused``
  package init(_ values: [(name: String, value: String)], of merchant: MerchantID) throws {
    let query = try QueryParameters(values, known: Self.known)
    list = MerchantPayments(of: merchant)
    reference = query.text("merchantReference")
    list.order = query.text("orderId").map { OrderID($0) }
    list.payment = query.text("paymentId").map { PaymentID(String($0.prefix { $0 != "_" })) }
    list.status = try query.read("status", "one of our statuses, such as captured") { PaymentStatus(rawValue: $0) }
    list.amount = try query.read("amount", "whole minor units") { Int64($0) }
    list.currency = try query.read("currencyCode", "a currency of ISO 4217") { Currency(code: $0) }
    (list.from, list.until) = (try query.time("from"), try query.time("until"))
    list.before = try query.read("cursor", "the page before gave it", Self.payment)
    list.limit = try query.limit()
  }

  package func page(in store: Transaction) throws -> MerchantPayments.Page {
    guard let reference else { return try list.page(in: store) }
    let orders = try MerchantReferences.orders(with: reference, of: [list.merchant], limit: Self.orders, in: store)
    let found = try orders.filter { list.order == nil || list.order == $0 }.flatMap { order in
      var one = list
      one.order = order
      return try one.page(in: store).payments
    }.sorted { $0.id.rawValue > $1.id.rawValue }
    let limit = Int(list.limit)
    return MerchantPayments.Page(
      payments: Array(found.prefix(limit)), next: found.count > limit ? found[limit - 1].id : nil)
  }

  /// Opaque to callers.
  package static func cursor(_ payment: PaymentID) -> String { Base64URL.encode(Array(payment.rawValue.utf8)) }

  /// Nil for what no payment is called: anything but 1 to 64 letters, digits and hyphens.
  private static func payment(_ cursor: String) -> PaymentID? {
    guard let bytes = Base64URL.decode(cursor), (1...64).contains(bytes.count),
      bytes.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D })
    else { return nil }
    return PaymentID(String(decoding: bytes, as: UTF8.self))
  }
}
