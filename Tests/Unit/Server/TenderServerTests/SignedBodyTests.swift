import Administration
import Foundation
import HTTPTransport
import Ledger
import DirectWire
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// v1HMAC signs no body by itself: the digest does.
@Suite struct `A signed call of a merchant's server` {
  private let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  /// Sends one body under the headers that were signed for another.
  private func put(
    _ body: JSONValue, to path: String, of shop: Shopfront, signed headers: [(name: String, value: String)]
  ) async throws -> JSONClient.Answer {
    try await JSONClient(system.server, sender: system.sender).call(
      "PUT", path, body, headers: headers.map { HTTPField($0.name, $0.value) })
  }

  private func basket(_ shop: Shopfront, _ amount: Int64) -> JSONValue {
    [
      "currencyCode": .string(shop.merchant.currencyCode), "countryCode": .string(shop.merchant.countryCode),
      "merchantReference": "T-signed", "businessName": "Shop", "serviceTypes": ["collection"],
      "items": [["id": "fish", "label": "Fish", "unitAmount": .integer(amount)]],
    ]
  }

  private func headers(
    _ path: String, _ shop: Shopfront, _ body: JSONValue
  ) -> [(name: String, value: String)] {
    RequestSigner(apiKeyId: shop.key.id, secret: shop.key.secret).headers(
      method: "PUT", contentType: "application/json", pathAndQuery: path, body: body.serialized(),
      at: system.clock.wall.now())
  }

  private static func code(_ answer: JSONClient.Answer) -> String? {
    answer.body["errors"]?.elements.first?["id"]?.text
  }

  @Test func `changes nothing when another body comes under its signature`() async throws {
    let (shop, path) = (system.harbour, "/v2/harbour/baskets/" + RandomBytes.system.hex(16))
    let headers = headers(path, shop, basket(shop, 1_250))
    #expect(try await put(basket(shop, 1_250), to: path, of: shop, signed: headers).status == 200)
    let second = try await put(basket(shop, 1), to: path, of: shop, signed: headers)
    #expect(second.status == 403 && Self.code(second) == "CONTENT_DIGEST_MISMATCH", "\(second.errorText)")
    let stored = try await shop.signed("GET", path, at: system.clock.wall.now())
    #expect(stored.body["total"]?["amount"] == 1250)
  }

