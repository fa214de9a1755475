import DirectWire
package import TenderSheet

/// What the shopper gets to keep of an order, beside its amount.
package struct OrderReceipt: Sendable, Hashable {
  /// What the amount is made of, as the sheet showed it.
  package let lines: [SummaryItem]
  /// Whether the amount is what is held, because the sheet showed a pending total.
  package let isEstimate: Bool
  /// `dispatch`, `arrival` and `collection`: each a day or a moment, as the basket has it.
  package let expectedDates: [String: String]
  /// The order's page in the merchant's shop.
  package let orderURL: String?

  /// - Parameter quote: the one that the order was placed with.
  init(_ quote: Quote, _ document: BasketDocument) {
    (lines, isEstimate) = (quote.lines, quote.isPending)
    orderURL = document.orderURL
    let dates = document.expectedDates(for: quote.state)
    expectedDates = ["dispatch": dates.dispatch, "arrival": dates.arrival, "collection": dates.collection]
      .compactMapValues { $0 }
  }
}

extension BasketDocument {
  /// The dates of the chosen shipping method, and those of the whole basket that it does not name. What is brought is
  /// not collected, and what is collected is not brought.
  func expectedDates(for state: SheetState) -> ExpectedDates {
    let method = shippingMethods.first { $0.identifier == state.shippingMethod }
    guard state.service.needsAddress else {
      return ExpectedDates(collection: expectedDates?.collection)
    }
    var dates = (method?.expectedDates ?? ExpectedDates()).completed(with: expectedDates)
    dates.collection = nil
    return dates
  }
}
