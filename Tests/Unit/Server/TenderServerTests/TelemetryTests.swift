import Foundation
import HTTPTransport
import Settings
import StrictJSON
import Synchronization
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `Traces of a server` {
  private static let caller = "00f067aa0ba902b7"

  /// A trace's header, as a page or an app sends it. Of its id the last 56 bits decide whether it is in the share.
  private static func header(_ end: String) -> (field: HTTPField, trace: String) {
    let trace = RandomBytes.system.hex(9) + end
    return (HTTPField("traceparent", "00-\(trace)-\(caller)-01"), trace)
  }

  private static func server(
    _ collector: OTLPCollector, _ seen: SeenRequests = SeenRequests(), perThousand: Int = 1_000
  ) async throws -> (system: TestSystem, shop: Shopfront) {
    let system = try await TestSystem.shared.value
    let shop = try await system.secondServer(collector: collector.sender, seeing: seen.note) {
      $0.telemetry.endpoint = "http://collector.example:4318"
      $0.telemetry.secret = "Bearer collector-secret"
      $0.telemetry.tracesPerThousand = perThousand
    }
    return (system, shop)
  }

  @Test func `have a payment from the page to the provider and the webhook as one tree`() async throws {
    let (collector, seen) = (OTLPCollector(), SeenRequests())
    let (system, plain) = try await Self.server(collector, seen)
    let (field, trace) = Self.header("00000000000001")
    var shopper = try await Shopper.enters(system, Shopfront(plain, saying: field))
    try await shopper.chooses()
    #expect(try await shopper.pays().body["status"] == "captured")
    let spans = try await waitFor("the last webhook of the trace", { try collector.spans(of: trace) }) {
      $0.count { $0.name == "deliver" } == 3
    }
    let names = Set(spans.map(\.name))
    #expect(
      names.isSuperset(of: [
        "POST /applepay/validate", "merchant_session", "POST /applepay/payment", "open_token", "claim", "ask", "record",
        "call", "deliver",
      ]), "\(names)")
    let payment = try #require(spans.first { $0.name == "POST /applepay/payment" })
    #expect(payment.parent == Self.caller && payment["http.response.status_code"] == "200" && payment.kind == 2)
    #expect(payment["tender.outcome"] == "captured" && payment["tender.merchant"] == "harbour")
    #expect(payment["tender.network"] == "visa" && payment["tender.acquirer"] == "sandbox")
    let parts = spans.filter { $0.parent == payment.id }.sorted { $0.start < $1.start }
    let steps = parts.map {
      [$0.name, $0["tender.operation"], $0["tender.answer"]].compactMap(\.self).joined(separator: " ")
    }
    let delivered = "deliver taken"
    #expect(
      steps.filter { $0 != delivered } == [
        "open_token", "claim", "ask authorize approved", "record", "claim", "ask capture approved", "record",
      ], "\(steps)")
    // The first is delivered while the call goes on.
    #expect(steps.count { $0 == delivered } == 3, "\(steps)")
    for part in parts where part.name != "deliver" {
      #expect(part.start >= payment.start && part.end <= payment.end + 1_000)
    }
    let ids = Set(spans.map(\.id))
    #expect(ids.count == spans.count && spans.allSatisfy { $0.parent == Self.caller || ids.contains($0.parent) })
    let called = spans.filter { $0.name == "call" }
    #expect(Set(called.compactMap { $0["tender.to"] }) == ["apple", "providers", "webhooks"])
    for (destination, request) in seen.all {
      let sent = request.headers.first(named: "traceparent")
      guard destination != .apple else {
        #expect(sent == nil)
        continue
      }
      guard let sent, sent.contains(trace) else { continue }
      #expect(called.contains { sent == "00-\(trace)-\($0.id)-01" })
    }
    let told = seen.all.filter { $0.1.headers.first(named: "traceparent")?.contains(trace) == true }.map(\.0)
    #expect(Set(told) == [.providers, .webhooks])
    #expect(collector.headers.allSatisfy { $0.first(named: "Authorization") == "Bearer collector-secret" })
  }

  @Test func `hold nothing of the card, of the shopper, or of what gives a right`() async throws {
    let collector = OTLPCollector()
    let (system, plain) = try await Self.server(collector)
    let (field, trace) = Self.header("00000000000002")
    var shopper = try await Shopper.enters(system, Shopfront(plain, saying: field))
    try await shopper.chooses()
    let token = try await shopper.token(card: "visa-debit")
    let secrets = try Secrets(of: token, system)
    let contact = try await shopper.contact("gb-london")
    _ = try await shopper.pays(try await shopper.payment(token))
    // A refused token too: its error is of what stood in it.
    _ = try await shopper.pays(try await shopper.payment(token))
    try await waitUntil("webhooks of the trace") {
      try collector.spans(of: trace).count { $0.name == "deliver" } == 3
    }
    let exported = collector.text
    #expect(!exported.isEmpty && secrets.found(in: Data(exported.utf8)).isEmpty)
    var personal = Self.texts(contact).filter { $0.count > 4 }
    personal += [shopper.basket, shopper.quote, shopper.reference]
    personal += ["data", "signature"].compactMap { token["paymentData"]?[$0]?.text }
    personal += [token["transactionIdentifier"]?.text].compactMap(\.self)
    #expect(personal.count > 6)
    for text in personal { #expect(!exported.contains(text), "\(text)") }
  }

  @Test(arguments: ["down", "slow", "refusing"])
  func `change no payment when the collector is in trouble`(_ trouble: String) async throws {
    let collector = OTLPCollector()
    collector.trouble = trouble
    let (system, shop) = try await Self.server(collector)
    for _ in 0..<3 {
      let shopper = try await Shopper.enters(system, shop, service: "collection")
      #expect(try await shopper.pays().body["status"] == "captured")
    }
    let metrics = try await waitFor("a try to export", { try await shop.metrics() }) { _ in collector.tries > 0 }
    #expect(!metrics.contains("tender_spans_total{outcome=\"exported\"}"))
    collector.trouble = nil
  }

  @Test func `are none where no collector is named`() async throws {
    let (system, collector) = (try await TestSystem.shared.value, OTLPCollector())
    let shop = try await system.secondServer(collector: collector.sender) { _ in }
    let shopper = try await Shopper.enters(
      system, Shopfront(shop, saying: Self.header("00000000000003").field), service: "collection")
    #expect(try await shopper.pays().body["status"] == "captured")
    #expect(collector.tries == 0)
  }

  @Test func `have one span of a payment that fails outside of the share, and none of one that is paid`() async throws {
    let collector = OTLPCollector()
    let (system, plain) = try await Self.server(collector, perThousand: 1)
    let (paid, failed) = (Self.header("fffffffffffff1"), Self.header("fffffffffffff2"))
    let good = try await Shopper.enters(system, Shopfront(plain, saying: paid.field), service: "collection")
    #expect(try await good.pays().body["status"] == "captured")
    let bad = try await Shopper.enters(system, Shopfront(plain, saying: failed.field), service: "collection")
    #expect(try await bad.pays(card: "visa-no-answer").body["status"] == "unknown")
    let spans = try await waitFor("the span of the failure", { try collector.spans(of: failed.trace) }) { !$0.isEmpty }
    #expect(spans.map(\.name) == ["POST /applepay/payment"] && spans[0]["tender.outcome"] == "unknown")
    #expect(spans[0].hasFailed && spans[0].parent == Self.caller)
    #expect(try collector.spans(of: paid.trace).isEmpty)
  }

  @Test func `lead from a later capture back to the payment, by the store`() async throws {
    let collector = OTLPCollector()
    let (system, plain) = try await Self.server(collector)
    let (field, trace) = Self.header("00000000000004")
    let shopper = try await Shopper.enters(
      system, Shopfront(plain, saying: field), service: "collection", capture: "manual")
    let id = try #require(try await shopper.pays().body["paymentId"]?.text)
    let captured = try await plain.signed(
      "POST", "/v2/harbour/payments/\(id)/capture", ["amount": 1250], at: system.clock.wall.now())
    #expect(captured.isSuccess, "\(captured.errorText)")
    let spans = try await waitFor("the capture's span", { try collector.spans() }) {
      $0.contains { $0.name == "POST /v2/{merchantId}/payments/{payment}/capture" }
    }
    let capture = try #require(spans.first { $0.name == "POST /v2/{merchantId}/payments/{payment}/capture" })
    let payment = try #require(spans.first { $0.name == "POST /applepay/payment" && $0.trace == trace })
    #expect(capture.trace != trace && capture["tender.payment"] == id)
    #expect(capture.links == ["\(trace)-\(payment.id)"])
  }

  @Test func `and a line of the log has each call's facts, its times and no basket`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    let id = try #require(try await shopper.pays().body["paymentId"]?.text)
    let line = try await waitFor(
      "the line of the payment",
      {
        system.log.text.split(separator: "\n").last {
          $0.contains("\"call\"") && $0.contains(id) && $0.contains("/applepay/payment\"")
        }
      }
    ) { $0 != nil }
    let fields = try JSONReader.read(Array((line ?? "").utf8))
    #expect(fields["route"] == "/applepay/payment" && fields["status"] == 200 && fields["outcome"] == "captured")
    #expect(fields["merchant"] == "harbour" && fields["acquirer"] == "sandbox" && fields["network"] == "visa")
    for stage in ["openToken", "claim", "ask", "record"] {
      #expect((fields["\(stage)Microseconds"]?.whole ?? -1) >= 0, "\(stage)")
    }
    #expect(line?.contains(shopper.basket) == false)
    _ = try await shopper.pays(card: "visa-insufficient-funds")
  }

  private static func texts(_ value: JSONValue) -> [String] {
    switch value {
    case .string(let text): [text]
    case .array(let list): list.flatMap(texts)
    case .object(let object):
      object.members.filter { !["id", "countryCode"].contains($0.key) }.flatMap { texts($0.value) }
    case .null, .bool, .integer, .number: []
    }
  }
}

