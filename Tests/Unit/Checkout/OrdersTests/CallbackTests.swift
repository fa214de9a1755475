import Acquiring
import Gateway
import HTTPTransport
import Orders
import DirectWire
import StrictJSON
import Synchronization
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

/// A merchant's server that prices by itself.
private final class PricingServer: Sendable {
  private let script = Mutex<(status: Int, body: String, error: TransportError?)>((200, "", nil))
  private let received = Mutex<[(OutboundRequest, Duration)]>([])
  private let work = Mutex<@Sendable () -> Void>({})

  func answers(_ body: String, status: Int = 200) { script.withLock { $0 = (status, body, nil) } }
  /// What happens while it thinks.
  func thinks(_ body: @escaping @Sendable () -> Void) { work.withLock { $0 = body } }
  func fails(_ error: TransportError) { script.withLock { $0.error = error } }
  var requests: [(OutboundRequest, Duration)] { received.withLock { $0 } }

  var sender: HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      self.received.withLock { $0.append((request, timeout)) }
      self.work.withLock { $0 }()
      let (status, body, error) = self.script.withLock { $0 }
      if let error { throw error }
      return InboundResponse(status: status, body: Array(body.utf8))
    }
  }
}

private final class Counts: Sendable {
  let asked = Mutex(0)
  let refused = Mutex(0)
  let isHeld = Mutex(true)
}

@Suite struct `A merchant who prices by itself` {
  private let server = PricingServer()
  private static let good = """
    {"lines":[{"label":"Catch of the day","amount":1500},{"label":"Boat","amount":400}],
     "shippingMethods":[{"identifier":"boat","label":"Boat","detail":"At high tide","amount":400}],
     "shippingMethod":"boat","context":"tide-7"}
    """

  private func shop() async throws -> Shop {
    let terms = MerchantTerms(
      callbackSigner: RequestSigner(apiKeyId: "key", secret: "secret"), callbackHosts: ["shop.example:8443"])
    let shop = try await Shop(terms, quotes: server.sender)
    var document = BasketDocument.dinner
    document.quoteURL = "https://shop.example:8443/quote?v=1"
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    return shop
  }

  private func update(_ shop: Shop, _ change: SheetChange = .shippingContact(FullContact.dublin.place)) async throws
    -> (quote: Quote, update: SheetUpdate)
  {
    try await shop.orderService.update(Shop.basket, of: Shop.merchant, change)
  }

  /// A page with a basket's id causes the calls.
  @Test(arguments: [(128, 32), (24, 6), (1, 1)])
  func `is asked a quarter as often at once as all are`(all: Int, own: Int) async throws {
    let counts = Counts()
    let sender = HTTPSender { _, _ throws(TransportError) in
      counts.asked.withLock { $0 += 1 }
      try? await waitUntil("the release") { !counts.isHeld.withLock(\.self) }
      return InboundResponse(status: 200, body: Array(Self.good.utf8))
    }
    let terms = MerchantTerms(
      callbackSigner: RequestSigner(apiKeyId: "key", secret: "secret"), callbackHosts: ["shop.example:8443"])
    let shop = try await Shop(terms, quotes: sender, mostCalls: all)
    let baskets = (0..<40).map { BasketID("kNc7pQ2xR8vT5wY1zB4d\($0 + 10)") }
    for (number, basket) in baskets.enumerated() {
      var document = BasketDocument.dinner
      (document.quoteURL, document.merchantReference) = ("https://shop.example:8443/quote", "HK-\(number)")
      try await shop.orderService.put(document, as: basket, of: Shop.merchant)
    }
    try await withThrowingTaskGroup { group in
      for basket in baskets {
        group.addTask {
          do {
            _ = try await shop.orderService.update(basket, of: Shop.merchant, .couponCode("FIVER"))
          } catch let error as OrderError where error.code == .quoteSourceUnavailable {
            counts.refused.withLock { $0 += 1 }
          }
        }
      }
      try await waitUntil("the refusals") { counts.refused.withLock(\.self) + counts.asked.withLock(\.self) == 40 }
      counts.isHeld.withLock { $0 = false }
      try await group.waitForAll()
    }
    #expect(counts.asked.withLock(\.self) == own && counts.refused.withLock(\.self) == 40 - own)
  }

  @Test func `is asked with a signature, and given five seconds`() async throws {
    let shop = try await shop()
    server.answers(Self.good)
    let (quote, update) = try await update(shop)
    #expect(quote.total.minorUnits == 1_900)
    #expect(update.newShippingMethods?.map(\.identifier) == ["boat"])
    let (request, timeout) = try #require(server.requests.first)
    #expect(timeout == .seconds(5))
    #expect(request.url == "https://shop.example:8443/quote?v=1")
    let signed = try SignedRequest(
      method: request.method, target: "/quote?v=1", headers: request.headers.map { ($0.name, $0.value) })
    let caller = try RequestAuthenticator().authenticate(signed, secret: "secret", at: Shop.noon)
    #expect(caller.apiKeyID == "key")
    try caller.check(body: request.body, isDigestRequired: true)
    let body = try JSONReader.read(request.body)
    #expect(body["change"]?["shippingContact"]?["postalCode"] == "D01 X2Y3")
    #expect(body["basket"]?["merchantReference"] == "HK-1042")
    #expect(body["basketId"] == .string(Shop.basket.rawValue))
  }

