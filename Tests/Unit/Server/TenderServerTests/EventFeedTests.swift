import Administration
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `A merchant's server that reads events` {
  private let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  private func events(_ shop: Shopfront, _ query: String) async throws -> JSONClient.Answer {
    try await shop.signed("GET", "/v2/\(shop.merchant.id)/events\(query)", at: system.clock.wall.now())
  }

  /// Of one basket, by type.
  private func types(_ answer: JSONClient.Answer, _ basket: String) -> [String] {
    (answer.body["events"]?.elements ?? []).filter { $0["tender"]?["basketId"]?.text == basket }
      .compactMap { $0["type"]?.text }
  }

  /// Events are handed over once a second. Waits for three of the basket.
  private func handedOver(_ shop: Shopfront, since: Timestamp, _ basket: String) async throws {
    try await waitFor(
      "three events of the basket", { types(try await events(shop, "?since=\(since)&limit=100"), basket) }
    ) { $0.count >= 3 }
  }

  /// All pages from a place on.
  private func all(_ shop: Shopfront, since: Timestamp, _ more: String = "") async throws -> (pages: Int, JSONValue) {
    var (query, found, pages) = ("?since=\(since)\(more)", [JSONValue](), 0)
    while true {
      let answer = try await events(shop, query)
      let page = try #require(answer.body["events"]?.elements, "\(answer.errorText)")
      found += page
      pages += 1
      guard !page.isEmpty else { return (pages, ["events": .array(found)]) }
      query = "?cursor=\(try #require(answer.body["cursor"]?.text))\(more)"
    }
  }

  @Test func `gets each once, in order, in pages, and the same ones again from the same place`() async throws {
    let start = system.clock.wall.now()
    let shopper = try await Shopper.enters(system, service: "collection")
    #expect(try await shopper.pays().body["status"] == "captured")
    try await handedOver(system.harbour, since: start, shopper.basket)
    let (pages, found) = try await all(system.harbour, since: start, "&limit=1")
    let own = found["events"]?.elements.filter { $0["tender"]?["basketId"]?.text == shopper.basket } ?? []
    #expect(own.compactMap { $0["type"]?.text } == ["payment.created", "payment.pending_capture", "payment.captured"])
    #expect(own.compactMap { $0["tender"]?["sequence"]?.whole } == [1, 2, 3] && pages > 3)
    #expect(own.allSatisfy { $0["payment"]?["paymentOutput"]?["references"]?["merchantReference"] != nil })
    let again = try await all(system.harbour, since: start, "&limit=100").1
    #expect(
      again["events"]?.elements.prefix(own.count).map { $0["id"] }
        == found["events"]?.elements.prefix(own.count).map { $0["id"] })
  }

  @Test func `gets the types that it asks for, and no other merchant's`() async throws {
    let start = system.clock.wall.now()
    let shopper = try await Shopper.enters(system, service: "collection")
    _ = try await shopper.pays()
    try await handedOver(system.harbour, since: start, shopper.basket)
    let captured = try await all(system.harbour, since: start, "&type=payment.captured&type=payment.rejected").1
    let types = Set(captured["events"]?.elements.compactMap { $0["type"]?.text } ?? [])
    #expect(types.contains("payment.captured") && types.isSubset(of: ["payment.captured", "payment.rejected"]))
    let others = try await all(system.kitsune, since: start).1["events"]?.elements ?? []
    #expect(others.allSatisfy { $0["merchantId"] == "kitsune" })
  }

  @Test func `gets one again by the id of its webhook, as the feed has it, with when each endpoint acknowledged it`()
    async throws
  {
    let start = system.clock.wall.now()
    let shopper = try await Shopper.enters(system, service: "collection")
    let sent = try await webhook("payment.captured", of: shopper)
    let id = try #require(sent["id"]?.text)
    let found = try await waitFor("its acknowledgement", { try await events(system.harbour, "/\(id)") }) {
      $0.body["tender"]?["deliveries"]?.elements.first?["state"] != "waiting"
    }
    let deliveries = try #require(found.body["tender"]?["deliveries"]?.elements, "\(found.errorText)")
    #expect(deliveries.count == 1 && deliveries[0]["endpoint"] == "orders" && deliveries[0]["state"] == "delivered")
    let acknowledged = try #require(deliveries[0]["acknowledged"]?.text.flatMap { Timestamp(rfc3339: $0) })
    // In whole seconds.
    #expect(start.seconds <= acknowledged.seconds && acknowledged <= system.clock.wall.now())
    let feed = try await all(system.harbour, since: start, "&limit=100").1["events"]?.elements ?? []
    guard case .object(var event) = found.body, case .object(var extras)? = event["tender"] else { throw NoObject() }
    extras["deliveries"] = nil
    event["tender"] = .object(extras)
    #expect(found.status == 200 && feed.first { $0["id"]?.text == id } == .object(event))
    #expect(event["payment"] == sent["payment"] && event["created"] == sent["created"])
  }

  private struct NoObject: Error {}

  /// Pays, and waits for a webhook.
  private func webhook(_ type: String, of shopper: Shopper) async throws -> JSONValue {
    #expect(try await shopper.pays().body["status"] == "captured")
    let found = try await waitFor("the webhook \(type)") {
      try system.webhooks.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }.first {
        $0["tender"]?["basketId"]?.text == shopper.basket && $0["type"]?.text == type
      }
    } until: {
      $0 != nil
    }
    return try #require(found)
  }

  @Test func `finds no event of another merchant, and none of an unknown id`() async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    let id = try #require(try await webhook("payment.created", of: shopper)["id"]?.text)
    #expect(try await events(system.harbour, "/\(id)").status == 200)
    let unknown = id.dropLast() + (id.hasSuffix("0") ? "1" : "0")
    for (shop, name) in [
      (system.kitsune, id), (system.harbour, "\(unknown)"), (system.harbour, "0"), (system.harbour, "not-an-id"),
    ] {
      let answer = try await events(shop, "/\(name)")
      let fault = answer.body["errors"]?.elements.first
      #expect(answer.status == 404 && fault?["id"] == "EVENT_UNKNOWN" && fault?["propertyName"] == "eventId", "\(name)")
    }
  }

  @Test func `is told which parameter is wrong`() async throws {
    let answer = try await events(system.harbour, "?cursor=nonsense")
    let fault = answer.body["errors"]?.elements.first
    #expect(answer.status == 400 && fault?["id"] == "QUERY_INVALID" && fault?["propertyName"] == "cursor")
  }
}