/// A collector of OTLP over HTTP in JSON, which keeps what it got.
final class OTLPCollector: Sendable {
  struct Span: Sendable {
    let trace: String
    let id: String
    let parent: String
    let name: String
    let kind: Int64
    let start: UInt64
    let end: UInt64
    let attributes: [String: String]
    let links: [String]
    let hasFailed: Bool

    subscript(_ name: String) -> String? { attributes[name] }
  }

  private let state = Mutex<(requests: [OutboundRequest], tries: Int, trouble: String?)>(([], 0, nil))

  var trouble: String? {
    get { state.withLock(\.trouble) }
    set { state.withLock { $0.trouble = newValue } }
  }

  var tries: Int { state.withLock(\.tries) }
  var headers: [[HTTPField]] { state.withLock { $0.requests.map(\.headers) } }
  /// Everything that came.
  var text: String { state.withLock { $0.requests.map { String(decoding: $0.body, as: UTF8.self) }.joined() } }

  var sender: HTTPSender {
    HTTPSender { request, _ throws(TransportError) in
      let trouble = self.state.withLock { state in
        state.tries += 1
        if state.trouble == nil { state.requests.append(request) }
        return state.trouble
      }
      switch trouble {
      case "down": throw .notSent("connection refused")
      case "slow":
        try? await waitUntil("an end of the trouble") { self.trouble == nil }
        throw .timedOut
      case "refusing": return InboundResponse(status: 400)
      default: return InboundResponse(status: 200, body: Array("{}".utf8))
      }
    }
  }

