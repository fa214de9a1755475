import DirectWire
import HTTPTransport
import Orders
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// A merchant's server that is asked for baskets.
private final class BasketServer: Sendable {
  private let answer = Mutex<Result<InboundResponse, TransportError>>(.failure(.timedOut))
  private let received = Mutex<[(OutboundRequest, Duration)]>([])
  private let gate = Mutex<AsyncStream<Void>?>(nil)

  func answers(_ body: [UInt8], status: Int = 200) {
    answer.withLock { $0 = .success(InboundResponse(status: status, body: body)) }
  }
  func fails(_ error: TransportError) { answer.withLock { $0 = .failure(error) } }
  /// Answers nothing before the stream ends.
  func waits(for stream: AsyncStream<Void>) { gate.withLock { $0 = stream } }
  var requests: [(OutboundRequest, Duration)] { received.withLock { $0 } }

  var sender: HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      self.received.withLock { $0.append((request, timeout)) }
      if let gate = self.gate.withLock({ $0 }) { for await _ in gate {} }
      return try self.answer.withLock { $0 }.get()
    }
  }
}

@Suite struct `A merchant whose baskets are fetched` {
  private let server = BasketServer()

  private func shop(_ source: String? = "https://shop.example/tender/baskets") async throws -> Shop {
    try await Shop(
      MerchantTerms(callbackSigner: RequestSigner(apiKeyId: "key", secret: "secret"), basketSource: source),
      quotes: server.sender)
  }

  private static func bytes(_ change: (inout BasketDocument) -> Void = { _ in }) throws -> [UInt8] {
    var document = BasketDocument.dinner
    change(&document)
    return try DirectJSON.bytes(document)
  }

  private func pull(_ shop: Shop, _ id: BasketID = Shop.basket) async throws {
    try await shop.orderService.pull(id, of: Shop.merchant)
  }

  @Test(arguments: ["", "/"]) func `is asked by a signed call, and its basket is one that it had sent`(
    _ end: String
  ) async throws {
    let shop = try await shop("https://shop.example/tender/baskets" + end)
    server.answers(try Self.bytes())
    try await pull(shop)
    let (request, timeout) = try #require(server.requests.first)
    #expect(request.method == "GET" && timeout == .seconds(5) && request.body.isEmpty)
    #expect(request.url == "https://shop.example/tender/baskets/\(Shop.basket)")
    let signed = try SignedRequest(
      method: "GET", target: "/tender/baskets/\(Shop.basket)", headers: request.headers.map { ($0.name, $0.value) })
    #expect(try RequestAuthenticator().authenticate(signed, secret: "secret", at: Shop.noon).apiKeyID == "key")
    #expect(try await shop.pays().payment.status == .captured)
  }

  @Test(arguments: [TransportError.timedOut, .responseTooLarge, .notSent("refused"), .interrupted("cut")])
  func `that cannot be asked is said to be so`(_ error: TransportError) async throws {
    let shop = try await shop()
    server.fails(error)
    await refusal(.basketSourceUnavailable) { try await pull(shop) }
    #expect(try await shop.count("baskets") == 0)
  }

  @Test(arguments: [301, 302, 307, 204, 401, 500]) func `is not believed with another status than 200`(
    _ status: Int
  ) async throws {
    let shop = try await shop()
    server.answers(try Self.bytes(), status: status)
    await refusal(.basketSourceUnavailable) { try await pull(shop) }
    #expect(server.requests.count == 1)
    #expect(try await shop.count("baskets") == 0)
  }

  @Test(arguments: ["", "<html>", "[]", "{}", #"{"currencyCode":"EUR","unknown":1}"#])
  func `is not believed with what is no basket`(_ body: String) async throws {
    let shop = try await shop()
    server.answers(Array(body.utf8))
    await refusal(.basketSourceInvalid) { try await pull(shop) }
  }

  @Test func `is held to the rules of a basket that is sent`() async throws {
    let shop = try await shop()
    server.answers(try Self.bytes { $0.items[0].unitAmount = -1 })
    await refusal(.basketSourceInvalid) { try await pull(shop) }
    server.answers(try Self.bytes { $0.quoteURL = "https://elsewhere.example/quote" })
    await refusal(.basketSourceInvalid) { try await pull(shop) }
    #expect(try await shop.count("baskets") == 0)
  }

  @Test func `has no basket that its server does not know, and no other merchant's`() async throws {
    let shop = try await shop()
    server.answers([], status: 404)
    await refusal(.basketUnknown) { try await pull(shop) }
    try await shop.orderService.put(.dinner, as: Shop.basket, of: MerchantID("kitsune"))
    server.answers(try Self.bytes())
    await refusal(.basketUnknown) { try await pull(shop) }
    #expect(try await shop.orderService.merchant(of: Shop.basket) == MerchantID("kitsune"))
  }

  @Test func `is not asked for an id that can be guessed, nor without an address`() async throws {
    let shop = try await shop()
    await refusal(.basketUnknown) { try await pull(shop, BasketID("../../admin")) }
    let other = try await self.shop(nil)
    await refusal(.basketUnknown) { try await pull(other) }
    #expect(server.requests.isEmpty)
  }

  @Test func `is asked for eight baskets at once, and no more`() async throws {
    let shop = try await shop()
    let (stream, end) = AsyncStream<Void>.makeStream()
    server.waits(for: stream)
    server.answers([], status: 404)
    try await withThrowingTaskGroup(of: OrderError.Code?.self) { group in
      for index in 0..<9 {
        group.addTask {
          do {
            try await pull(shop, BasketID("kNc7pQ2xR8vT5wY1zB4d\(index)x"))
            return nil
          } catch let error as OrderError { return error.code }
        }
      }
      #expect(try await group.next() == .basketSourceUnavailable)
      end.finish()
      for try await code in group { #expect(code == .basketUnknown) }
    }
    #expect(server.requests.count == 8)
  }

  @Test(arguments: ["http://shop.example/b", "https://shop.example/b?v=1", "ftp://shop.example", "https://", "/b"])
  func `has an address with https and no query`(_ text: String) {
    #expect(!MerchantTerms.isBasketSource(text))
    #expect(MerchantTerms.isBasketSource("https://shop.example/b"))
    #expect(MerchantTerms.isBasketSource("http://127.0.0.1:9/b"))
  }
}
