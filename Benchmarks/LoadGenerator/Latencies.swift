/// Times from the moment at which a call was due to the last byte of its answer, in microseconds. All are kept, so that
/// a percentile is a measured value and no estimate.
package struct Latencies: Sendable {
  /// From the shortest to the longest.
  package let microseconds: [Int64]

  package init(_ microseconds: [Int64]) { self.microseconds = microseconds.sorted() }

  package var count: Int { microseconds.count }

  /// The smallest time that at least this share of the calls did not exceed (nearest rank), in milliseconds; nil when
  /// there were none.
  package func percentile(_ share: Double) -> Double? {
    guard !microseconds.isEmpty else { return nil }
    let rank = Int((share * Double(microseconds.count)).rounded(.up))
    return Double(microseconds[min(max(rank, 1), microseconds.count) - 1]) / 1_000
  }
}
