import Administration
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// A shopper who agreed to a subscription, the merchant who charges it, and Apple, which the sandbox plays.
private struct Subscriber {
  let system: TestSystem
  let shop: Shopfront
  let agreement: String
  let payment: String
  /// Apple's name of the merchant token.
  let token: String
  /// Where Apple reports.
  let notificationURL: String

  /// - Parameter card: each gives one merchant token to a merchant.
  static func subscribes(_ system: TestSystem, _ shop: Shopfront, card: String) async throws -> Subscriber {
    let shopper = try await Shopper.enters(
      system, shop, service: "collection",
      also: [
        "agreement": [
          "description": "Vegetable box", "managementURL": "https://harbour.example/box",
          "recurring": [
            "regular": ["label": "Box", "amount": 1250, "interval": ["unit": "minute", "count": 1]]
          ],
        ]
      ])
    let shown = try #require(shopper.request["recurringPaymentRequest"])
    let url = try #require(shown["tokenNotificationURL"]?.text)
    let payment = try await shopper.payment(
      try await system.sandbox.require(
        "POST", "/device/tokens",
        [
          "cardId": .string(card), "merchantSession": try await shopper.session(), "amount": .string(shopper.total),
          "currency": "EUR", "applicationData": shopper.request["applicationData"] ?? .null, "agreement": true,
          "agreementText": "Vegetable box", "tokenNotificationURL": .string(url),
        ], headers: [.init("Origin", shop.origin)]))
    let paid = try await shopper.pays(payment)
    try #require(paid.body["status"] == "captured", "\(paid.errorText)")
    let agreements = try await system.ask(shop, "GET", "/agreements")["agreements"]?.elements ?? []
    let agreement = try #require(agreements.first { $0["merchantReference"]?.text == shopper.reference })
    let given = try await system.sandbox.require("GET", "/agreements/list").elements
    let token = given.first { $0["merchantIdentifier"]?.text == shop.merchant.merchantIdentifier }
    return Subscriber(
      system: system, shop: shop, agreement: try #require(agreement["id"]?.text),
      payment: try #require(agreement["paymentId"]?.text),
      token: try #require(token?["merchantTokenIdentifier"]?.text), notificationURL: url)
  }

  func shown() async throws -> JSONValue { try await system.ask(shop, "GET", "/agreements/\(agreement)") }

  func happens(_ event: String, by party: String = "user", _ delivery: String = "at_once") async throws {
    _ = try await system.sandbox.require(
      "POST", "/agreements/\(token)",
      ["event": .string(event), "by": .string(party), "delivery": .string(delivery)])
  }

  /// As Apple sees it.
  func atApple() async throws -> JSONValue {
    let all = try await system.sandbox.require("GET", "/agreements/list").elements
    return try #require(all.first { $0["merchantTokenIdentifier"]?.text == token })
  }

  func charges() async throws -> JSONClient.Answer {
    try await shop.signed(
      "POST", "/v2/\(shop.merchant.id)/payments/\(payment)/subsequent",
      [
        "order": ["references": ["merchantReference": "again"]],
        "subsequentcardPaymentMethodSpecificInput": ["subsequentType": "Recurring"],
      ], at: system.clock.wall.now())
  }

  func waits(_ wanted: String, _ condition: @escaping (JSONValue) -> Bool) async throws -> JSONValue {
    try await waitFor(wanted, { try await shown() }, until: condition)
  }
}

extension TestSystem {
  fileprivate func ask(_ shop: Shopfront, _ method: String, _ path: String) async throws -> JSONValue {
    let answer = try await shop.signed(method, "/v2/\(shop.merchant.id)\(path)", at: clock.wall.now())
    try #require(answer.status == 200, "\(answer.errorText)")
    return answer.body
  }

  fileprivate func events(_ type: String, of agreement: String) -> Int {
    webhooks.text.split(separator: "\n").count { $0.contains("\"\(type)\"") && $0.contains(agreement) }
  }
}

@Suite(.serialized) struct `A merchant token's life at Apple` {
  private let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  @Test func `ends with the card in the wallet: the agreement is charged no more, and the merchant is told`()
    async throws
  {
    let subscriber = try await Subscriber.subscribes(system, system.harbour, card: "visa-credit")
    #expect(subscriber.notificationURL.hasSuffix("/applepay/merchants/harbour"))
    try await subscriber.happens("UPDATED_METADATA", by: "issuer", "twice")
    let described = try await subscriber.waits("the card") { $0["merchantToken"] != nil }
    #expect(described["merchantToken"]?["cardSuffix"] == "1437" && described["status"] == "active")
    try await subscriber.happens("UNLINK")
    let ended = try await subscriber.waits("the end") { $0["status"] == "ended" }
    let last = try #require(ended["history"]?.elements.last)
    #expect(last["event"] == "ended" && last["by"] == "shopper" && last["reason"] == "Apple unlinked it: user")
    #expect(ended["history"]?.elements.compactMap { $0["event"]?.text } == ["begun", "card_updated", "ended"])
    #expect(ended["merchantToken"]?["unlinking"] == "done")
    let refused = try await subscriber.charges()
    #expect(refused.status == 409 && refused.errorText.contains("AGREEMENT_NOT_ACTIVE"), "\(refused.errorText)")
    try await waitUntil("the merchant was told") { system.events("agreement.ended", of: subscriber.agreement) > 0 }
    #expect(system.events("agreement.ended", of: subscriber.agreement) == 1)
    #expect(system.events("agreement.card_updated", of: subscriber.agreement) == 1)
  }

