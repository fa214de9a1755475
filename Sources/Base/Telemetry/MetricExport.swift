import StrictJSON
package import TenderPayments

/// Sends metrics to a collector by OTLP. Each request has the whole of every count, so one that is lost costs nothing.
package struct MetricExport: Sendable {
  private let collector: Collector
  private let clock: WallClock
  private let start: Timestamp

  package init(to collector: Collector, clock: WallClock) {
    (self.collector, self.clock, start) = (collector, clock, clock.machine())
  }

  /// - Returns: whether the collector has them.
  package func send(_ metrics: [MetricReading]) async -> Bool {
    await collector.post(
      "/v1/metrics", OTLP.metrics(metrics, of: collector.resource, since: start, at: clock.machine())) == .taken
  }
}

extension OTLP {
  /// The body of `POST /v1/metrics`. Counts are cumulative since the start of the process.
  static func metrics(
    _ metrics: [MetricReading], of resource: [(name: String, value: String)], since start: Timestamp, at now: Timestamp
  ) -> JSONValue {
    let times: [(String, JSONValue)] = [
      ("startTimeUnixNano", .string(nanoseconds(start))), ("timeUnixNano", .string(nanoseconds(now))),
    ]
    return [
      "resourceMetrics": [
        [
          "resource": self.resource(resource),
          "scopeMetrics": [
            [
              "scope": ["name": "tender"],
              "metrics": .array(metrics.filter { !$0.series.isEmpty }.map { metric($0, times) }),
            ]
          ],
        ]
      ]
    ]
  }

  private static func metric(_ metric: MetricReading, _ times: [(String, JSONValue)]) -> JSONValue {
    let points = JSONValue.array(metric.series.map { point($0, times) })
    var written: JSONObject = ["name": .string(metric.name), "description": .string(metric.help)]
    if metric.name.hasSuffix("_seconds") { written["unit"] = "s" }
    switch metric.kind {
    case .counter: written["sum"] = ["dataPoints": points, "aggregationTemporality": 2, "isMonotonic": true]
    case .gauge: written["gauge"] = ["dataPoints": points]
    case .histogram: written["histogram"] = ["dataPoints": points, "aggregationTemporality": 2]
    }
    return .object(written)
  }

  private static func point(_ series: MetricReading.Series, _ times: [(String, JSONValue)]) -> JSONValue {
    let labels = series.labels.sorted { $0.key < $1.key }
    var point: JSONObject = ["attributes": .array(labels.map { attribute($0.key, .text($0.value)) })]
    for (key, value) in times { point[key] = value }
    switch series.value {
    case .whole(let number): point["asInt"] = .string("\(number)")
    case .time(let microseconds): point["asDouble"] = .number(MetricReading.seconds(microseconds))
    case .times(let atMost, let count, let microseconds):
      point["count"] = .string("\(count)")
      point["sum"] = .number(MetricReading.seconds(microseconds))
      // Each bucket alone, where a reading has all up to its bound.
      let counts = zip(atMost + [count], [0] + atMost).map { .string("\($0.subtractingClamped($1))") as JSONValue }
      point["bucketCounts"] = .array(counts)
      point["explicitBounds"] = .array(MetricReading.bounds.map { .number($0.text) })
    }
    return .object(point)
  }
}
