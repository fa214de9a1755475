public import TenderPayments

/// One line of the payment sheet; the last line is the total.
public struct SummaryItem: Sendable, Hashable {
  /// Whether the amount is known.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The amount is known.
    case final
    /// Not known yet: the sheet shows a word such as "pending" in the amount's place.
    case pending
  }

  /// What the sheet calls it.
  public let label: String
  /// Negative for discounts. A pending item is not part of any total.
  public let amount: Amount
  /// Whether the amount is known.
  public let kind: Kind

  /// A line of the sheet.
  public init(label: String, amount: Amount, kind: Kind = .final) {
    self.label = label
    self.amount = amount
    self.kind = kind
  }

  /// A line whose amount is not known yet.
  public static func pending(_ label: String, _ currency: Currency) -> SummaryItem {
    SummaryItem(label: label, amount: .zero(currency), kind: .pending)
  }
}

/// The lines of a sheet and the total under them.
public struct Summary: Sendable, Hashable {
  /// The lines without the total.
  public let items: [SummaryItem]
  /// Labelled with the business name as on the statement.
  public let total: SummaryItem

  /// The lines as PassKit lists them: the last is the total.
  public var summaryItems: [SummaryItem] { items + [total] }

  /// Adds the lines up.
  ///
  /// One pending line makes the total pending, and a pending total is zero, which is what the wallet signs. Apple asks for
  /// pending lines of zero. A single line that is final equals the total, and is left out.
  public init(businessName: String, lines: [SummaryItem], currency: Currency) throws(SheetViolation) {
    guard !businessName.isEmpty, lines.allSatisfy({ !$0.label.isEmpty }) else { throw .emptyLabel }
    guard lines.allSatisfy({ $0.amount.currency == currency }) else { throw .mixedCurrencies(currency) }
    for line in lines { _ = try line.amount.sheetText }
    let total = try Self.total(businessName, lines, currency)
    let repeatsTotal = lines.count == 1 && total.kind == .final
    self.items = repeatsTotal ? [] : lines.map { $0.kind == .pending ? .pending($0.label, currency) : $0 }
    self.total = total
  }

  private static func total(
    _ label: String, _ lines: [SummaryItem], _ currency: Currency
  ) throws(SheetViolation) -> SummaryItem {
    guard lines.allSatisfy({ $0.kind == .final }) else { return .pending(label, currency) }
    guard let sum = try? lines.map(\.amount).total(in: currency) else { throw .overflow }
    guard !sum.isNegative else { throw .negativeTotal(sum) }
    return SummaryItem(label: label, amount: sum)
  }
}
