import Administration
import HTTPTransport
import HTTPTypes
import MerchantIdentity
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `An API key of a stored merchant` {
  private let stored: StoredShop
  private let system: TestSystem

  init() async throws { try await self.init(in: try await StoredShop.system.value) }

  private init(in system: TestSystem) async throws {
    self.system = system
    stored = try await StoredShop("keyed-\(RandomBytes.system.hex(4))", system)
  }

  private func key(_ scopes: Set<APIKeyScope>?, expires: Duration? = nil) async throws -> Shopfront {
    let end = expires.map { system.clock.wall.now().adding($0).description }
    let call = MerchantCall.addKey(merchant: stored.id, kind: .apiKey, scopes: scopes, expires: end)
    let made = try #require(try await stored.call(call).keys?.first)
    return Shopfront(stored.shop, key: (stored.id, made.id, try #require(made.secret)))
  }

  private func status(
    _ shop: Shopfront, _ method: String, _ path: String, _ body: JSONValue? = nil
  ) async throws -> (status: Int, fault: String?) {
    let answer = try await shop.signed(method, "/v2/\(stored.id)/\(path)", body, at: system.clock.wall.now())
    return (answer.status, answer.body["errors"]?.elements.first?["id"]?.text)
  }

  private func report(_ shop: Shopfront) async throws -> SharedKeyReport? {
    try await stored.call(.listKeys(merchant: stored.id)).keys?.first { $0.id == shop.key.id }
  }

  @Test func `does what its scopes allow, and nothing else`() async throws {
    let basket = "baskets/\(RandomBytes.system.hex(16))"
    let (reader, seller) = (try await key([.read]), try await key([.baskets]))
    #expect(try await status(reader, "GET", basket).status == 404)
    #expect(try await status(reader, "PUT", basket, [:]) == (403, "SCOPE_MISSING"))
    #expect(try await status(reader, "GET", "events/e") == (404, "EVENT_UNKNOWN"))
    #expect(try await status(seller, "GET", "events/e") == (403, "SCOPE_MISSING"))
    #expect(try await status(seller, "PUT", basket, [:]).status == 400)
    #expect(try await status(seller, "POST", "sessions") == (403, "SCOPE_MISSING"))
    #expect(try await status(try await key([.payments]), "POST", "sessions").status == 201)
  }

  @Test(arguments: APIKeyScope.allCases)
  func `tests the connection, whatever its one scope`(scope: APIKeyScope) async throws {
    let path = "/v2/\(stored.id)/services/testconnection"
    let answer = try await key([scope]).signed("GET", path, at: system.clock.wall.now())
    #expect(answer.status == 200 && answer.body == ["result": "OK"], "\(answer.errorText)")
  }

  @Test func `ends when it is to, while another goes on`() async throws {
    // A system of its own, because the clock of the common one shows all tests the time.
    let own = try await Self(in: try await TestSystem())
    let (brief, lasting) = (try await own.key(nil, expires: .seconds(3_600)), try await own.key(nil))
    #expect(try await own.status(lasting, "GET", "services/testconnection").status == 200)
    #expect(try await own.status(brief, "GET", "services/testconnection").status == 200)
    own.system.clock.move(.seconds(3_600))
    #expect(try await own.status(brief, "GET", "services/testconnection") == (403, "ACCESS_TO_MERCHANT_NOT_ALLOWED"))
    #expect(try await own.status(lasting, "GET", "services/testconnection").status == 200)
    await own.system.stop()
  }

  @Test func `shows its scopes, its end and its last use`() async throws {
    let shop = try await key([.read, .baskets], expires: TestRun.whole)
    let unused = try #require(try await report(shop))
    #expect(unused.scopes == [.baskets, .read] && unused.expires != nil && unused.lastUsed == nil)
    _ = try await status(shop, "GET", "services/testconnection")
    try await waitUntil("the last use of the key") { try await report(shop)?.lastUsed != nil }
  }

  @Test func `is not made with an end that has passed, and only API keys have scopes`() async throws {
    let past = MerchantCall.addKey(merchant: stored.id, kind: .apiKey, expires: "2020-01-01T00:00:00Z")
    #expect(try await stored.refusal(past) == "key_limits_invalid")
    let scoped = MerchantCall.addKey(merchant: stored.id, kind: .webhookKey, scopes: [.read])
    #expect(try await stored.refusal(scoped) == "key_limits_invalid")
  }
}

@Suite struct `The scopes that a call needs` {
  @Test(
    arguments: [
      ("GET", "services/testconnection", []), ("GET", "baskets/b", [.baskets, .read]), ("PUT", "guests/g", [.baskets]),
      ("GET", "payments", [.payments, .refunds, .read]), ("GET", "payments/p_0/refunds", [.payments, .refunds, .read]),
      ("POST", "payments", [.payments]), ("POST", "payments/p_0/capture", [.payments]),
      ("POST", "payments/p_0/refund", [.refunds]), ("POST", "payments/p_0/cancel", [.payments]),
      ("GET", "events", [.payments, .refunds, .read]), ("GET", "events/e", [.payments, .refunds, .read]),
      ("POST", "hostedcheckouts", [.payments]),
      ("POST", "webhooks/sendtest", [.payments]), ("GET", "products/302", [.baskets, .payments, .read]),
    ] as [(String, String, Set<APIKeyScope>)])
  func `follow from method and path`(method: String, path: String, scopes: Set<APIKeyScope>) throws {
    let method = try #require(HTTPRequest.Method(rawValue: method))
    #expect(RequiredScopes.of(method, "/v2/harbour/\(path)") == scopes)
  }
}
