/// Sums in SQL that no stored number makes fail.
///
/// Where 64 bits do not hold a sum, SQLite raises an error, and so does PostgreSQL when the sum becomes a BIGINT. One row
/// would then stop every query that adds it up. Here such a sum is ``most``, with its sign.
package enum SQLSum {
  package static let most: Int64 = 9_000_000_000_000_000_000
  /// Values are added up in two parts, of which neither can leave 64 bits before there are a million rows of the largest.
  private static let unit: Int64 = 1_000_000

  /// The sum of a group's values, which are whole numbers; 0 for a group without any.
  package static func of(_ column: String) -> String {
    limited("SUM(\(column) / \(unit))", "SUM(\(column) / \(unit)) * \(unit) + SUM(\(column) % \(unit))")
  }

  /// The sum of two whole numbers.
  package static func of(_ left: String, _ right: String) -> String {
    limited("\(left) / \(unit) + \(right) / \(unit)", "\(left) + \(right)")
  }

  private static func limited(_ units: String, _ sum: String) -> String {
    """
    CAST(COALESCE(CASE WHEN \(units) >= \(most / unit) THEN \(most) WHEN \(units) <= -\(most / unit) THEN -\(most)
      ELSE \(sum) END, 0) AS BIGINT)
    """
  }
}
