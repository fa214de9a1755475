package import Storage
package import TenderPayments

/// How many payments of a kind there were in a stretch of time, for charts.
package struct PaymentFigure: Sendable, Hashable {
  /// Days since 1970, in UTC.
  package let day: Int64
  package let merchant: MerchantID
  package let route: String
  /// Lower case, as the card's name begins; `other` where the card has none.
  package let network: String
  /// ISO 4217.
  package let currency: String
  package let status: PaymentStatus
  /// Nil unless declined.
  package let reason: String?
  package let count: Int64
  /// Minor units of `currency`.
  package let amount: Int64
  package let refunded: Int64
  /// How long the authorizations took together, of those that have an answer.
  package let latency: Duration
  /// How many those are.
  package let answered: Int64

  /// - Parameter merchants: nil for every merchant's.
  package static func all(
    from start: Timestamp, until end: Timestamp, merchants: [MerchantID]?, in store: Transaction
  ) throws -> [PaymentFigure] {
    let places = (merchants ?? []).indices.map { "$\($0 + 3)" }.joined(separator: ", ")
    // PostgreSQL has no empty list.
    let condition = merchants.map { $0.isEmpty ? "AND 1 = 0" : "AND payments.merchant IN (\(places))" } ?? ""
    return try store.rows(
      """
      SELECT payments.created_at / 86400000000 AS day, payments.merchant AS merchant, payments.route AS route,
        MIN(LOWER(COALESCE(payments.card_name, 'other'))) AS card, payments.currency AS currency,
        payments.status AS status, payments.decline_reason AS reason, COUNT(*) AS payments,
        CAST(SUM(payments.amount) AS BIGINT) AS amount, CAST(SUM(payments.refunded) AS BIGINT) AS refunded,
        CAST(COALESCE(SUM(first.answered_at - first.sent_at), 0) AS BIGINT) AS latency,
        COUNT(first.answered_at) AS answered
      FROM payments LEFT JOIN operations AS first ON first.payment = payments.id AND first.number = 0
      WHERE payments.id >= $1 AND payments.id < $2 \(condition)
      GROUP BY 1, 2, 3, \(Self.network), 5, 6, 7 ORDER BY 1
      """,
      [.text(PaymentFilter.prefix(of: start)), .text(PaymentFilter.prefix(of: end))]
        + (merchants ?? []).map { .text($0.rawValue) }
    ).map(PaymentFigure.init)
  }

  /// The beginning of a card's name, which tells the networks apart: `visa`, `mast`, `amex`.
  private static let network = "SUBSTR(LOWER(COALESCE(payments.card_name, 'other')), 1, 4)"

  private init(_ row: Row) throws {
    let card = try row.text("card").split(separator: " ").first { !$0.allSatisfy(\.isNumber) }
    day = try row.integer("day")
    merchant = try row.value("merchant")
    route = try row.text("route")
    network = card.map(String.init) ?? "other"
    currency = try row.text("currency")
    status = try row.value("status")
    reason = try row.textOrNil("reason")
    count = try row.integer("payments")
    amount = try row.integer("amount")
    refunded = try row.integer("refunded")
    latency = .microseconds(try row.integer("latency"))
    answered = try row.integer("answered")
  }
}
