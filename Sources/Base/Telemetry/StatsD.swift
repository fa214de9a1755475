/// Metrics as StatsD takes them, with labels as tags. What is counted is sent as its growth since the time before.
package struct StatsD: Sendable {
  /// A datagram that no network divides.
  private static let longest = 1_432

  /// What was sent last, by series.
  private var last: [String: String] = [:]

  package init() {}

  /// The datagrams of a reading, each at most 1,432 bytes.
  package mutating func datagrams(of metrics: [MetricReading]) -> [[UInt8]] {
    var (datagrams, current) = ([[UInt8]](), [UInt8]())
    for line in metrics.flatMap({ lines(of: $0) }) where line.utf8.count <= Self.longest {
      if !current.isEmpty, current.count + 1 + line.utf8.count > Self.longest {
        datagrams.append(current)
        current = []
      }
      if !current.isEmpty { current.append(UInt8(ascii: "\n")) }
      current += Array(line.utf8)
    }
    return current.isEmpty ? datagrams : datagrams + [current]
  }

  private mutating func lines(of metric: MetricReading) -> [String] {
    metric.series.flatMap { series in
      metric.samples(of: series).flatMap { suffix, labels, number in
        lines(metric.name + suffix, Self.tags(labels), number, isCount: metric.kind != .gauge)
      }
    }
  }

  private mutating func lines(_ name: String, _ tags: String, _ number: String, isCount: Bool) -> [String] {
    guard isCount else {
      // A number with a sign changes a gauge by that much, so a negative one begins at 0.
      let value = "\(name):\(number)|g\(tags)"
      return number.hasPrefix("-") ? ["\(name):0|g\(tags)", value] : [value]
    }
    guard let now = Double(number) else { return [] }
    let growth = now - (last.updateValue(number, forKey: name + tags).flatMap(Double.init) ?? 0)
    guard growth > 0 else { return [] }
    return ["\(name):\(Int64(exactly: growth).map { "\($0)" } ?? "\(growth)")|c\(tags)"]
  }

  private static func tags(_ labels: [String: String]) -> String {
    guard !labels.isEmpty else { return "" }
    return "|#" + labels.sorted { $0.key < $1.key }.map { "\($0.key):\(clean($0.value))" }.joined(separator: ",")
  }

  /// Without what divides lines and tags.
  private static func clean(_ text: String) -> String {
    String(text.map { ",|#\n\r ".contains($0) ? "_" : $0 })
  }
}
