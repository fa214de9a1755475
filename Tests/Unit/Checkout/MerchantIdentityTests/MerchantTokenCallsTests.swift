import HTTPTransport
import MerchantIdentity
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// Apple's gateway, which answers every call alike and keeps what it was asked.
private final class TokenGateway: Sendable {
  private let sent = Mutex<[OutboundRequest]>([])
  private let answer: Result<InboundResponse, TransportError>
  private let hosts: ApplePayHosts

  init(_ status: Int, _ body: String, at hosts: ApplePayHosts = .production) {
    answer = .success(InboundResponse(status: status, body: Array(body.utf8)))
    self.hosts = hosts
  }

  init(failing error: TransportError) { (answer, hosts) = (.failure(error), .production) }

  var requests: [OutboundRequest] { sent.withLock(\.self) }

  var calls: MerchantTokenCalls {
    MerchantValidator(
      sender: HTTPSender { [self] request, _ throws(TransportError) in
        sent.withLock { $0.append(request) }
        return try answer.get()
      }, gateway: hosts.global
    ).merchantTokens
  }
}

@Suite struct `Asking Apple about a merchant token` {
  private static let merchant = "merchant.com.example.store"
  private static let unlink = #"{"eventType":"UNLINK","merchantTokenIdentifier":"MT-1","reason":"user"}"#

  private func ask(
    _ gateway: TokenGateway, as merchant: String = merchant
  ) async throws -> MerchantTokenCalls.Answer<MerchantTokenNews> {
    try await gateway.calls.news(of: "e-1", to: MerchantIdentifier(merchant), request: "r-1")
  }

  private func news(_ body: String) async throws -> MerchantTokenNews {
    guard case .given(let news) = try await ask(TokenGateway(200, body)) else { throw Unexpected() }
    return news
  }

  @Test func `goes to the gateway of the merchant sessions, with Apple's headers`() async throws {
    let gateway = TokenGateway(200, Self.unlink)
    _ = try await ask(gateway)
    let sent = try #require(gateway.requests.first)
    #expect(
      sent.url == "https://apple-pay-gateway.apple.com/paymentservices/v1/merchantId/merchant.com.example.store"
        + "/merchantToken/event/e-1")
    #expect(sent.method == "GET" && sent.body.isEmpty)
    for field in [
      HTTPField("Content-Type", "application/json"), HTTPField("Accept", "application/json"),
      HTTPField("x-request-id", "r-1"),
    ] { #expect(sent.headers.contains(field)) }
  }

  @Test func `goes to the sandbox's host in its environment`() async throws {
    let gateway = TokenGateway(200, Self.unlink, at: .appleSandbox)
    _ = try await ask(gateway)
    #expect(gateway.requests.first?.url.hasPrefix("https://apple-pay-gateway-cert.apple.com/") == true)
  }

  @Test func `names a merchant with more than 64 letters by its hash`() async throws {
    let gateway = TokenGateway(200, Self.unlink)
    let long = "merchant.com." + String(repeating: "a", count: 60)
    _ = try await ask(gateway, as: long)
    let hash = try MerchantIdentifier(long).uppercaseHexHash
    #expect(gateway.requests.first?.url.contains("/merchantId/\(hash)/") == true)
  }

  @Test func `reads what has happened, and whom it comes from`() async throws {
    let news = try await news(Self.unlink)
    #expect((news.kind, news.token, news.reason, news.party) == (.unlinked, "MT-1", "user", .shopper))
    let issuer = try await self.news(
      #"{"eventType":"UNLINK","merchantTokenIdentifier":"MT-1","reason":"ISSUER_REQUEST"}"#)
    #expect(issuer.party == .issuer)
  }

  @Test func `reads the card, bounded and without what a page should not show`() async throws {
    let news = try await news(
      #"{"eventType":"UPDATED_METADATA","merchantTokenIdentifier":"MT-1","reason":"a\nb","merchantTokenMetadata":"#
        + #"{"cardArt":[],"cardMetadata":{"fpanSuffix":"143799","expirationDate":"12/2034","cardCountry":"IE","#
        + #""shortDescription":"Visa\u202E credit"}}}"#)
    #expect(news.kind == .cardChanged && news.reason == "ab")
    #expect(
      news.card == MerchantTokenCard(suffix: "1437", expiry: "12/2034", name: "Visa credit", country: "IE"))
  }

  @Test(arguments: [
    ("UPDATED_CARD_ART", MerchantTokenNews.Kind.cardArtChanged),
    ("UPDATED_MERCHANT_TOKEN_PUBLIC_KEY", MerchantTokenNews.Kind.publicKeyChanged),
    ("METADATA_UPDATE", MerchantTokenNews.Kind.other), ("x", MerchantTokenNews.Kind.other),
  ])
  func `takes every type`(_ type: String, _ kind: MerchantTokenNews.Kind) async throws {
    #expect(try await news(#"{"eventType":"\#(type)","merchantTokenIdentifier":"MT-1"}"#).kind == kind)
  }

  @Test(arguments: ["", "[]", "{}", #"{"eventType":"UNLINK"}"#, #"{"eventType":1,"merchantTokenIdentifier":"MT-1"}"#])
  func `asks again after an answer that is no event`(_ body: String) async throws {
    guard case .unavailable = try await ask(TokenGateway(200, body)) else { throw Unexpected() }
  }

  @Test(arguments: [400, 404]) func `asks no more where Apple has no such event`(_ status: Int) async throws {
    let answer = try await ask(TokenGateway(status, #"{"statusCode":400,"statusMessage":"no\u001b event"}"#))
    guard case .refused(let words) = answer else { throw Unexpected() }
    #expect(words == "\(status) no event")
  }

  @Test(arguments: [302, 401, 403, 417, 429, 500, 503]) func `asks again after any other`(_ status: Int) async throws {
    guard case .unavailable = try await ask(TokenGateway(status, "")) else { throw Unexpected() }
  }

  @Test func `asks again where Apple cannot be reached`() async throws {
    for error in [TransportError.notSent("no"), .interrupted("no"), .timedOut, .responseTooLarge] {
      guard case .unavailable = try await ask(TokenGateway(failing: error)) else { throw Unexpected() }
    }
  }

  @Test func `tells that a token is charged no more`() async throws {
    let gateway = TokenGateway(204, "")
    guard case .given = try await gateway.calls.unlink("MT-1", of: MerchantIdentifier(Self.merchant), request: "r-2")
    else { throw Unexpected() }
    let sent = try #require(gateway.requests.first)
    #expect(sent.method == "POST" && sent.url.hasSuffix("/\(Self.merchant)/merchantToken/unlink"))
    #expect(String(decoding: sent.body, as: UTF8.self) == #"{"merchantTokenIdentifier":"MT-1"}"#)
  }
}

private struct Unexpected: Error {}
