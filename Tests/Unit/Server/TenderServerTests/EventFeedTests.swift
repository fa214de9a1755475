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

  @Test func `is told which parameter is wrong`() async throws {
    let answer = try await events(system.harbour, "?cursor=nonsense")
    let fault = answer.body["errors"]?.elements.first
    #expect(answer.status == 400 && fault?["id"] == "QUERY_INVALID" && fault?["propertyName"] == "cursor")
  }
}
