/// Times from the moment at which a call was due to the last byte of its answer, in microseconds. All are kept, so that
/// a percentile is a measured value and no estimate.
package struct Latencies: Sendable {
  private let sorted: [Int64]

  package init(_ microseconds: [Int64]) { sorted = microseconds.sorted() }

  package var count: Int { sorted.count }

  /// The smallest time that at least this share of the calls did not exceed (nearest rank), in milliseconds; nil when
  /// there were none.
  package func percentile(_ share: Double) -> Double? {
    guard !sorted.isEmpty else { return nil }
    let rank = Int((share * Double(sorted.count)).rounded(.up))
    return Double(sorted[min(max(rank, 1), sorted.count) - 1]) / 1_000
  }
}
