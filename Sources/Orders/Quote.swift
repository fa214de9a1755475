import PlatformAPI
public import TenderPayments
public import TenderSheet

/// A total that was shown, and what it was made of. Written once and never changed: a payment names the quote that the
/// shopper saw, and pays its amount or nothing.
public struct Quote: Sendable, Hashable {
  public let id: QuoteID
  public let basket: BasketID
  public let state: SheetState
  /// Zero while pending.
  public let total: Amount
  public let isPending: Bool
  public let lines: [SummaryItem]
  public let unavailableItems: [String]
  /// False when the sheet was shown an error with it: the shopper could not have paid that.
  public let isPayable: Bool
  public let createdAt: Timestamp
}

extension Quote {
  init(_ priced: Priced, of basket: Basket, id: QuoteID, at now: Timestamp) throws {
    let summary = try priced.summary(basket.document.businessName)
    self.init(
      id: id, basket: basket.id, state: priced.state, total: summary.total.amount,
      isPending: summary.total.kind == .pending, lines: priced.lines, unavailableItems: priced.unavailableItems,
      isPayable: !priced.errors.contains { $0.code == .addressUnserviceable || $0.code == .shippingContactInvalid },
      createdAt: now)
  }

  /// Whether the shopper would see the same.
  func shows(theSameAs other: Quote) -> Bool {
    state == other.state && total == other.total && isPending == other.isPending && lines == other.lines
      && isPayable == other.isPayable
  }
}