  @Test func `follows events of every kind, whatever their order`() async throws {
    let subscriber = try await Subscriber.subscribes(system, system.harbour, card: "mastercard-credit")
    try await subscriber.happens("UPDATED_METADATA", by: "issuer", "out_of_order")
    try await subscriber.happens("UPDATED_SOMETHING_ELSE", by: "issuer")
    try await subscriber.happens("UPDATED_MERCHANT_TOKEN_PUBLIC_KEY")
    let described = try await subscriber.waits("the card") { $0["merchantToken"] != nil }
    #expect(described["merchantToken"]?["cardSuffix"] == "2582" && described["status"] == "active")
    try await waitUntil("all were acknowledged") {
      try await subscriber.atApple()["events"]?.elements.allSatisfy { $0["acknowledged"] == 1 } == true
    }
  }

  @Test func `ends at Apple when the merchant ends the agreement`() async throws {
    let subscriber = try await Subscriber.subscribes(system, system.harbour, card: "amex-credit")
    let answer = try await subscriber.shop.signed(
      "DELETE", "/v2/harbour/tokens/\(subscriber.agreement)", at: system.clock.wall.now())
    #expect(answer.status == 204)
    try await waitUntil("Apple knows it") { try await subscriber.atApple()["unlinkedBy"] == "merchant" }
    let ended = try await subscriber.waits("it is written") { $0["merchantToken"]?["unlinking"] == "done" }
    #expect(ended["status"] == "ended")
  }

  @Test func `is not changed by a notification that Apple did not send`() async throws {
    let subscriber = try await Subscriber.subscribes(system, system.harbour, card: "mastercard-credit")
    let event = RandomBytes.system.hex(16)
    let path = "/applepay/merchants/harbour/notification/merchantToken/\(event)"
    for _ in 1...3 {
      #expect(try await JSONClient(system.server, sender: system.sender).call("GET", path).status == 200)
    }
    try await waitUntil("Apple was asked") {
      system.log.text.split(separator: "\n").contains { $0.contains(event) && $0.contains("knows no such") }
    }
    #expect(try await subscriber.shown()["status"] == "active")
  }
}

@Suite struct `The address of Apple's notifications` {
  private let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  private func call(
    _ event: String, merchant: String = "kitsune", method: String = "GET"
  ) async throws -> JSONClient.Answer {
    try await JSONClient(system.server, sender: system.sender).call(
      method, "/applepay/merchants/\(merchant)/notification/merchantToken/\(event)")
  }

  @Test(arguments: [
    "..", ".", "%2e%2e", "a%2Fb", "a%00", "a%0d%0ab", "-a", "a;b", "a:b", "a@b", "%C3%A4", "a%20b", "'--",
    "a'OR'1'='1", "%", "%zz", String(repeating: "x", count: 129), String(repeating: "x", count: 4_000),
  ])
  func `takes no odd name`(_ event: String) async throws {
    let answer = try await call(event)
    #expect([400, 404, 414].contains(answer.status), "\(event) \(answer.status)")
  }

  @Test func `is that of merchants here, and of one method`() async throws {
    #expect(try await call("e-1", merchant: "nobody").status == 404)
    #expect(try await call("e-1", method: "POST").status == 405)
    #expect(try await call("e-1", method: "DELETE").status == 405)
  }

  @Test func `says when to come again where they come too fast`() async throws {
    var refused: JSONClient.Answer?
    while refused == nil {
      let answers = try await withThrowingTaskGroup(of: JSONClient.Answer.self) { group in
        for _ in 1...64 { group.addTask { try await call(RandomBytes.system.hex(16)) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.allSatisfy { [200, 429].contains($0.status) })
      refused = answers.first { $0.status == 429 }
    }
    #expect(refused?.body["code"] == "quota_exceeded")
    #expect(refused?.headers.first(named: "Retry-After") != nil)
  }

  @Test func `is limited in rate, and each merchant's by itself`() {
    let clock = ManualClock()
    let start = clock.now
    let quotas = Quotas(.init(), uptime: { clock.now.since(start) })
    func taken(_ merchant: MerchantID) -> Int {
      (0..<5_000).prefix { _ in quotas.takeNotification(to: merchant) == nil }.count
    }
    #expect(taken("a") == 201 && taken("b") == 201)
    clock.advance(.seconds(1))
    #expect(taken("a") == 20)
    for number in 0..<10 { _ = taken(MerchantID("m-\(number)")) }
    #expect(taken("z") == 0)
  }
}
