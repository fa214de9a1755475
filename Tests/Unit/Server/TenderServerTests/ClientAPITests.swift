import Administration
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// The client API as an app calls it, and as a page of a merchant's does.
@Suite struct `The client API` {
  private let system: TestSystem
  private var shop: Shopfront { system.harbour }

  init() async throws { system = try await TestSystem.shared.value }

  private func session(_ shop: Shopfront, _ body: JSONValue? = nil) async throws -> JSONClient.Answer {
    try await shop.signed("POST", "/v2/\(shop.merchant.id)/sessions", body, at: system.clock.wall.now())
  }

  /// - Parameter origin: of the page; nil for an app.
  private func ask(
    _ path: String, _ session: JSONValue, method: String = "GET", id: String? = nil, customer: String? = nil,
    origin: String? = nil
  ) async throws -> InboundResponse {
    let customer = customer ?? session["customerId"]?.text ?? ""
    var headers = [HTTPField("Authorization", "GCS v1Client:\(id ?? session["clientSessionId"]?.text ?? "")")]
    if let origin { headers.append(HTTPField("Origin", origin)) }
    return try await system.sender.send(
      OutboundRequest(
        method: method, url: "\(system.server)/client/\(path.replacing("$", with: customer))", headers: headers),
      TestRun.whole)
  }

  private static func fault(_ answer: InboundResponse) throws -> String? {
    try JSONReader.read(answer.body)["errors"]?.elements.first?["id"]?.text
  }

  @Test func `has sessions that the merchant's server makes`() async throws {
    for body in [nil, .object([:]), ["tokens": []]] as [JSONValue?] {
      let answer = try await session(shop, body)
      #expect(answer.status == 201, "\(answer.errorText)")
      #expect(answer.body["clientApiUrl"]?.text?.hasSuffix("/client") == true)
      #expect(answer.body["invalidTokens"]?.elements.isEmpty == true)
    }
    let tokens = try await session(shop, ["tokens": ["t1", "t2"]])
    #expect(tokens.body["invalidTokens"]?.elements.compactMap(\.text) == ["t1", "t2"])
    let many = try await session(shop, ["tokens": .array((0..<11).map { .string("t\($0)") })])
    #expect(many.status == 400 && many.body["errors"]?.elements.first?["propertyName"]?.text == "tokens")
  }

  @Test func `gives the public key under either version, as JSON`() async throws {
    let session = try await session(shop).body
    let answers = try await ["v1/$/crypto/publickey", "v2/$/crypto/publickey", "v1/$/crypto/publickey/"]
      .asyncMap { try await ask($0, session) }
    for answer in answers {
      #expect(answer.status == 200 && answer.body == answers[0].body)
      #expect(
        answer.headers.contains { $0.name.lowercased() == "content-type" && $0.value.hasPrefix("application/json") })
    }
    let key = try JSONReader.read(answers[0].body)
    #expect(key["keyId"]?.text?.isEmpty == false)
    #expect(key["publicKey"]?.text.flatMap { Base64.decode($0) }?.count == 294)
  }

  @Test func `answers nobody without the session, its customer and a page of its merchant`() async throws {
    let own = try await session(shop).body
    let path = "v1/$/crypto/publickey"
    let refused = [
      try await ask(path, own, id: ""), try await ask(path, own, id: String(repeating: "0", count: 48)),
      try await ask(path, own, customer: "0123456789abcdef01234567"),
      try await ask(path, own, customer: try await session(shop).body["customerId"]?.text),
      try await ask(path, own, origin: system.kitsune.origin),
    ]
    for answer in refused {
      #expect(try answer.status == 403 && Self.fault(answer) == "CLIENT_SESSION_REFUSED")
    }
    #expect(Set(refused.map(\.body.count)).count == 1)
  }

  @Test func `is open to pages of the merchant, with the session's header`() async throws {
    let own = try await session(shop).body
    let answer = try await ask("v1/$/crypto/publickey", own, origin: shop.origin)
    #expect(answer.status == 200)
    #expect(answer.headers.first { $0.name.lowercased() == "access-control-allow-origin" }?.value == shop.origin)
    let preflight = try await ask("v1/$/crypto/publickey", own, method: "OPTIONS", origin: shop.origin)
    let allowed = preflight.headers.first { $0.name.lowercased() == "access-control-allow-headers" }?.value ?? ""
    #expect(preflight.status == 204 && allowed.contains("Authorization") && allowed.contains("X-GCS-ClientMetaInfo"))
    #expect(try await ask("v1/$/crypto/publickey", own, origin: "https://elsewhere.example").status == 403)
  }

  @Test(arguments: ["v1/$/services/getIINdetails", "v2/$/services/dccrate", "v2/$/services/surchargecalculation"])
  func `takes no card numbers`(path: String) async throws {
    let answer = try await ask(path, try await session(shop).body, method: "POST")
    #expect(try answer.status == 404 && Self.fault(answer) == "CARDS_NOT_TAKEN")
  }
}

extension Array {
  fileprivate func asyncMap<Other>(_ transform: (Element) async throws -> Other) async rethrows -> [Other] {
    var all: [Other] = []
    for element in self { all.append(try await transform(element)) }
    return all
  }
}
