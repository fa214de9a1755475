import HTTPTransport
import InMemoryTracing
import Synchronization
import Telemetry
import TenderPayments
import TenderTesting
import Testing
import Tracing

@Suite struct `A trace's header` {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let span = "00f067aa0ba902b7"

  @Test(arguments: [
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
    "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes-later",
  ])
  func `is read`(_ text: String) throws {
    let context = try #require(TraceContext(traceparent: text))
    #expect(context.trace == Self.trace && context.span == Self.span)
    #expect(context.traceparent == "00-\(Self.trace)-\(Self.span)-01")
    #expect(TraceContext(stored: context.stored) == context)
  }

  @Test(arguments: [
    "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
    "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
    "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-" + String(repeating: "x", count: 500),
  ])
  func `that is none is ignored`(_ text: String) { #expect(TraceContext(traceparent: text) == nil) }
}

@Suite struct `A fact` {
  @Test(arguments: [
    Fact.acquirer("4761739000000012"), .acquirer("route-4761739000000012"), .answer("Jane Doe"),
    .code("4761739000000012"), .route("/pay/4761739000000012"), .merchant(MerchantID("a b")),
    .merchant(MerchantID("476173900000")),
    .method("GET\r\nX"), .acquirer(String(repeating: "a", count: 97)), .acquirer("straße"), .answer("answer1"),
  ])
  func `that is no word of ours is masked`(_ fact: Fact) { #expect(fact.value == .text("other")) }

  @Test func `of ours is kept`() {
    #expect(Fact.acquirer("worldline-direct/eu-main").value == .text("worldline-direct/eu-main"))
    #expect(Fact.route("/v2/{merchantId}/payments/{payment}").value == .text("/v2/{merchantId}/payments/{payment}"))
    let id = "019aa1234567890123456789abcdef01"
    #expect(Fact.payment(PaymentID(id)).value == .text(id))
    #expect(Fact.code("basket_unknown").value == .text("basket_unknown"))
  }
}

@Suite struct `An activity` {
  private struct Broken: Error {}

  @Test func `has the same spans with another tracer of W3C's names`() async throws {
    let tracer = W3CInMemoryTracer()
    let telemetry = Telemetry(tracer: tracer)
    await telemetry.begin(.request) { activity in
      activity.note(.method("POST"), .route("/applepay/payment"), .status(200))
      _ = await trace(.ask, .acquirer("sandbox"), learning: { [.answer($0)] }) { "approved" }
    }
    let spans = tracer.inner.finishedSpans
    #expect(spans.map(\.operationName) == ["ask", "POST /applepay/payment"])
    #expect(spans[0].parentSpanID == spans[1].spanID && spans[0].traceID == spans[1].traceID)
    #expect(spans[0].attributes.get("tender.answer") == .string("approved"))
    #expect(spans[1].attributes.get("http.response.status_code") == .int64(200))
  }

  @Test func `whose trace is in the share is exported whole, and another as one span if it fails`() async throws {
    for (share, fails, expected) in [(1_000, false, 2), (1_000, true, 2), (0, false, 0), (0, true, 1)] {
      let (spans, telemetry) = Self.recording(share: share)
      await telemetry.begin(.request) { activity in
        await trace(.claim) {}
        if fails { activity.fail() }
      }
      #expect(spans.all.count == expected, "\(share) \(fails)")
      #expect(spans.all.last.map(\.hasFailed) ?? fails == fails)
    }
  }

  @Test func `is in the share by its trace's id alone, whoever began it and whatever that one wants`() async throws {
    let (spans, telemetry) = Self.recording(share: 500)
    for digit in ["0", "7", "8", "f"] {
      let trace = "4bf92f3577b34da6a3\(digit)0000000000000"
      let caller = try #require(TraceContext(traceparent: "00-\(trace)-00f067aa0ba902b7-01"))
      await telemetry.begin(.request, from: caller) { _ in }
    }
    #expect(spans.all.map { $0.context.trace.dropFirst(18).prefix(1) } == ["0", "7"])
    #expect(spans.all.allSatisfy { $0.parent == "00f067aa0ba902b7" })
  }