  /// The basket came when its host was allowed.
  @Test(arguments: [["shop.example"], ["shop.example:9443"], []])
  func `is not called any more when its host is taken out of the configuration`(_ hosts: [String]) async throws {
    let shop = try await shop()
    let now = shop.under(
      MerchantTerms(callbackSigner: RequestSigner(apiKeyId: "key", secret: "secret"), callbackHosts: Set(hosts)),
      quotes: server.sender)
    server.answers(Self.good)
    await refusal(.quoteSourceUnavailable, field: "quoteURL") {
      try await now.update(Shop.basket, of: Shop.merchant, .shippingContact(FullContact.dublin.place))
    }
    #expect(server.requests.isEmpty)
    _ = try await update(shop)
    #expect(server.requests.count == 1)
  }

  @Test func `is not waited for when the sheet opens`() async throws {
    let shop = try await shop()
    server.fails(.timedOut)
    #expect(try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote.total.minorUnits == 2_490)
    #expect(server.requests.isEmpty)
  }

  @Test func `is reminded of what it asked to be reminded of`() async throws {
    let shop = try await shop()
    server.answers(Self.good)
    _ = try await update(shop)
    _ = try await update(shop, .paymentMethod(.credit))
    let body = try JSONReader.read(try #require(server.requests.last).0.body)
    #expect(body["context"] == "tide-7")
    #expect(body["shippingMethod"] == "boat")
    #expect(body["paymentMethod"] == "credit")
  }

  @Test func `is asked about the full address before anything is charged`() async throws {
    let shop = try await shop()
    server.answers(Self.good)
    let quote = try await update(shop).quote
    server.answers(#"{"lines":[{"label":"Catch of the day","amount":1501}],"shippingMethod":"boat"}"#)
    await refusal(.addressChangesPrice) { try await shop.pays(quote: quote.id) }
    server.answers(Self.good)
    #expect(try await shop.pays(quote: quote.id).payment.amount.minorUnits == 1_900)
  }

  /// The sheet waits thirty seconds in all, for the merchant and for us together.
  @Test func `has what is left of the shopper's time, and leaves the rest to the acquirer`() async throws {
    let shop = try await shop()
    server.answers(Self.good)
    let quote = try await update(shop).quote
    let uptime = Mutex(Duration.zero)
    let scheduler = Scheduler(
      uptime: { uptime.withLock { $0 } }, sleep: { _ in }, finish: { work in await work() })
    server.thinks { uptime.withLock { $0 += .seconds(4) } }
    _ = try await shop.pays(quote: quote.id, before: .after(.seconds(25), on: scheduler))
    #expect(server.requests.last?.1 == .seconds(5))
    #expect(shop.acquirer.deadlines == [.seconds(21), .seconds(21)])

    let late = try await self.shop()
    let other = try await update(late).quote
    await #expect(throws: GatewayError.outOfTime) {
      try await late.pays(quote: other.id, before: .after(.seconds(3), on: scheduler))
    }
    #expect(server.requests.last?.1 == .seconds(3))
  }

  @Test func `that does not answer leaves the sheet as it was`() async throws {
    let shop = try await shop()
    let shown = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    for error in [TransportError.timedOut, .notSent("no"), .interrupted("?"), .responseTooLarge] {
      server.fails(error)
      await refusal(.quoteSourceUnavailable) { try await update(shop) }
    }
    server.answers("", status: 500)
    await refusal(.quoteSourceUnavailable) { try await update(shop) }
    #expect(try await shop.count("quotes") == 1)
    #expect(try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote == shown)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"lines":[]}"#, #"{"lines":[{"label":"A","amount":12.5}]}"#, #"{"lines":[{"amount":1}]}"#,
    #"{"lines":[{"label":"A","amount":"1"}]}"#, #"{"lines":[{"label":"","amount":1}]}"#,
    #"{"lines":[{"label":"A","amount":1}],"lines":[]}"#, #"{"lines":[{"label":"A\u202e","amount":1}]}"#,
    #"{"lines":[{"label":"A","amount":1}],"errors":[{"code":"couponCodeInvalid","message":"\u001b[2J"}]}"#,
    #"{"lines":[{"label":"A","amount":1}],"shippingMethods":[{"identifier":"b","label":"B","detail":"\u0007","amount":1}]}"#,
    #"{"lines":[{"label":"A","amount":1}],"shippingMethods":[{"identifier":"b","label":"B","amount":-1}]}"#,
    #"{"lines":[{"label":"A","amount":1}],"errors":[{"code":"couponCodeInvalid"}]}"#,
    #"{"lines":[{"label":"A","amount":1}],"errors":[{"code":"shippingContactInvalid","contactField":"phoneNumber"}]}"#,
  ]) func `is believed only when its answer is a price`(_ body: String) async throws {
    let shop = try await shop()
    server.answers(body)
    await refusal(.quoteSourceInvalid, field: "quoteURL") { try await update(shop) }
  }

  @Test func `can refuse an address on the sheet`() async throws {
    let shop = try await shop()
    server.answers(
      #"{"lines":[{"label":"A","amount":1}],"errors":[{"code":"addressUnserviceable","message":"Ice."}]}"#)
    let (quote, update) = try await update(shop)
    #expect(update.errors == [.addressUnserviceable("Ice.")])
    #expect(!quote.isPayable)
    await refusal(.addressUnserviceable) { try await shop.pays(quote: quote.id) }
  }
}
