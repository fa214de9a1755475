package import Storage
package import TenderPayments

/// How many payments of a kind there were in some days, for charts. ``FigureCounting`` counts them.
package struct PaymentFigure: Sendable, Hashable {
  static let everyMerchant = "*"

  /// What tells the figures of a chart apart, beside the status.
  package enum Group: String, Sendable, CaseIterable {
    case day, currency, network, route, reason

    /// The column of `figures_by_day`.
    fileprivate var column: String {
      switch self {
      case .day, .currency: rawValue
      case .network, .route, .reason: "name"
      }
    }

    /// The rows that add up to it.
    fileprivate var kind: String { self == .currency ? "day" : rawValue }
  }

  /// What names the group: a day since 1970 in UTC, `EUR`, `visa`, a route, why a payment was declined.
  package let name: String
  package let status: PaymentStatus
  package let count: Int64
  /// Minor units.
  package let amount: Int64
  package let refunded: Int64
  /// How long the authorizations took together, of those that have an answer.
  package let latency: Duration
  /// How many those are.
  package let answered: Int64

  fileprivate init(_ row: Row) throws {
    name = try row.text("name")
    status = try row.value("status")
    count = try row.integer("payments")
    amount = try row.integer("amount")
    refunded = try row.integer("refunded")
    latency = .microseconds(try row.integer("latency"))
    answered = try row.integer("answered")
  }
}

/// Whose payments of which days are asked for.
package struct FigureRange: Sendable, Hashable {
  /// Since 1970, in UTC.
  package let days: ClosedRange<Int64>
  /// Nil for every merchant's.
  package let merchants: [MerchantID]?
  /// ISO 4217; nil for all.
  package var currency: String?

  package init(_ days: ClosedRange<Int64>, of merchants: [MerchantID]?) {
    (self.days, self.merchants) = (days, merchants)
  }

  /// By the group and the status, in the order of names.
  package func figures(by group: PaymentFigure.Group, in store: Transaction) throws -> [PaymentFigure] {
    let names = merchants?.map(\.rawValue) ?? [PaymentFigure.everyMerchant]
    // PostgreSQL has no empty list.
    guard !names.isEmpty else { return [] }
    let places = names.indices.map { "$\($0 + 5)" }.joined(separator: ", ")
    return try store.rows(
      """
      SELECT CAST(\(group.column) AS TEXT) AS name, status,
        \(sumColumns.map { "\(SQLSum.of($0)) AS \($0)" }.joined(separator: ", "))
      FROM figures_by_day
      WHERE merchant IN (\(places)) AND kind = $4 AND day >= $1 AND day <= $2 AND (currency = $3 OR $3 IS NULL)
        AND payments > 0
      GROUP BY \(group.column), status ORDER BY \(group.column), status
      """,
      [
        .integer(days.lowerBound), .integer(days.upperBound), .text(optional: currency), .text(group.kind),
      ] + names.map { .text($0) }
    ).map(PaymentFigure.init)
  }

  /// False as long as payments of these days were not counted yet.
  package func isCounted(in store: Transaction) throws -> Bool {
    guard let from = try FigureCounting.countedFrom(in: store) else { return false }
    return from.isEmpty || from <= PaymentFilter.prefix(of: Timestamp(seconds: days.lowerBound * 86_400)).prefix(7)
  }
}
