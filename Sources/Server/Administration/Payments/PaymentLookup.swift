import Foundation
package import Ledger
import Orders
import Storage
package import TenderPayments

/// What `tender payment list` asks for: conditions on payments, and the merchant's reference of their order.
package struct PaymentLookup: Codable, Sendable {
  package var payment: PaymentID?
  package var order: OrderID?
  package var basket: BasketID?
  package var reference: String?
  /// The shopper's, without regard to case.
  package var email: String?
  /// Minor units, beside the currency.
  package var amount: Int64?
  /// ISO 4217.
  package var currency: String?
  package var merchant: MerchantID?
  package var status: PaymentStatus?
  package var from: Timestamp?
  package var until: Timestamp?
  package var alarmed = false
  package var limit = 50

  package init() {}

  /// Everything that `name` may be: a payment, an order, a basket or the merchant's reference of an order.
  package static func named(_ name: String) -> [PaymentLookup] {
    var lookups = [PaymentLookup](repeating: PaymentLookup(), count: 4)
    lookups[0].payment = PaymentID(name)
    lookups[1].order = OrderID(name)
    lookups[2].basket = BasketID(name)
    lookups[3].reference = name
    return lookups
  }

  /// The payments that fit, newest first, without their operations.
  func find(in store: Transaction) throws -> [PaymentReport] {
    var found: [FoundPayment] = []
    for one in try searches(in: store) where found.count < search.limit { found += try one.find(in: store) }
    return try found.prefix(search.limit).map { found in
      PaymentReport(
        found.payment, reference: try MerchantReferences.reference(of: found.payment.order, in: store),
        alarm: found.alarm)
    }
  }

  /// How many orders of a reference or an e-mail address are looked at, the newest ones: other conditions may leave few.
  private static let mostOrders = 500

  private func orders(of merchants: [MerchantID]?, in store: Transaction) throws -> [OrderID]? {
    if let email {
      return try OrderContacts.orders(ofEmail: email, of: merchants, limit: Self.mostOrders, in: store)
    }
    return try reference.map {
      try MerchantReferences.orders(with: $0, of: merchants, limit: Self.mostOrders, in: store)
    }
  }

  /// One search, or one for each order with the reference or the e-mail address.
  private func searches(in store: Transaction) throws -> [PaymentSearch] {
    guard let orders = try orders(of: merchant.map { [$0] }, in: store) else { return [search] }
    return orders.map { order in
      var search = search
      search.subject = .order(order)
      return search
    }
  }

  private var search: PaymentSearch {
    var search = PaymentSearch(
      payment.map(PaymentSearch.Subject.payment) ?? order.map(PaymentSearch.Subject.order)
        ?? basket.map(PaymentSearch.Subject.basket))
    (search.merchant, search.status, search.from, search.until) = (merchant, status, from, until)
    (search.isAlarmed, search.limit) = (alarmed, min(500, max(1, limit)))
    search.amount = amount.flatMap { units in
      currency.flatMap(Currency.init(code:)).map { Amount(minorUnits: units, currency: $0) }
    }
    return search
  }
}

extension PaymentAdministration {
  package static func list(_ journal: Journal, _ lookup: PaymentLookup) async throws -> PaymentListing {
    PaymentListing(payments: try await journal.database.read { try lookup.find(in: $0) })
  }

  /// The payments that `name` may mean, each with its operations.
  package static func find(_ journal: Journal, _ name: String) async throws -> PaymentListing {
    for lookup in PaymentLookup.named(name) {
      let found = try await list(journal, lookup).payments
      guard !found.isEmpty else { continue }
      var reports: [PaymentReport] = []
      for report in found {
        reports.append(report.with(try await journal.operations(of: report.id), try await journal.trace(of: report.id)))
      }
      return PaymentListing(payments: reports)
    }
    return PaymentListing(payments: [])
  }

  package func list(_ lookup: PaymentLookup) async throws -> PaymentListing { try await Self.list(journal, lookup) }

  package func find(_ name: String) async throws -> PaymentListing { try await Self.find(journal, name) }
}
