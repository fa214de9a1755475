import HTTPTransport
import Ledger
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import Webhooks

@Suite struct `Addresses of one payment` {
  private static let extra = "https://orders.example/hooks"

  @Test func `receive its events beside the merchant's endpoint, and no other payment's`() async throws {
    let post = try await Post()
    let payment = try await post.pays()
    try await post.pays(2)
    try await post.database.write { try PaymentWebhooks.add([Self.extra, Self.extra], to: payment.id, in: $0) }
    try await post.dispatcher.round()
    let own = post.server.requests.filter { $0.url == Self.extra }
    #expect(own.count == 3 && post.server.requests.count == 9)
    for request in own {
      #expect(request.headers.first { $0.name == "X-GCS-Signature" }?.value == Post.key.signature(of: request.body))
      #expect(try JSONReader.read(request.body)["tender"]?["paymentId"]?.text == payment.id.rawValue)
    }
  }

  @Test func `are judged by the guard as any other`() async throws {
    let inside = try address("10.0.0.1")
    let guarded = DestinationGuard(allowsPrivate: false) { _ in [(inside, "10.0.0.1")] }
    let post = try await Post(urls: [], destinations: guarded)
    let payment = try await post.pays()
    try await post.database.write { try PaymentWebhooks.add([Self.extra], to: payment.id, in: $0) }
    try await post.dispatcher.round()
    #expect(post.server.requests.isEmpty)
  }

  @Test func `can be tried out with a signed event about a payment that there is not`() async throws {
    let post = try await Post()
    #expect(try await post.dispatcher.sendTest(to: Self.extra, of: "shop", at: post.clock.wall.now()) == nil)
    let request = try #require(post.server.requests.first)
    let body = try JSONReader.read(request.body)
    #expect(body["type"] == "payment.test" && body["apiVersion"] == "v1" && body["merchantId"] == "shop")
    #expect(body["id"]?.text?.utf8.count == 36 && body["payment"]?["id"] == "9999_9")
    #expect(request.headers.first { $0.name == "X-GCS-Signature" }?.value == Post.key.signature(of: request.body))
    post.server.answers { _, _ in 500 }
    #expect(try await post.dispatcher.sendTest(to: Self.extra, of: "shop", at: post.clock.wall.now()) == "HTTP 500")
  }

  @Test func `can be tried out sixteen at a time by one merchant, and by others meanwhile`() async throws {
    let (resolved, mayGoOn) = (Counter(), Counter())
    let address = try address("93.184.215.14")
    let slow = DestinationGuard(allowsPrivate: false) { _ in
      resolved.next()
      try await waitUntil("the end of the test") { mayGoOn.value > 0 }
      return [(address, "93.184.215.14")]
    }
    let post = try await Post(destinations: slow)
    @Sendable func test(_ merchant: MerchantID) async throws -> String? {
      try await post.dispatcher.sendTest(to: Self.extra, of: merchant, at: post.clock.wall.now())
    }
    @Sendable func isTaken(_ merchant: MerchantID) async throws {
      let refusal = try await test(merchant)
      #expect(refusal == nil)
    }
    try await withThrowingTaskGroup { group in
      for _ in 0..<16 { group.addTask { try await isTaken("shop") } }
      try await waitUntil("sixteen that are under way") { resolved.value == 16 }
      #expect(try await test("shop")?.contains("too many") == true)
      group.addTask { try await isTaken("other") }
      try await waitUntil("another merchant's") { resolved.value == 17 }
      mayGoOn.next()
      try await group.waitForAll()
    }
    #expect(try await test("shop") == nil)
  }
}