  @Test func `takes so large a share of all traces as is set`() async throws {
    let (spans, telemetry) = Self.recording(share: 100)
    for _ in 0..<2_000 { await telemetry.begin(.request) { _ in } }
    #expect((100...320).contains(spans.all.count))
  }

  @Test func `gives parts their time, inside its own`() async throws {
    let (spans, telemetry) = Self.recording(share: 1_000)
    try await telemetry.begin(.request) { _ in
      try await trace(.claim) { try await Task.sleep(for: .milliseconds(3)) }
      await trace(.record) {}
    }
    let (claim, record, whole) = (spans.all[0], spans.all[1], spans.all[2])
    #expect(claim.time >= .milliseconds(3) && whole.time >= claim.time + record.time)
    #expect(whole.start <= claim.start && claim.start.adding(claim.time) <= record.start.adding(.microseconds(1)))
  }

  @Test func `marks the part that throws, and throws its error`() async throws {
    let (spans, telemetry) = Self.recording(share: 1_000)
    await #expect(throws: Broken.self) {
      try await telemetry.begin(.request) { _ in try await trace(.openToken) { throw Broken() } }
    }
    #expect(spans.all.map(\.hasFailed) == [true, false])
  }

  @Test func `that found nothing to do leaves no span and no time`() async {
    let (spans, telemetry) = Self.recording(share: 1_000)
    await telemetry.begin(.handOver) { $0.drop() }
    #expect(spans.all.isEmpty)
  }

  @Test func `has a line with its facts, its trace and the time of each stage, also where nothing is traced`() async {
    let (_, telemetry) = Self.recording(share: 1_000)
    let keys = await telemetry.begin(.request) { activity in
      activity.note(.status(200), .answer("approved"))
      activity.note(.status(202))
      await trace(.openToken) {}
      await trace(.openToken) {}
      return activity.line.map(\.key)
    }
    #expect(keys == ["answer", "status", "traceId", "openTokenMicroseconds"])
    let untraced = await Telemetry.off.begin(.request) { activity in
      await trace(.claim) {}
      return activity.line.map(\.key)
    }
    #expect(untraced == ["claimMicroseconds"])
  }

  @Test func `names its trace to the other side of a call, and to Apple it does not`() async throws {
    let (spans, telemetry) = Self.recording(share: 1_000)
    let sent = Mutex<[OutboundRequest]>([])
    let sender = HTTPSender { request, _ throws(TransportError) in
      sent.withLock { $0.append(request) }
      return InboundResponse(status: 204)
    }
    let request = OutboundRequest(method: "POST", url: "http://localhost/")
    _ = try await sender.traced(to: .providers).send(request, .seconds(1))
    try await telemetry.begin(.request) { _ in
      _ = try await sender.traced(to: .providers).send(request, .seconds(1))
      _ = try await sender.traced(to: .apple).send(request, .seconds(1))
    }
    let fields = sent.withLock { $0.map { $0.headers.first(named: "traceparent") } }
    #expect(fields == [nil, spans.all[0].context.traceparent, nil])
    #expect(spans.all[0].attributes.map(\.name) == ["http.response.status_code", "tender.to"])
  }

  @Test func `leads back to an earlier trace`() async throws {
    let (spans, telemetry) = Self.recording(share: 1_000)
    let earlier = try #require(TraceContext(stored: "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"))
    await telemetry.begin(.recover) { activity in
      activity.link(to: earlier)
      activity.link(to: earlier)
    }
    #expect(spans.all.map(\.links) == [[earlier]])
  }

  private static func recording(share: Int) -> (spans: Spans, telemetry: Telemetry) {
    let spans = Spans()
    let recorder = SpanRecorder(
      share: TraceShare(perThousand: share), random: .system, clock: ManualClock().wall, finished: spans.add)
    return (spans, Telemetry(tracer: recorder))
  }
}

final class Spans: Sendable {
  private let list = Mutex<[FinishedSpan]>([])
  var all: [FinishedSpan] { list.withLock(\.self) }
  @Sendable func add(_ span: FinishedSpan) { list.withLock { $0.append(span) } }
}
