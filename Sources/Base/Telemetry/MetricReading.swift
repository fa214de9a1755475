import TenderPayments

/// The values of a metric at one moment, for every format.
package struct MetricReading: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable {
    case counter, gauge, histogram
  }

  package enum Value: Sendable, Hashable {
    case whole(Int64)
    /// Shown in seconds.
    case time(microseconds: Int64)
    /// How many took at most as long as each of ``MetricReading/bounds``, how many there are, and how long all took.
    case times(atMost: [Int64], count: Int64, microseconds: Int64)
  }

  package struct Series: Sendable, Hashable {
    package let labels: [String: String]
    package let value: Value

    package init(_ labels: [String: String], _ value: Value) { (self.labels, self.value) = (labels, value) }
  }

  /// The bounds of every histogram.
  package static let bounds: [(microseconds: Int64, text: String)] = [
    (1_000, "0.001"), (5_000, "0.005"), (10_000, "0.01"), (25_000, "0.025"), (50_000, "0.05"), (100_000, "0.1"),
    (250_000, "0.25"), (500_000, "0.5"), (1_000_000, "1"), (5_000_000, "5"), (10_000_000, "10"), (30_000_000, "30"),
  ]

  package let name: String
  package let help: String
  package let kind: Kind
  package let series: [Series]

  package init(_ name: String, _ help: String, _ kind: Kind, _ series: [Series]) {
    (self.name, self.help, self.kind, self.series) = (name, help, kind, series)
  }
}

// The Prometheus text exposition format, version 0.0.4.
extension MetricReading {
  package var prometheusText: String {
    let ordered = series.map { (Self.text($0.labels), $0) }.sorted { $0.0 < $1.0 }
    return "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n" + ordered.map { lines(of: $1) }.joined()
  }

  private func lines(of series: Series) -> String {
    samples(of: series).map { "\(name)\($0.suffix)\(Self.text($0.labels)) \($0.number)\n" }.joined()
  }

  /// The numbers of a series: one, or those of a histogram.
  func samples(of series: Series) -> [(suffix: String, labels: [String: String], number: String)] {
    switch series.value {
    case .whole(let number): return [("", series.labels, "\(number)")]
    case .time(let microseconds): return [("", series.labels, Self.seconds(microseconds))]
    case .times(let counts, let count, let microseconds):
      let bounds = Self.bounds.map(\.text) + ["+Inf"]
      return zip(bounds, counts + [count]).map { ("_bucket", series.labels.merging(["le": $0]) { $1 }, "\($1)") }
        + [("_sum", series.labels, Self.seconds(microseconds)), ("_count", series.labels, "\(count)")]
    }
  }

  static func seconds(_ microseconds: Int64) -> String { "\(Double(microseconds) / 1_000_000)" }

  private static func text(_ labels: [String: String]) -> String {
    guard !labels.isEmpty else { return "" }
    let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value.escaped(escapes))\"" }
    return "{\(pairs.joined(separator: ","))}"
  }

  private static let escapes: Escapes = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]
}
