import Administration
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import Testing

@Suite struct `A merchant's server that looks for payments` {
  private let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  private func find(_ query: String, _ shop: Shopfront? = nil) async throws -> JSONClient.Answer {
    let shop = shop ?? system.harbour
    return try await shop.signed("GET", "/v2/\(shop.merchant.id)/payments?\(query)", at: system.clock.wall.now())
  }

  private func ids(_ answer: JSONClient.Answer) -> [String] {
    (answer.body["payments"]?.elements ?? []).compactMap { $0["id"]?.text }
  }

  @Test func `finds them by order, reference, status, amount and time, as the wire shows them`() async throws {
    let start = system.clock.wall.now()
    let shopper = try await Shopper.enters(system, amount: 1_317, service: "collection")
    let paid = try await shopper.pays().body
    let (order, payment) = (try #require(paid["orderId"]?.text), try #require(paid["paymentId"]?.text))
    let reference = try #require(paid["receipt"]?["merchantReference"]?.text)
    let found = try await find("orderId=\(order)")
    #expect(ids(found) == ["\(payment)_0"], "\(found.errorText)")
    let shown = try await system.harbour.signed(
      "GET", "/v2/harbour/payments/\(payment)_0", at: system.clock.wall.now())
    #expect(found.body["payments"]?.elements.first == shown.body)
    for query in [
      "merchantReference=\(reference)&orderId=\(order)", "paymentId=\(payment)_0", "from=\(start)&orderId=\(order)",
      "orderId=\(order)&status=captured&currencyCode=EUR",
    ] { #expect(ids(try await find(query)) == ["\(payment)_0"], "\(query)") }
    for query in ["orderId=\(order)&status=refunded", "orderId=\(order)&amount=1", "orderId=\(order)&until=\(start)"] {
      #expect(ids(try await find(query)).isEmpty, "\(query)")
    }
    #expect(ids(try await find("orderId=\(order)", system.kitsune)).isEmpty)
  }

  @Test func `gets each once over the pages, though others pay meanwhile`() async throws {
    for _ in 0..<3 { _ = try await Shopper.enters(system, service: "collection").pays() }
    var (cursor, found) = ("", [String]())
    repeat {
      let page = try await find("limit=1\(cursor)")
      found += ids(page)
      _ = try await Shopper.enters(system, service: "collection").pays()
      cursor = page.body["nextCursor"]?.text.map { "&cursor=\($0)" } ?? ""
    } while !cursor.isEmpty && found.count < 3
    #expect(found.count == 3 && Set(found).count == 3 && found == found.sorted(by: >))
  }

  @Test(arguments: ["state=captured", "status=CAPTURED", "limit=0", "cursor=~", "status=captured&status=refunded"])
  func `is told which parameter is wrong`(query: String) async throws {
    let answer = try await find(query)
    #expect(answer.status == 400 && answer.body["errors"]?.elements.first?["id"] == "QUERY_INVALID")
  }
}
