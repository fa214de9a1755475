import DirectWire
import Ledger
package import Storage
package import TenderPayments
package import TenderSheet

/// How a basket is paid on the platform's own page.
package struct HostedPageTerms: Sendable, Hashable {
  package let expiresAt: Timestamp
  /// How often it may be tried to be paid.
  package let attempts: Int64

  package init(expiresAt: Timestamp, attempts: Int64) {
    self.expiresAt = expiresAt
    self.attempts = attempts
  }
}

/// A basket as a page of the platform shows it, seen at one moment.
package struct HostedBasket: Sendable, Hashable {
  package let basket: Basket
  package let lines: [SummaryItem]
  package let total: Amount
  package let isCancelled: Bool
  package let expiresAt: Timestamp
  /// Nil for any number.
  package let attemptsAllowed: Int64?
  package let attemptsUsed: Int64
  /// The live payment, or the latest.
  package let payment: Payment?
}

extension OrderService {
  /// The basket for a page of the platform. It asks no acquirer, so that the page is there at once.
  package func hostedBasket(_ id: BasketID, of merchant: MerchantID) async throws -> HostedBasket {
    let (snapshot, attempts) = try await database.read { store in
      (try BasketSnapshot(id, of: merchant, in: store), try Journal.attempts(for: id, in: store))
    }
    let record = snapshot.record
    let priced = try quotes.open(record.basket, record.opening)
    let summary = try priced.summary(of: record.basket)
    return HostedBasket(
      basket: record.basket, lines: priced.lines, total: summary.total.amount, isCancelled: record.isCancelled,
      expiresAt: record.expiresAt, attemptsAllowed: record.attemptsAllowed, attemptsUsed: attempts,
      payment: snapshot.payment)
  }
}

extension OrderService {
  /// Whether an order was made of a basket: such a basket is kept as long as its payments. No order is made of it until
  /// the transaction ends.
  package static func isOrdered(_ basket: BasketID, in store: Transaction) throws -> Bool {
    try BasketRecord.lock(basket, in: store)
    return try OrderRecord.find(of: basket, in: store) != nil
  }

  /// Deletes a basket of which no order was made, with its quotes.
  package static func forget(_ basket: BasketID, in store: Transaction) throws {
    try store.run("DELETE FROM quotes WHERE basket = $1", .text(basket.rawValue))
    try store.run("DELETE FROM baskets WHERE id = $1", .text(basket.rawValue))
  }
}
