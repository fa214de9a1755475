import HTTPTransport
import StrictJSON
import Synchronization
import Telemetry
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The export of spans` {
  /// A collector that answers with the next of its statuses, the last again and again.
  private final class FakeCollector: Sendable {
    let statuses: Mutex<[Int?]>
    let bodies = Mutex<[[UInt8]]>([])
    let requests = Mutex<[OutboundRequest]>([])

    init(_ statuses: [Int?]) { self.statuses = Mutex(statuses) }

    var sender: HTTPSender {
      HTTPSender { request, _ throws(TransportError) in
        let status = self.statuses.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        self.requests.withLock { $0.append(request) }
        guard let status else { throw .notSent("connection refused") }
        if status < 300 { self.bodies.withLock { $0.append(request.body) } }
        return InboundResponse(status: status)
      }
    }
  }

  private final class Counts: Sendable {
    private let counts = Mutex<[SpanExport.Outcome: Int]>([:])
    @Sendable func add(_ outcome: SpanExport.Outcome, _ count: Int) {
      counts.withLock { $0[outcome, default: 0] += count }
    }
    subscript(_ outcome: SpanExport.Outcome) -> Int { counts.withLock { $0[outcome] ?? 0 } }
  }

  /// Sleeps take no time, and are counted.
  private static func scheduler(_ sleeps: Counter) -> Scheduler {
    Scheduler(
      uptime: { .zero },
      sleep: { _ in
        sleeps.next()
        try await Task.sleep(for: .microseconds(100))
      }, finish: Scheduler.system.finish)
  }

  private static func export(
    _ collector: FakeCollector, _ counts: Counts, _ sleeps: Counter = Counter()
  ) -> SpanExport {
    SpanExport(
      to: Collector(
        "http://collector.example:4318", over: collector.sender,
        headers: [HTTPField("Authorization", "Bearer of-a-test")],
        resource: [("service.name", "tender")]),
      on: scheduler(sleeps), count: counts.add)
  }

  private static func fill(_ export: SpanExport, _ count: Int) async {
    let recorder = SpanRecorder(
      share: TraceShare(perThousand: 1_000), random: .system, clock: ManualClock().wall, finished: export.add)
    let telemetry = Telemetry(tracer: recorder)
    for _ in 0..<count {
      await telemetry.begin(.request) { $0.note(.status(200), .merchant(MerchantID("harbour"))) }
    }
  }

  @Test func `drops what finds the queue full, and counts it`() async {
    let (collector, counts) = (FakeCollector([nil]), Counts())
    let export = Self.export(collector, counts)
    await Self.fill(export, SpanExport.capacity + 7)
    #expect(export.depth == SpanExport.capacity && counts[.dropped] == 7)
    #expect(collector.requests.withLock(\.count) == 0)
  }

  @Test func `tries again what a busy or absent collector did not take, until it has each once`() async throws {
    let (collector, counts) = (FakeCollector([nil, 503, 429, 200]), Counts())
    let export = Self.export(collector, counts)
    await Self.fill(export, 600)
    let running = Task { await export.run() }
    try await waitUntil("all spans at the collector") { counts[.exported] == 600 }
    running.cancel()
    await running.value
    let ids = try collector.bodies.withLock(\.self).flatMap { try Self.spans($0) }.compactMap { $0["spanId"]?.text }
    #expect(ids.count == 600 && Set(ids).count == 600 && counts[.dropped] == 0)
  }

  @Test func `gives a batch up after five tries, and goes on with the next`() async throws {
    let (collector, counts) = (FakeCollector(Array(repeating: 503, count: SpanExport.mostTries) + [200]), Counts())
    let export = Self.export(collector, counts)
    await Self.fill(export, 600)
    let running = Task { await export.run() }
    try await waitUntil("an end of both batches") { counts[.exported] + counts[.dropped] == 600 }
    running.cancel()
    await running.value
    #expect(counts[.dropped] == 512 && counts[.exported] == 88)
  }

  @Test func `does not repeat what the collector refuses`() async throws {
    let (collector, counts) = (FakeCollector([400]), Counts())
    let export = Self.export(collector, counts)
    await Self.fill(export, 3)
    await export.flush()
    #expect(collector.requests.withLock(\.count) == 1 && export.depth == 0)
  }

  @Test func `sends what is left once at its end, and counts what is lost`() async throws {
    let (collector, counts) = (FakeCollector([200, nil]), Counts())
    let export = Self.export(collector, counts)
    await Self.fill(export, 1_200)
    await export.flush()
    #expect(counts[.exported] == 512 && counts[.dropped] == 688 && export.depth == 0)
  }

  @Test func `is OTLP in JSON: ids in hex, kinds as numbers, 64 bits as text, with its secret`() async throws {
    let (collector, counts) = (FakeCollector([200]), Counts())
    let export = Self.export(collector, counts)
    await Self.fill(export, 1)
    await export.flush()
    let requests = collector.requests.withLock { $0 }
    let request = try #require(requests.first)
    #expect(request.url == "http://collector.example:4318/v1/traces" && request.method == "POST")
    #expect(request.headers.first(named: "authorization") == "Bearer of-a-test")
    let whole = try JSONReader.read(request.body)["resourceSpans"]?.elements.first
    #expect(whole?["resource"]?["attributes"]?.elements.first?["value"]?["stringValue"] == "tender")
    let span = try #require(try Self.spans(request.body).first)
    #expect(span["traceId"]?.text?.count == 32 && span["spanId"]?.text?.count == 16 && span["kind"] == 2)
    let start = try #require(span["startTimeUnixNano"]?.text.flatMap { UInt64($0) })
    let end = try #require(span["endTimeUnixNano"]?.text.flatMap { UInt64($0) })
    #expect(start == 1_800_000_000_000_000_000 && end > start)
    let attributes = span["attributes"]?.elements ?? []
    #expect(attributes.compactMap { $0["key"]?.text } == ["http.response.status_code", "tender.merchant"])
    #expect(attributes.first?["value"]?["intValue"] == "200")
  }

  private static func spans(_ body: [UInt8]) throws -> [JSONValue] {
    try JSONReader.read(body)["resourceSpans"]?.elements.first?["scopeSpans"]?.elements.first?["spans"]?.elements ?? []
  }
}
