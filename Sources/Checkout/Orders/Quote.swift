import DirectWire
package import TenderPayments
package import TenderSheet

/// A total that was shown, and what it was made of. Written once and never changed: a payment names the quote that the
/// shopper saw, and pays its amount or nothing.
package struct Quote: Sendable, Hashable {
  package let id: QuoteID
  package let basket: BasketID
  package let state: SheetState
  /// Zero while pending.
  package let total: Amount
  package let isPending: Bool
  package let lines: [SummaryItem]
  package let unavailableItems: [String]
  /// False when the sheet was shown an error with it: the shopper could not have paid that.
  package let isPayable: Bool
  package let createdAt: Timestamp
}

extension Quote {
  init(_ priced: Priced, of basket: Basket, id: QuoteID, at now: Timestamp) throws {
    let summary = try priced.summary(of: basket)
    self.init(
      id: id, basket: basket.id, state: priced.state, total: summary.total.amount,
      isPending: summary.total.kind == .pending, lines: priced.lines, unavailableItems: priced.unavailableItems,
      isPayable: priced.isPayable, createdAt: now)
  }

  /// Whether the shopper would see the same.
  func shows(theSameAs other: Quote) -> Bool {
    state == other.state && total == other.total && isPending == other.isPending && lines == other.lines
      && isPayable == other.isPayable
  }
}
