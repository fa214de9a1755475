import DirectWire
import TenderPayments
package import TenderSheet

/// A basket with prices on it, for one state of the sheet. From the basket's own rules, or from the merchant.
package struct Priced: Sendable, Hashable {
  /// The state as it was understood: a coupon that is no good is gone, a method that is not offered is replaced.
  package let state: SheetState
  /// All lines but the total.
  package let lines: [SummaryItem]
  /// The lines for the sheet, of the same sum: ``lines``, or with one line for the goods.
  package let sheetLines: [SummaryItem]
  /// What is offered, the selected one first, because the sheet selects the first.
  package let shippingMethods: [ShippingMethod]
  /// Ids of items that cannot be had at the destination and are not in the total.
  package let unavailableItems: [String]
  /// For the sheet, the gravest first.
  package let errors: [SheetError]

  package init(
    state: SheetState, lines: [SummaryItem], sheetLines: [SummaryItem]? = nil, shippingMethods: [ShippingMethod] = [],
    unavailableItems: [String] = [],
    errors: [SheetError] = []
  ) {
    self.state = state
    self.lines = lines
    self.sheetLines = sheetLines ?? lines
    self.shippingMethods = shippingMethods
    self.unavailableItems = unavailableItems
    self.errors = errors
  }

  /// False where the sheet is shown an error with it: the shopper cannot pay that.
  var isPayable: Bool {
    !errors.contains { $0.code == .addressUnserviceable || $0.code == .shippingContactInvalid }
  }

  /// The sheet's lines, and under them what is held while one of them is pending: no total says it.
  func shown(of basket: Basket) -> [SummaryItem] {
    guard isPayable, sheetLines.contains(where: { $0.kind == .pending }), let estimate = basket.estimate else {
      return sheetLines
    }
    return sheetLines + [SummaryItem(label: basket.locale.text(.held), amount: estimate)]
  }

  func summary(of basket: Basket) throws -> Summary {
    guard !lines.isEmpty else { throw SheetViolation.emptyLabel }
    let summary = try Summary(
      businessName: basket.document.businessName, lines: shown(of: basket), currency: basket.currency)
    guard Amount.limit.contains(summary.total.amount.minorUnits) else {
      throw OrderError(.basketInvalid, "the total is more than \(Amount.limit.upperBound) minor units", field: "items")
    }
    return summary
  }
}
