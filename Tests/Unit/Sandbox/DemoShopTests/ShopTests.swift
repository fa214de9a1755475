import Crypto
import DemoShop
import Foundation
import HTTPTransport
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import DirectWire
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The demo shop` {
  @Test func `a basket carries the menu's prices, whatever the page claims`() async throws {
    let tender = FakeTender()
    let answer = try await tender.shop { client in
      try await client.post(
        "/api/baskets",
        #"{"serviceType":"delivery","items":[{"id":"fish","quantity":2,"unitAmount":1,"amount":1}],"total":1}"#)
    }
    #expect(answer.status == .created)
    let basket = try #require(tender.storedBasket)
    #expect(basket.items == [.init(id: "fish", label: "Fish and chips", unitAmount: 1290, quantity: 2)])
    #expect(basket.businessName == "Harbour Kitchen")
  }

  @Test func `a basket is stored by a call that Tender can authenticate`() async throws {
    let tender = FakeTender()
    _ = try await tender.shop { client in try await client.post("/api/baskets", FakeTender.order) }
    let call = try #require(tender.calls.first)
    let request = try SignedRequest(
      method: "PUT", target: FakeTender.path(call), headers: call.headers.map { ($0.name, $0.value) })
    let caller = try RequestAuthenticator().authenticate(request, secret: "secret", at: request.date)
    #expect(call.method == "PUT" && caller.apiKeyID == "key")
    try caller.check(body: call.body, isDigestRequired: true)
    #expect(throws: ContentDigestRefusal.mismatch) { try caller.check(body: call.body + [32], isDigestRequired: true) }
  }

  @Test func `every basket's id is 128 new random bits`() async throws {
    let tender = FakeTender()
    try await tender.shop { client in
      for _ in 0..<2 { _ = try await client.post("/api/baskets", FakeTender.order) }
    }
    let ids = tender.calls.map { FakeTender.path($0).split(separator: "/").last.map(String.init) ?? "" }
    #expect(Set(ids).count == 2)
    #expect(ids.allSatisfy { Hex.decode($0)?.count == 16 })
  }

  @Test(arguments: [
    (#"{"serviceType":"delivery","items":[]}"#, "empty_order"),
    (#"{"serviceType":"delivery","items":[{"id":"whale","quantity":1}]}"#, "unknown_dish"),
    (#"{"serviceType":"delivery","items":[{"id":"fish","quantity":0}]}"#, "bad_quantity"),
    (#"{"serviceType":"delivery","items":[{"id":"fish","quantity":-3}]}"#, "bad_quantity"),
    (#"{"serviceType":"teleport","items":[{"id":"fish","quantity":1}]}"#, "unknown_service_type"),
    (
      #"{"serviceType":"delivery","items":[{"id":"fish","quantity":1}],"requestedFor":"at eight"}"#, "bad_time"
    ),
    (#"{"serviceType":"delivery"}"#, "invalid_order"), ("[]", "invalid_order"), ("", "invalid_order"),
  ])
  func `an order that cannot be made is refused by code, and nothing is sent to Tender`(
    body: String, code: String
  ) async throws {
    let tender = FakeTender()
    let answer = try await tender.shop { client in try await client.post("/api/baskets", body) }
    #expect(answer.status == .badRequest)
    #expect(FakeTender.member("code", of: answer) == code)
    #expect(tender.calls.isEmpty)
  }

  @Test func `a shop that cannot reach Tender says so`() async throws {
    let tender = FakeTender(answering: { _ in .failure(.notSent("connection refused")) })
    let answer = try await tender.shop { client in try await client.post("/api/baskets", FakeTender.order) }
    #expect(answer.status == .badGateway)
    #expect(FakeTender.member("code", of: answer) == "tender_unreachable")
  }

  @Test func `an order's outcome is Tender's, in major units`() async throws {
    let tender = FakeTender(answering: { _ in
      .success(InboundResponse(status: 200, body: Array(Self.placed.utf8)))
    })
    let answer = try await tender.shop { client in
      try await client.execute(uri: "/api/orders/00112233445566778899aabbccddeeff", method: .get)
    }
    #expect(FakeTender.member("status", of: answer) == "captured")
    #expect(FakeTender.member("amount", of: answer) == "15.90")
    #expect(FakeTender.member("reference", of: answer) == "HK-1042")
  }

  @Test(arguments: ["short", "00112233445566778899aabbccddee%2F", "zz112233445566778899aabbccddeeff"])
  func `an invalid basket id is not sent to Tender`(id: String) async throws {
    let tender = FakeTender()
    let answer = try await tender.shop { client in
      try await client.execute(uri: "/api/orders/\(id)", method: .get)
    }
    #expect(answer.status == .notFound)
    #expect(tender.calls.isEmpty)
  }

  @Test(arguments: [
    "/", "/dish/fish", "/basket", "/checkout", "/account", "/kitchen", "/order/00112233445566778899aabbccddeeff",
    "/order/00112233445566778899aabbccddeeff/trace", "/order/00112233445566778899aabbccddeeff/payload",
  ])
  func `a page loads from the shop, Tender and the sandbox alone, and runs nothing inline`(path: String) async throws {
    let answer = try await FakeTender().shop { client in try await client.execute(uri: path, method: .get) }
    #expect(answer.status == .ok)
    let policy = try #require(answer.headers[.contentSecurityPolicy])
    #expect(policy.contains("script-src 'self' http://tender.test http://sandbox.test;"))
    #expect(!policy.contains("unsafe"))
    #expect(answer.headers[.xContentTypeOptions] == "nosniff")
    let page = String(buffer: answer.body)
    // The kit is only where its button or mark is.
    let pays = ["/", "/dish/fish", "/basket", "/checkout"].contains(path)
    #expect(page.contains(#"src="http://tender.test/applepay/tender.js""#) == pays)
    #expect(page.contains("<tender-apple-pay") == pays)
    #expect(!page.contains("{{") && !page.contains("style=") && !page.contains("onclick") && !page.contains("<!--"))
  }

  @Test(arguments: ["/dish/whale", "/order/short", "/order/short/trace", "/art/whale.svg", "/menu.mustache"])
  func `what is not there is not found`(path: String) async throws {
    let answer = try await FakeTender().shop { client in try await client.execute(uri: path, method: .get) }
    #expect(answer.status == .notFound)
    #expect(String(buffer: answer.body).contains("<h1>No such page</h1>"))
    #expect(answer.headers[.contentSecurityPolicy] != nil)
  }

  @Test func `an unknown call of the shop's scripts is answered without a page`() async throws {
    let answer = try await FakeTender().shop { client in try await client.execute(uri: "/api/none", method: .get) }
    #expect(answer.status == .notFound && !String(buffer: answer.body).contains("<html"))
  }

  @Test(arguments: [
    ("/shop.js", "text/javascript"), ("/shop.css", "text/css"), ("/art/fish.svg", "image/svg+xml"),
    ("/art/mark-kitsune.svg", "image/svg+xml"),
  ])
  func `a file is served as what it is`(path: String, type: String) async throws {
    let answer = try await FakeTender().shop { client in try await client.execute(uri: path, method: .get) }
    #expect(answer.status == .ok && answer.headers[.contentType]?.hasPrefix(type) == true)
    #expect(answer.body.readableBytes > 0)
  }

  @Test func `every file of Web/shop is public, and no template of a page`() async throws {
    let files = try FileManager.default.subpathsOfDirectory(atPath: Self.web + "/shop").filter { $0.contains(".") }
    let templates = try FileManager.default.contentsOfDirectory(atPath: Self.web + "/pages/shop")
    try #require(!files.isEmpty && !templates.isEmpty)
    let found = try await FakeTender().shop { client in
      var found: [String] = []
      for path in files + templates where try await client.execute(uri: "/\(path)", method: .get).status == .ok {
        found.append(path)
      }
      return found
    }
    #expect(found == files)
  }

  /// `Web`, from this file.
  private static let web = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    .appending(path: "Web").path

  @Test func `time, note and code go with the basket, and no customer with a guest's`() async throws {
    let tender = FakeTender()
    _ = try await tender.shop { client in
      try await client.post(
        "/api/baskets",
        #"{"serviceType":"collection","items":[{"id":"peas","quantity":1}],"requestedFor":"2026-05-01T18:30","#
          + #""note":"No salt","couponCode":" lunch10"}"#)
    }
    let basket = try #require(tender.storedBasket)
    #expect(basket.requestedFor == "2026-05-01T18:30" && basket.note == "No salt")
    #expect(basket.couponCode == "LUNCH10" && basket.customer == nil)
  }

  @Test func `a shopper who has signed in is known by the reference on the basket, until signed out`() async throws {
    let tender = FakeTender()
    try await tender.shop { client in
      let signedIn = try await client.post("/api/shopper", #"{"customer":"customer-1001"}"#)
      let cookie = try #require(signedIn.headers[.setCookie])
      #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
      let session: HTTPFields = [.cookie: String(cookie.prefix { $0 != ";" })]
      _ = try await client.post("/api/baskets", FakeTender.order, session)
      _ = try await client.execute(uri: "/api/shopper", method: .delete, headers: session)
      _ = try await client.post("/api/baskets", FakeTender.order, session)
    }
    #expect(tender.storedBaskets.map(\.customer) == ["customer-1001", nil])
  }

  @Test func `an unknown customer cannot sign in`() async throws {
    let answer = try await FakeTender().shop { client in
      try await client.post("/api/shopper", #"{"customer":"customer-9"}"#)
    }
    #expect(answer.status == .notFound && answer.headers[.setCookie] == nil)
  }

  @Test(arguments: [("lunch10", nil), ("WELCOME", nil), ("NOTHING", "unknown_code"), ("summer", "expired_code")])
  func `a promo code is checked before the sheet opens`(code: String, refusal: String?) async throws {
    let answer = try await FakeTender().shop { client in try await client.post("/api/codes", #"{"code":"\#(code)"}"#) }
    #expect(FakeTender.member("code", of: answer) == refusal ?? code.uppercased())
    #expect(answer.status.code == (refusal == nil ? 200 : refusal == "unknown_code" ? 404 : 409))
  }

  @Test func `a receipt shows the card and Apple's transaction as Tender has them`() async throws {
    let tender = FakeTender(answering: { _ in .success(InboundResponse(status: 200, body: Array(Self.placed.utf8))) })
    let answer = try await tender.shop { client in
      let basket = try await client.post("/api/baskets", FakeTender.order)
      let path = "/api/orders/\(FakeTender.member("basketId", of: basket) ?? "")"
      return try await client.execute(uri: path, method: .get)
    }
    #expect(FakeTender.member("card", of: answer) == "Visa 0492")
    #expect(FakeTender.member("transactionIdentifier", of: answer) == "5a5a")
    #expect(FakeTender.member("paymentId", of: answer) == "p1")
  }

  @Test func `the smallest page carries a new basket of its own, to be collected`() async throws {
    let tender = FakeTender()
    let pages = try await tender.shop { client in
      var pages: [String] = []
      for _ in 0..<2 { pages.append(String(buffer: try await client.execute(uri: "/smallest", method: .get).body)) }
      return pages
    }
    let ids = tender.calls.map { FakeTender.path($0).split(separator: "/").last.map(String.init) ?? "" }
    #expect(Set(ids).count == 2)
    for (page, id) in zip(pages, ids) { #expect(page.contains(#"<tender-apple-pay basket="\#(id)">"#)) }
    #expect(pages.allSatisfy { !$0.contains("{{") && $0.contains("<h1>Fish and chips, 12.90 EUR</h1>") })
    #expect(try #require(tender.storedBasket).serviceType == "collection")
  }

  @Test func `a page of one's own is served as it is at the moment, with a new basket at each visit`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "tender-\(UUID().uuidString).html")
    defer { try? FileManager.default.removeItem(at: file) }
    let tender = FakeTender()
    let answers = try await tender.shop(visitorsPage: file.path) { client in
      let missing = try await client.execute(uri: "/page", method: .get)
      try Data("<p>{{basket}}</p>{{server}}".utf8).write(to: file)
      return [missing, try await client.execute(uri: "/page", method: .get)]
    }
    #expect(answers.map(\.status) == [.notFound, .ok])
    let basket = try #require(tender.calls.last.map { FakeTender.path($0).split(separator: "/").last ?? "" })
    #expect(String(buffer: answers[1].body) == "<p>\(basket)</p>http://tender.test")
    #expect(answers[1].headers[.contentSecurityPolicy] == nil)
    let without = try await tender.shop { client in try await client.execute(uri: "/page", method: .get) }
    #expect(without.status == .notFound)
  }

  @Test func `a running shop reports its port, serves, and stops when it is cancelled`() async throws {
    let (ports, port) = AsyncStream<Int>.makeStream()
    let configuration = ShopConfiguration(
      port: 0, menu: .kitsuneNoodles, tenderServerURL: "http://tender.test", merchantId: "kitsune", apiKeyId: "key",
      secretApiKey: "secret")
    let shop = Task {
      try await DemoShop(configuration: configuration, onListening: { port.yield($0) }).run()
    }
    let listening = try #require(await ports.first { _ in true })
    let client = try LiveHTTPClient()
    let answer = try await client.sender.send(
      OutboundRequest(method: "GET", url: "http://127.0.0.1:\(listening)/api/menu"), TestRun.whole)
    try await client.shutdown()
    shop.cancel()
    _ = await shop.result
    #expect(answer.status == 200)
    #expect(String(decoding: answer.body, as: UTF8.self).contains(#""currency":"JPY","#))
  }

  private static let placed = #"""
    {"basketId":"00112233445566778899aabbccddeeff","state":"placed","merchantReference":"HK-1042","total":{"amount":1590,"currencyCode":"EUR"},
    "pending":false,"expiresAt":"2030-01-01T00:00:00Z","order":{"orderId":"o1","paymentId":"p1",
    "merchantReference":"HK-1042","status":"captured","amount":{"amount":1590,"currencyCode":"EUR"},
    "card":"Visa 0492","transactionIdentifier":"5a5a"}}
    """#
}

// The shop's own side.
extension `The demo shop` {
  private static func event(_ status: String, _ sequence: Int, order: Bool = true) -> String {
    let text =
      #","order":{"orderId":"o1","merchantReference":"HK-1042","placedAt":"2030-01-01T12:00:00Z","#
      + #""amount":{"amount":1590,"currencyCode":"EUR"},"lines":[{"label":"Peas","amount":1590}],"note":"ring twice","#
      + #""serviceType":"delivery","shippingMethod":"bike","customer":{"contactDetails":{"phoneNumber":"+353 1"}},"#
      + #""shipping":{"address":{"name":{"firstName":"Aoife","surname":"Byrne"},"street":"1 North Quay","#
      + #""additionalInfo":"Flat 4","zip":"D01","city":"Dublin","countryCode":"IE"}}}"#
    return #"{"apiVersion":"v1","id":"e","tender":{"paymentId":"p1","basketId":"b1","status":"\#(status)","#
      + #""sequence":\#(sequence)\#(order ? text : "")}}"#
  }

  private func kitchen(
    _ events: [String], signedWith secret: String = "hook-secret", tender: FakeTender = FakeTender()
  ) async throws -> (statuses: [HTTPResponse.Status], orders: [JSONValue]) {
    let key = SymmetricKey(data: Array(secret.utf8))
    return try await tender.shop { client in
      var statuses: [HTTPResponse.Status] = []
      for event in events {
        let code = HMAC<SHA256>.authenticationCode(for: Array(event.utf8), using: key)
        let headers: HTTPFields = [HTTPField.Name("X-GCS-Signature")!: Base64.encode(Array(code))]
        statuses.append(try await client.post("/hooks/tender", event, headers).status)
      }
      let answer = try await client.execute(uri: "/api/kitchen", method: .get)
      guard case .array(let orders)? = try JSONReader.read(Array(answer.body.readableBytesView))["orders"] else {
        return (statuses, [])
      }
      return (statuses, orders)
    }
  }

  @Test func `the kitchen acknowledges a test event, and no event about nothing`() async throws {
    let test = #"{"apiVersion":"v1","created":"2026-11-28T10:00:00Z","id":"e","merchantId":"m","type":"payment.test"}"#
    let (statuses, orders) = try await kitchen([test, #"{"id":"e","type":"payment.captured"}"#])
    #expect(statuses == [.noContent, .badRequest] && orders.isEmpty)
  }

  @Test func `the kitchen shows a paid order and where it goes, as Tender's webhook says`() async throws {
    let (statuses, orders) = try await kitchen([
      Self.event("authorizing", 1), Self.event("captured", 3), Self.event("authorized", 2),
    ])
    #expect(statuses == [.noContent, .noContent, .noContent])
    let order = try #require(orders.first)
    #expect(orders.count == 1 && order["status"] == "captured" && order["reference"] == "HK-1042")
    #expect(order["name"] == "Aoife Byrne" && order["phone"] == "+353 1" && order["method"] == "Bike")
    #expect(order["address"] == ["1 North Quay", "Flat 4", "D01 Dublin"] && order["countryCode"] == "IE")
    #expect(order["lines"] == [["amount": "15.90", "label": "Peas"]] && order["note"] == "ring twice")
  }

  @Test func `the kitchen cooks nothing that was declined, and believes no event of another key`() async throws {
    #expect(try await kitchen([Self.event("authorizing", 1), Self.event("declined", 2)]).orders.isEmpty)
    let forged = try await kitchen([Self.event("captured", 1)], signedWith: "another")
    #expect(forged.statuses == [.forbidden] && forged.orders.isEmpty)
  }

  @Test func `the kitchen looks an order up that comes without its details`() async throws {
    let tender = FakeTender(answering: { _ in .success(InboundResponse(status: 200, body: Array(Self.placed.utf8))) })
    let (_, orders) = try await kitchen([Self.event("captured", 1, order: false)], tender: tender)
    #expect(tender.calls.map(\.url) == ["http://tender.test/v2/harbour/baskets/b1"])
    #expect(orders.first?["reference"] == "HK-1042")
  }

  @Test(arguments: ["/kitchen", "/api/kitchen"])
  func `there is no kitchen where shoppers are real`(path: String) async throws {
    let answer = try await FakeTender().shop(isSimulated: false) { client in
      try await client.execute(uri: path, method: .get)
    }
    #expect(answer.status == .notFound)
  }
}

// A guest's account, and the way to pay that is not Apple Pay.
extension `The demo shop` {
  private static let key = P256.Signing.PrivateKey()

  private static func guestToken(
    _ guest: String, expires: Int64 = 4_000_000_000, signedWith key: P256.Signing.PrivateKey
  )
    throws -> String
  {
    let parts = [
      #"{"alg":"ES256","kid":"k1","typ":"JWT"}"#,
      #"{"iss":"http://tender.test","sub":"o1","basket":"b1","guest":"\#(guest)","iat":1,"exp":\#(expires)}"#,
    ].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
    return parts + "." + Base64URL.encode(try key.signature(for: Array(parts.utf8)).rawRepresentation)
  }

  private static let answering: @Sendable (OutboundRequest) -> Result<InboundResponse, TransportError> = { call in
    let point = Array(key.publicKey.rawRepresentation)
    let order =
      #"{"orderId":"o1","merchantReference":"HK-1","status":"captured","amount":{"amount":1590,"currencyCode":"EUR"},"#
      + #""customer":{"guestId":"g1","personalInformation":{"name":{"firstName":"Aoife","surname":"Byrne"}}}}"#
    let body =
      call.url.hasSuffix("/applepay/jwks.json")
      ? #"{"keys":[{"alg":"ES256","crv":"P-256","kid":"k1","kty":"EC","use":"sig","#
        + #""x":"\#(Base64URL.encode(point.prefix(32)))","y":"\#(Base64URL.encode(point.suffix(32)))"}]}"#
      : #"{"basketId":"b1","state":"placed","merchantReference":"HK-1","total":{"amount":1590,"currencyCode":"EUR"},"#
        + #""pending":false,"expiresAt":"2030-01-01T00:00:00Z","order":\#(order)}"#
    return .success(InboundResponse(status: 200, body: Array(body.utf8)))
  }

  @Test func `a guest who has paid is signed in with the sheet's name, and the guest's orders become the account's`()
    async throws
  {
    let tender = FakeTender(answering: Self.answering)
    let token = try Self.guestToken("g1", signedWith: Self.key)
    try await tender.shop { client in
      let answer = try await client.post("/api/shopper/guest", #"{"guestToken":"\#(token)"}"#)
      let cookie = try #require(answer.headers[.setCookie])
      let session: HTTPFields = [.cookie: String(cookie.prefix { $0 != ";" })]
      let shopper = try await client.execute(uri: "/api/shopper", method: .get, headers: session)
      #expect(String(buffer: shopper.body).contains(#""shopper":{"customer":"guest-g1","name":"Aoife Byrne"}"#))
      _ = try await client.post("/api/baskets", FakeTender.order, session)
    }
    #expect(tender.storedBasket?.customer == "guest-g1")
    let claim = try #require(tender.calls.first { $0.url.hasSuffix("/guests/g1") })
    #expect(
      claim.method == "PUT" && String(decoding: claim.body, as: UTF8.self) == #"{"merchantCustomerId":"guest-g1"}"#)
  }

  @Test func `no other guest token signs in: forged, expired, of another guest, or no token`() async throws {
    let token = try Self.guestToken("g1", signedWith: Self.key)
    let parts = token.split(separator: ".")
    let tokens = [
      try Self.guestToken("g1", signedWith: P256.Signing.PrivateKey()),
      try Self.guestToken("g1", expires: 1, signedWith: Self.key), try Self.guestToken("g2", signedWith: Self.key),
      "a.b.c", "",
      parts.prefix(2).joined(separator: ".") + ".%.\(parts[2])", "\(token).%",
    ]
    for token in tokens {
      let answer = try await FakeTender(answering: Self.answering).shop { client in
        try await client.post("/api/shopper/guest", #"{"guestToken":"\#(token)"}"#)
      }
      #expect(answer.status == .forbidden && answer.headers[.setCookie] == nil, "\(token)")
    }
  }

  private static let formType = "application/x-www-form-urlencoded"

  private static let contact =
    #"{"name":"Ada Byron","email":"a@b.example","phone":"1","street":"1 Quay","city":"Dublin","postcode":"D01"}"#

  @Test func `an order for cash has a receipt, and its basket can be paid no more`() async throws {
    let open =
      #"{"basketId":"b1","state":"open","merchantReference":"HK-1","total":{"amount":1590,"currencyCode":"EUR"},"#
      + #""pending":false,"expiresAt":"2030-01-01T00:00:00Z"}"#
    let tender = FakeTender(answering: { _ in .success(InboundResponse(status: 200, body: Array(open.utf8))) })
    let receipt = try await tender.shop { client in
      let order = #"{"serviceType":"delivery","items":[{"id":"fish","quantity":1}]}"#
      let basket = FakeTender.member("basketId", of: try await client.post("/api/baskets", order)) ?? ""
      let lacking = try await client.post(
        "/api/orders/\(basket)/cash", #"{"name":"Ada","email":"a@b.example","phone":"1"}"#)
      #expect(lacking.status == .badRequest)
      for _ in 0..<2 {
        #expect(try await client.post("/api/orders/\(basket)/cash", Self.contact).status == .created)
      }
      return String(buffer: try await client.execute(uri: "/api/orders/\(basket)", method: .get).body)
    }
    #expect(tender.calls.map(\.method) == ["PUT", "GET", "DELETE"])
    for part in [
      #""isCash":true"#, #""amount":"15.90""#, #""shopper":"Ada Byron""#,
      #"{"amount":"12.90","label":"Fish and chips"},{"amount":"3.00","label":"Delivery, fees and discount"}"#,
    ] { #expect(receipt.contains(part), "\(part) in \(receipt)") }
  }

  @Test func `a basket whose payment has begun is not ordered for cash`() async throws {
    let tender = FakeTender(answering: { call in
      call.method == "DELETE" ? .success(InboundResponse(status: 409, body: [])) : Self.answering(call)
    })
    let answer = try await tender.shop { client in
      let basket = FakeTender.member("basketId", of: try await client.post("/api/baskets", FakeTender.order)) ?? ""
      return try await client.post("/api/orders/\(basket)/cash", Self.contact)
    }
    #expect(answer.status == .conflict && FakeTender.member("code", of: answer) == "basket_taken")
  }

  @Test func `a form of the market stall that is refused is shown again as it was sent, with the reason`() async throws
  {
    let tender = FakeTender(answering: { _ in .failure(.notSent("connection refused")) })
    try await tender.shop(hasStall: true) { client in
      for (ware, status) in [("whale", HTTPResponse.Status.badRequest), ("chowder", .badGateway)] {
        let form = ByteBuffer(string: "ware=\(ware)&language=de-DE&minutes=1")
        let answer = try await client.execute(
          uri: "/stall", method: .post, headers: [.contentType: Self.formType], body: form)
        let page = String(buffer: answer.body)
        #expect(answer.status == status && page.contains("role=\"alert\""))
        for chosen in [#"lang="de-DE" selected>"#, #"value="1" selected>"#] {
          #expect(page.contains(chosen), "\(chosen)")
        }
        #expect(page.contains(#"value="chowder" required checked>"#) == (ware == "chowder"))
      }
    }
  }

  @Test func `the market stall writes amounts and languages as people read them, and no label with nothing behind it`()
    async throws
  {
    let tender = FakeTender(answering: { call in
      let body =
        call.method == "GET"
        ? #"{"status":"CANCELLED_BY_CONSUMER"}"#
        : #"{"RETURNMAC":"m","hostedCheckoutId":"h","partialRedirectUrl":"p","redirectUrl":"http://tender.test/hosted/h"}"#
      return .success(InboundResponse(status: 200, body: Array(body.utf8)))
    })
    let (page, back) = try await tender.shop(hasStall: true) { client in
      let page = try await client.execute(uri: "/stall", method: .get)
      let form = ByteBuffer(string: "ware=chowder&language=de-DE&minutes=180")
      _ = try await client.execute(uri: "/stall", method: .post, headers: [.contentType: Self.formType], body: form)
      let back = try await client.execute(uri: "/stall/return?hostedCheckoutId=h&RETURNMAC=m", method: .get)
      return (String(buffer: page.body), String(buffer: back.body))
    }
    #expect(back.contains("CANCELLED_BY_CONSUMER") && !back.contains("Payment <code"))
    #expect(page.contains("€14.50") && !page.contains("EUR"))
    #expect(page.contains(#"<option value="de-DE" lang="de-DE">Deutsch</option>"#) && !page.contains(">en-IE<"))
  }
}

/// Tender's place at the other end of the shop's calls.
private final class FakeTender: Sendable {
  static let order = #"{"serviceType":"collection","items":[{"id":"peas","quantity":1}]}"#

  private let sent = Mutex<[OutboundRequest]>([])
  private let answering: @Sendable (OutboundRequest) -> Result<InboundResponse, TransportError>

  init(
    answering: @escaping @Sendable (OutboundRequest) -> Result<InboundResponse, TransportError> = { _ in
      .success(InboundResponse(status: 200, body: Array("{}".utf8)))
    }
  ) {
    self.answering = answering
  }

  var calls: [OutboundRequest] { sent.withLock { $0 } }

  var storedBasket: BasketDocument? { storedBaskets.first }

  var storedBaskets: [BasketDocument] {
    calls.compactMap { try? StrictJSONDecoder().decode(BasketDocument.self, from: $0.body) }
  }

  /// Does something in a shop whose calls come here.
  @discardableResult
  func shop<R: Sendable>(
    visitorsPage: String? = nil, isSimulated: Bool = true, hasStall: Bool = false,
    _ visit: @escaping @Sendable (any TestClientProtocol) async throws -> R
  ) async throws -> R {
    let sender = HTTPSender { request, _ throws(TransportError) in
      self.sent.withLock { $0.append(request) }
      return try self.answering(request).get()
    }
    var configuration = ShopConfiguration(
      port: 0, tenderServerURL: "http://tender.test", publicSandboxURL: isSimulated ? "http://sandbox.test" : nil,
      merchantId: "harbour", apiKeyId: "key", secretApiKey: "secret", webhookSecret: "hook-secret",
      visitorsPage: visitorsPage)
    if hasStall { configuration.stall = configuration.key }
    let shop = Application(router: try DemoShop.router(configuration, sender: sender))
    return try await shop.test(.router, visit)
  }

  static func path(_ call: OutboundRequest) -> String { String(call.url.dropFirst("http://tender.test".count)) }

  static func member(_ name: String, of answer: TestResponse) -> String? {
    guard case .object(let object)? = try? JSONReader.read(Array(answer.body.readableBytesView)),
      case .string(let text)? = object[name]
    else { return nil }
    return text
  }
}

extension TestClientProtocol {
  fileprivate func post(_ path: String, _ body: String, _ headers: HTTPFields = [:]) async throws -> TestResponse {
    var headers = headers
    headers[.contentType] = "application/json"
    return try await execute(uri: path, method: .post, headers: headers, body: ByteBuffer(string: body))
  }
}
