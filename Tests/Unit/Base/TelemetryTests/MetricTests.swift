import HTTPTransport
import StrictJSON
import Synchronization
import Telemetry
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Metrics` {
  private static let calls = MetricReading(
    "tender_calls_total", "Calls.", .counter,
    [.init(["route": "/b", "status": "200"], .whole(3)), .init(["route": "/a\"\n", "status": "200"], .whole(1))])
  private static let lead = MetricReading("tender_lead_seconds", "Lead.", .gauge, [.init([:], .whole(-5))])
  private static let times = MetricReading(
    "tender_times_seconds", "Times.", .histogram,
    [.init(["stage": "ask"], .times(atMost: [0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2], count: 3, microseconds: 41_500_000))])

  @Test func `are Prometheus text, in order, with what would end a label escaped`() {
    #expect(
      Self.calls.prometheusText == """
        # HELP tender_calls_total Calls.
        # TYPE tender_calls_total counter
        tender_calls_total{route="/a\\"\\n",status="200"} 1
        tender_calls_total{route="/b",status="200"} 3

        """)
    let text = Self.times.prometheusText
    #expect(text.contains("tender_times_seconds_bucket{le=\"0.025\",stage=\"ask\"} 2\n"))
    #expect(text.contains("tender_times_seconds_bucket{le=\"+Inf\",stage=\"ask\"} 3\n"))
    #expect(text.contains("tender_times_seconds_sum{stage=\"ask\"} 41.5\n"))
    #expect(text.contains("tender_times_seconds_count{stage=\"ask\"} 3\n"))
  }

  @Test func `are OTLP: counts since the start, each bucket alone, and what failed is told`() async throws {
    let clock = ManualClock()
    let bodies = Mutex<[OutboundRequest]>([])
    let status = Mutex(200)
    let sender = HTTPSender { request, _ throws(TransportError) in
      bodies.withLock { $0.append(request) }
      return InboundResponse(status: status.withLock(\.self))
    }
    let export = MetricExport(
      to: Collector("http://collector.example", over: sender, resource: [("service.name", "tender")]), clock: clock.wall
    )
    clock.advance(.seconds(60))
    #expect(await export.send([Self.calls, Self.lead, Self.times]))
    let requests = bodies.withLock { $0 }
    let request = try #require(requests.first)
    #expect(request.url == "http://collector.example/v1/metrics")
    let scope = try JSONReader.read(request.body)["resourceMetrics"]?.elements.first?["scopeMetrics"]?.elements.first
    let metrics = try #require(scope?["metrics"]?.elements)
    #expect(
      metrics.compactMap { $0["name"]?.text } == ["tender_calls_total", "tender_lead_seconds", "tender_times_seconds"])
    let sum = try #require(metrics[0]["sum"])
    #expect(sum["isMonotonic"] == true && sum["aggregationTemporality"] == 2)
    let points = sum["dataPoints"]?.elements ?? []
    #expect(Set(points.compactMap { $0["asInt"]?.text }) == ["1", "3"])
    #expect(points[0]["startTimeUnixNano"] == "1800000000000000000")
    #expect(points[0]["timeUnixNano"] == "1800000060000000000")
    let histogram = try #require(metrics[2]["histogram"]?["dataPoints"]?.elements.first)
    #expect(
      histogram["bucketCounts"]?.elements.compactMap(\.text) == [
        "0", "1", "0", "1", "0", "0", "0", "0", "0", "0", "0", "0", "1",
      ])
    #expect(histogram["explicitBounds"]?.elements.count == 12 && histogram["count"] == "3")
    status.withLock { $0 = 503 }
    #expect(await !export.send([Self.calls]))
  }

  @Test func `are StatsD: the growth of counts, gauges as they are, and no datagram too long`() {
    var statsD = StatsD()
    let first = Self.lines(statsD.datagrams(of: [Self.calls, Self.lead]))
    #expect(
      Set(first) == [
        "tender_calls_total:3|c|#route:/b,status:200", "tender_calls_total:1|c|#route:/a\"_,status:200",
        "tender_lead_seconds:0|g", "tender_lead_seconds:-5|g",
      ])
    let more = MetricReading(
      "tender_calls_total", "Calls.", .counter, [.init(["route": "/b", "status": "200"], .whole(10))])
    #expect(Self.lines(statsD.datagrams(of: [more])) == ["tender_calls_total:7|c|#route:/b,status:200"])
    #expect(statsD.datagrams(of: [more]).isEmpty)
    #expect(Self.lines(statsD.datagrams(of: [Self.times])).contains("tender_times_seconds_sum:41.5|c|#stage:ask"))
    let many = MetricReading(
      "tender_many", "Many.", .gauge, (0..<500).map { .init(["number": "\($0)"], .whole(Int64($0))) })
    let datagrams = statsD.datagrams(of: [many])
    #expect(datagrams.count > 5 && datagrams.allSatisfy { $0.count <= 1_432 } && Self.lines(datagrams).count == 500)
  }

  private static func lines(_ datagrams: [[UInt8]]) -> [String] {
    datagrams.flatMap { String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init) }
  }
}