  @Test func `is refused without a digest where the key requires one`() async throws {
    let (shop, path) = (system.kitsune, "/v2/kitsune/baskets/" + RandomBytes.system.hex(16))
    let date = HTTPDate.text(system.clock.wall.now())
    func bare(_ shop: Shopfront, _ path: String) -> [(name: String, value: String)] {
      let authorization = RequestSigner(apiKeyId: shop.key.id, secret: shop.key.secret).authorization(
        method: "PUT", contentType: "application/json", date: date, pathAndQuery: path)
      return [("Date", date), ("Authorization", authorization)]
    }
    let refused = try await put(basket(shop, 880), to: path, of: shop, signed: bare(shop, path))
    #expect(refused.status == 403 && Self.code(refused) == "CONTENT_DIGEST_MISSING", "\(refused.errorText)")
    let digested = headers(path, shop, basket(shop, 880))
    #expect(try await put(basket(shop, 880), to: path, of: shop, signed: digested).status == 200)
    let other = "/v2/harbour/baskets/" + RandomBytes.system.hex(16)
    #expect(
      try await put(basket(system.harbour, 880), to: other, of: system.harbour, signed: bare(system.harbour, other))
        .status
        == 200)
  }

  /// What money would be moved under: the same call, however often and by whomever it is sent.
  @Test func `is the same call when its signature and its body come again, and another with another body`() throws {
    let path = "/v2/harbour/payments/1/refund"
    func call(_ body: String, key: String? = nil, spelled: String = path, later: Int64 = 0) throws -> SignedCall {
      let now = (Timestamp(rfc3339: "2026-11-21T10:00:00Z") ?? system.clock.wall.now()).adding(.seconds(later))
      let gcs = key.map { [(name: "X-GCS-Idempotence-Key", value: $0)] } ?? []
      let date = HTTPDate.text(now)
      let authorization = RequestSigner(apiKeyId: "key", secret: "secret").authorization(
        method: "POST", contentType: "", date: date, gcsHeaders: gcs, pathAndQuery: path)
      let request = try SignedRequest(
        method: "POST", target: spelled, headers: gcs + [("Date", date), ("Authorization", authorization)])
      let caller = try RequestAuthenticator().authenticate(request, secret: "secret", at: now)
      return try SignedCall(caller, of: "harbour", call: "POST \(path)", body: Array(body.utf8))
    }
    let refund = try call("10").idempotent
    #expect(try call("10").idempotent == refund)
    #expect(try call("10", spelled: "/v2/harbour/payments/%31/refund").idempotent == refund)
    for other in [try call("20"), try call("10", later: 1)] { #expect(other.idempotent.key != refund.key) }
    let keyed = try call("10", key: "k-1").idempotent
    #expect(keyed.key.rawValue == "k-1" && keyed.call == "POST \(path)")
    #expect(try call("10", key: "k-1", later: 1).idempotent == keyed)
    #expect(try call("20", key: "k-1").idempotent.requestHash != keyed.requestHash)
    for key in [String(repeating: "k", count: 41), "clé"] {
      #expect(throws: (any Error).self) { try call("10", key: key) }
    }
  }

  @Test func `is one call under its key, however its path is spelled and its payment named`() async throws {
    let shop = system.harbour
    let answer = try await Shopper.enters(system, service: "collection").pays()
    let payment = try #require(answer.body["paymentId"]?.text, "\(answer.errorText)")
    let path = "/v2/harbour/payments/\(payment)"
    let body: JSONValue = ["amountOfMoney": ["amount": 10, "currencyCode": "EUR"]]
    func refund(_ path: String, _ key: String) async throws -> JSONValue? {
      let answer = try await shop.signed("POST", path, body, at: system.clock.wall.now(), under: key)
      try #require(answer.status == 201, "\(path): \(answer.errorText)")
      return answer.body["id"]
    }
    let first = try await refund("\(path)/refund", "k-1")
    for spelled in [
      "\(path)/refund/", "\(path)//refund", "//v2/harbour/payments/\(payment)/refund", "\(path)_0/refund",
      "\(path)_1/refund", "\(path)_0001/refund//",
    ] {
      #expect(try await refund(spelled, "k-1") == first, "\(spelled)")
    }
    let unknown = try await shop.signed("POST", "/\(path)9/refund", body, at: system.clock.wall.now())
    #expect(unknown.status == 404 && unknown.body["errors"]?.elements.isEmpty == false, "\(unknown.body)")
    #expect(try await refund("\(path)/refund", "k-2") != first)
    let all = try await shop.signed("GET", "\(path)/refunds", at: system.clock.wall.now())
    #expect(all.body["refunds"]?.elements.count == 2)
  }

  @Test func `makes one hosted checkout under its key, however its path is spelled`() async throws {
    let (key, body): (String, JSONValue) = (
      RandomBytes.system.hex(8),
      [
        "order": ["amountOfMoney": ["amount": 1450, "currencyCode": "EUR"]],
        "hostedCheckoutSpecificInput": ["returnUrl": "http://localhost:8401/back"],
      ]
    )
    var made: Set<String> = []
    for path in ["/v2/harbour/hostedcheckouts", "/v2/harbour//hostedcheckouts", "/v2/harbour/hostedcheckouts/"] {
      let answer = try await system.harbour.signed("POST", path, body, at: system.clock.wall.now(), under: key)
      made.insert(try #require(answer.body["hostedCheckoutId"]?.text, "\(answer.errorText)"))
    }
    #expect(made.count == 1)
  }
}
