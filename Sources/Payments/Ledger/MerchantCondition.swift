package import Storage
package import TenderPayments

/// The part of a WHERE by which only rows of some merchants count, before the rows are limited in number.
package struct MerchantCondition: Sendable {
  package let sql: String
  package let values: [SQLValue]

  /// - Parameters:
  ///   - merchants: nil for all.
  ///   - count: how many values the statement has before these.
  package init(_ merchants: [MerchantID]?, after count: Int = 0) {
    values = merchants?.map { .text($0.rawValue) } ?? []
    guard let merchants else {
      sql = "1 = 1"
      return
    }
    let places = merchants.indices.map { "$\(count + $0 + 1)" }.joined(separator: ", ")
    // PostgreSQL has no empty list.
    sql = merchants.isEmpty ? "1 = 0" : "merchant IN (\(places))"
  }
}
