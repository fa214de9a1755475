import Storage
import TenderPayments

/// Payments, their amount, what was refunded, how long their authorizations took, how many of these have an answer.
let sumColumns = ["payments", "amount", "refunded", "latency", "answered"]

/// The payments of one stretch, day and kind.
struct CountedRow: Sendable {
  let stretch: String
  let day: Int64
  let merchant: String
  let currency: String
  let route: String
  let network: String
  let status: String
  /// Empty unless declined.
  let reason: String
  /// In the order of the columns.
  fileprivate let sums: [Int64]

  /// Counts some payments of a stretch.
  ///
  /// - Parameters:
  ///   - first: the id to begin with, or the stretch itself.
  ///   - size: how many payments.
  /// - Returns: their rows, and the id to go on with; nil at the stretch's end.
  static func page(
    of stretch: String, from first: String, size: Int, in store: Transaction
  ) throws -> (rows: [CountedRow], next: String?) {
    let end = end(of: stretch)
    let next = try store.row(
      "SELECT id FROM payments WHERE id >= $1 AND id < $2 ORDER BY id LIMIT 1 OFFSET $3", .text(first), .text(end),
      .integer(Int64(size))
    )?.text("id")
    let rows = try store.rows(selection, .text(first), .text(next ?? end)).map {
      try CountedRow($0, stretch, network: network(of: $0.text("card")))
    }
    return (rows, next)
  }

  /// One row of each kind. Pages have kinds in common, and two beginnings of cards' names may be of one network.
  static func merged(_ rows: [CountedRow]) -> [CountedRow] {
    Dictionary(grouping: rows, by: \.kind).values.map { same in
      CountedRow(same[0], sums: same.dropFirst().reduce(same[0].sums) { zip($0, $1.sums).map { $0.addingClamped($1) } })
    }
  }

  /// As they were written down.
  static func read(_ stretch: String, in store: Transaction) throws -> [CountedRow] {
    try store.rows("SELECT * FROM figures_by_stretch WHERE stretch = $1", .text(stretch)).map {
      try CountedRow($0, stretch, network: $0.text("network"))
    }
  }

  /// The first operation is looked up for each payment: a join is planned without knowing how many payments a stretch has.
  private static let selection = """
    SELECT created_at / 86400000000 AS day, merchant, currency, route,
      MIN(LOWER(COALESCE(card_name, 'other'))) AS card, status, COALESCE(decline_reason, '') AS reason,
      COUNT(*) AS payments, \(SQLSum.of("amount")) AS amount, \(SQLSum.of("refunded")) AS refunded,
      \(SQLSum.of("answered_in")) AS latency, COUNT(answered_in) AS answered
    FROM (SELECT payments.*, (SELECT MIN(answered_at - sent_at) FROM operations
        WHERE operations.payment = payments.id AND operations.number = 0) AS answered_in
      FROM payments WHERE id >= $1 AND id < $2) AS counted
    GROUP BY 1, 2, 3, 4, \(beginning), 6, 7
    """

  /// The beginning of a card's name, which tells the networks apart: `visa`, `mast`, `amex`.
  private static let beginning = "SUBSTR(LOWER(COALESCE(card_name, 'other')), 1, 4)"

  private static func network(of card: String) -> String {
    card.split(separator: " ").first { !$0.allSatisfy(\.isNumber) }.map(String.init) ?? "other"
  }

  /// Comes after every id that begins so, and before all others.
  private static func end(of stretch: String) -> String {
    guard let last = stretch.utf8.last else { return "" }
    return stretch.dropLast() + String(UnicodeScalar(last + 1))
  }

  private var kind: [String] { ["\(day)", merchant, currency, route, network, status, reason] }

  private init(_ row: Row, _ stretch: String, network: String) throws {
    (self.stretch, self.network, day) = (stretch, network, try row.integer("day"))
    (merchant, currency, route) = (try row.text("merchant"), try row.text("currency"), try row.text("route"))
    (status, reason) = (try row.text("status"), try row.text("reason"))
    sums = try sumColumns.map { try row.integer($0) }
  }

  private init(_ row: CountedRow, sums: [Int64]) {
    (stretch, day, merchant, currency) = (row.stretch, row.day, row.merchant, row.currency)
    (route, network, status, reason) = (row.route, row.network, row.status, row.reason)
    self.sums = sums
  }

  func insert(in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO figures_by_stretch (stretch, day, merchant, currency, route, network, status, reason, payments,
        amount, refunded, latency, answered)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      """, .text(stretch), .integer(day), .text(merchant), .text(currency), .text(route), .text(network),
      .text(status), .text(reason), .integer(sums[0]), .integer(sums[1]), .integer(sums[2]), .integer(sums[3]),
      .integer(sums[4]))
  }
}

/// Figures of days, or how they change.
struct DayFigures: Sendable {
  private struct Place: Hashable {
    let merchant: String
    let kind: String
    let day: Int64
    let currency: String
    let name: String
    let status: String
  }

  private var sums: [Place: [Int64]] = [:]

  init(_ rows: [CountedRow]) {
    for row in rows {
      for merchant in [row.merchant, PaymentFigure.everyMerchant] {
        for (kind, name) in [("day", ""), ("network", row.network), ("route", row.route), ("reason", row.reason)] {
          let place = Place(
            merchant: merchant, kind: kind, day: row.day, currency: row.currency, name: name, status: row.status)
          add(row.sums, at: place)
        }
      }
    }
  }

  private mutating func add(_ more: [Int64], at place: Place) {
    sums[place] = sums[place].map { zip($0, more).map { $0.addingClamped($1) } } ?? more
  }

  mutating func add(_ other: DayFigures, times factor: Int64) {
    for (place, more) in other.sums { add(more.map { $0.multipliedClamped(by: factor) }, at: place) }
  }

  private static let additions = sumColumns.map { column in
    "\(column) = \(SQLSum.of("figures_by_day.\(column)", "excluded.\(column)"))"
  }.joined(separator: ", ")

  func write(in store: Transaction) throws {
    for (place, change) in sums where change.contains(where: { $0 != 0 }) {
      try store.run(
        """
        INSERT INTO figures_by_day (merchant, kind, day, currency, name, status, payments, amount, refunded, latency,
          answered)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT (merchant, kind, day, currency, name, status) DO UPDATE SET \(Self.additions)
        """, .text(place.merchant), .text(place.kind), .integer(place.day), .text(place.currency), .text(place.name),
        .text(place.status), .integer(change[0]), .integer(change[1]), .integer(change[2]), .integer(change[3]),
        .integer(change[4]))
    }
  }
}