  func spans(of trace: String? = nil) throws -> [Span] {
    try state.withLock(\.requests).filter { $0.url.hasSuffix("/v1/traces") }.flatMap { try Self.spans($0.body) }
      .filter { trace == nil || $0.trace == trace }
  }

  private static func spans(_ body: [UInt8]) throws -> [Span] {
    let scopes = try JSONReader.read(body)["resourceSpans"]?.elements.flatMap { $0["scopeSpans"]?.elements ?? [] } ?? []
    return try scopes.flatMap { $0["spans"]?.elements ?? [] }.map(span)
  }

  private static func span(_ span: JSONValue) throws -> Span {
    let attributes = try (span["attributes"]?.elements ?? []).map { attribute in
      let value = attribute["value"]
      return (try #require(attribute["key"]?.text), value?["stringValue"]?.text ?? value?["intValue"]?.text ?? "")
    }
    return Span(
      trace: try #require(span["traceId"]?.text), id: try #require(span["spanId"]?.text),
      parent: span["parentSpanId"]?.text ?? "", name: try #require(span["name"]?.text),
      kind: try #require(span["kind"]?.whole),
      start: try #require(span["startTimeUnixNano"]?.text.flatMap { UInt64($0) }),
      end: try #require(span["endTimeUnixNano"]?.text.flatMap { UInt64($0) }),
      attributes: Dictionary(uniqueKeysWithValues: attributes),
      links: (span["links"]?.elements ?? []).map { "\($0["traceId"]?.text ?? "")-\($0["spanId"]?.text ?? "")" },
      hasFailed: span["status"]?["code"] == 2)
  }
}

/// What left a server, and to whom.
final class SeenRequests: Sendable {
  private let requests = Mutex<[(Egress.Destination, OutboundRequest)]>([])
  var all: [(Egress.Destination, OutboundRequest)] { requests.withLock(\.self) }
  @Sendable func note(_ destination: Egress.Destination, _ request: OutboundRequest) {
    requests.withLock { $0.append((destination, request)) }
  }
}
