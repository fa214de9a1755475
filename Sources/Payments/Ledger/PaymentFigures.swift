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

  /// What names the group: a day since 1970 in UTC, `EUR`, `visa`, a route, why a payment was declined, a stretch.
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

  /// - Parameter column: of the name.
  fileprivate init(_ row: Row, named column: String = "name") throws {
    name = try row.text(column)
    status = try row.value("status")
    count = try row.integer("payments")
    amount = try row.integer("amount")
    refunded = try row.integer("refunded")
    latency = .microseconds(try row.integer("latency"))
    answered = try row.integer("answered")
  }

  /// The sum of figures of one name and status.
  fileprivate init(_ first: PaymentFigure, and others: some Sequence<PaymentFigure>) {
    func sum(_ value: (PaymentFigure) -> Int64) -> Int64 { others.reduce(value(first)) { $0.addingClamped(value($1)) } }
    (name, status) = (first.name, first.status)
    (count, amount, refunded) = (sum(\.count), sum(\.amount), sum(\.refunded))
    (latency, answered) = (.microseconds(sum(\.latency.microseconds)), sum(\.answered))
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
    ).map { try PaymentFigure($0) }
  }

  /// False as long as payments of these days were not counted yet.
  package func isCounted(in store: Transaction) throws -> Bool {
    guard let from = try FigureCounting.countedFrom(in: store) else { return false }
    return from.isEmpty || from <= PaymentFilter.prefix(of: Timestamp(seconds: days.lowerBound * 86_400)).prefix(7)
  }
}

/// Some hours, of whose payments of one currency the figures are asked for. It begins and ends where a stretch does: within
/// 17 minutes.
package struct FigureSpan: Sendable, Hashable {
  package enum Group: String, Sendable, CaseIterable { case network, route, reason }

  package let times: Range<Timestamp>
  /// Nil for every merchant's.
  package let merchants: [MerchantID]?
  /// ISO 4217.
  package let currency: String

  package init(_ times: Range<Timestamp>, of merchants: [MerchantID]?, _ currency: String) {
    (self.times, self.merchants, self.currency) = (times, merchants, currency)
  }

  /// By the stretch and the status, the first stretch first.
  package func figures(in store: Transaction) throws -> [PaymentFigure] {
    try rows(by: ["stretch"], in: store).map { try PaymentFigure($0, named: "stretch") }
  }

  /// By network, route or reason, and the status, in the order of names. The table is read once for all three.
  package func groups(in store: Transaction) throws -> [Group: [PaymentFigure]] {
    let rows = try rows(by: Group.allCases.map(\.rawValue), in: store)
    return try Group.allCases.reduce(into: [:]) { groups, group in
      let figures = try rows.map { try PaymentFigure($0, named: group.rawValue) }
      let same = Dictionary(grouping: figures) { [$0.name, $0.status.rawValue] }
      groups[group] = same.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map {
        PaymentFigure($0.value[0], and: $0.value.dropFirst())
      }
    }
  }

  private func rows(by columns: [String], in store: Transaction) throws -> [Row] {
    let (merchants, names) = (MerchantCondition(merchants, after: 3), (columns + ["status"]).joined(separator: ", "))
    return try store.rows(
      """
      SELECT \(names), \(sumColumns.map { "\(SQLSum.of($0)) AS \($0)" }.joined(separator: ", "))
      FROM figures_by_stretch
      WHERE stretch >= $1 AND stretch < $2 AND currency = $3 AND \(merchants.sql)
      GROUP BY \(names) ORDER BY \(names)
      """,
      [
        .text(Self.stretch(of: times.lowerBound)), .text(Self.stretch(of: times.upperBound)), .text(currency),
      ] + merchants.values)
  }

  /// False as long as payments of this time were not counted yet.
  package func isCounted(in store: Transaction) throws -> Bool {
    guard let from = try FigureCounting.countedFrom(in: store) else { return false }
    return from.isEmpty || from <= Self.stretch(of: times.lowerBound)
  }

  private static func stretch(of time: Timestamp) -> String { String(PaymentFilter.prefix(of: time).prefix(7)) }
}

extension PaymentFigure {
  /// When the stretch began that names it.
  package var stretchBegin: Timestamp {
    Timestamp(microseconds: (Int64(name, radix: 16) ?? 0).multipliedClamped(by: 1 << 20).multipliedClamped(by: 1_000))
  }
}

/// How long a route took for each kind of operation, of the newest payments.
package struct AnswerTimes: Sendable {
  package let kind: OperationKind
  /// The shortest first.
  package let times: [Duration]

  /// How many payments have their operations looked at.
  package static let reach = 1_000

  /// The time that a share of the operations stayed within.
  ///
  /// - Parameter percent: from 1 to 100.
  package func percentile(_ percent: Int) -> Duration {
    let place = (times.count * percent + 99) / 100 - 1
    return times.indices.contains(place) ? times[place] : .zero
  }

  package static func newest(of merchants: [MerchantID]?, in store: Transaction) throws -> [AnswerTimes] {
    let each: [[MerchantID]?] = merchants?.map { [$0] } ?? [nil]
    var times: [OperationKind: [Duration]] = [:]
    for one in each {
      let merchant = MerchantCondition(one)
      let rows = try store.rows(
        """
        SELECT kind, answered_at - sent_at AS took FROM operations
        WHERE answered_at IS NOT NULL AND cause <> 'provider' AND payment IN (
          SELECT id FROM payments WHERE \(merchant.sql) ORDER BY id DESC LIMIT \(reach / each.count + 1))
        """, merchant.values)
      for row in rows {
        let kind: OperationKind = try row.value("kind")
        times[kind, default: []].append(.microseconds(try row.integer("took")))
      }
    }
    return OperationKind.allCases.compactMap { kind in
      times[kind].map { AnswerTimes(kind: kind, times: $0.sorted()) }
    }
  }
}
