import Administration
import Foundation
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `A payment through every module` {
  @Test(arguments: ["harbour", "kitsune"])
  func `is captured, and journal and acquirer agree to the minor unit`(merchant: String) async throws {
    let system = try await TestSystem.shared.value
    let isHarbour = merchant == "harbour"
    var shopper = try await Shopper.enters(system, isHarbour ? system.harbour : system.kitsune)
    let home = isHarbour ? "gb-london" : "jp-tokyo"
    try await shopper.chooses(home)
    let answer = try await shopper.pays(try await shopper.payment(try await shopper.token(), contact: home))
    #expect(answer.status == 200 && answer.body["status"] == "captured", "\(answer.errorText)")
    #expect(answer.body["receipt"]?["amount"]?.text == shopper.total)

    let hold = try #require(try await shopper.holds().first)
    #expect(hold["captured"] == .integer(1500) && hold["currency"]?.text == shopper.shop.merchant.currencyCode)
    let journal = try await payment(answer.body["paymentId"]?.text, system)
    #expect(journal["captured"] == .integer(1500) && journal["authorized"] == .integer(1500))
    #expect(journal["merchant"]?.text == merchant && journal["status"] == "captured")
  }

  @Test func `of three decimals is signed, held and receipted to the third`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, amount: 1_234, currency: "KWD", service: "collection")
    #expect(shopper.total == "1.234" && shopper.request["currencyCode"]?.text == "KWD")
    let answer = try await shopper.pays(try await shopper.payment(try await shopper.token(currency: "KWD")))
    #expect(answer.body["status"] == "captured", "\(answer.errorText)")
    #expect(answer.body["receipt"]?["amount"]?.text == "1.234" && answer.body["receipt"]?["currency"]?.text == "KWD")
    let hold = try #require(try await shopper.holds().first)
    #expect(hold["captured"] == .integer(1_234) && hold["currency"]?.text == "KWD")
  }

  @Test func `gets the same answer, byte for byte, when it is sent again`() async throws {
    let shopper = try await collecting()
    let payment = try await shopper.payment(try await shopper.token())
    let first = try await shopper.pays(payment)
    let second = try await shopper.pays(payment)
    let another = try await shopper.pays(try await shopper.payment(try await shopper.token(card: "mastercard-credit")))
    let asked = try await shopper.outcome()
    #expect(first.status == 200)
    for answer in [second, another, asked] { #expect(answer.body == first.body && answer.status == 200) }
    #expect(try await shopper.holds().count == 1)
  }

  @Test func `gets the first answer also after the merchant has captured or refunded it`() async throws {
    let shopper = try await collecting()
    let payment = try await shopper.payment(try await shopper.token())
    let first = try await shopper.pays(payment)
    let id = try #require(first.body["paymentId"]?.text)
    let refund = try await admin(shopper.system).call("POST", "/payments/\(id)/refund?amount=1.00")
    #expect(refund.body["status"] == "partially_refunded", "\(refund.errorText)")
    #expect(refund.body["performed"]?.elements.first?["state"] == "approved")
    for answer in [try await shopper.pays(payment), try await shopper.outcome()] {
      #expect(answer.body == first.body && answer.status == first.status, "\(answer.errorText)")
    }
  }

  @Test func `of sixteen at once holds the money once`() async throws {
    let shopper = try await collecting()
    let payment = try await shopper.payment(try await shopper.token())
    let answers = try await withThrowingTaskGroup(of: JSONClient.Answer.self) { group in
      for _ in 0..<16 { group.addTask { try await shopper.pays(payment) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.contains { $0.status == 200 })
    #expect(answers.allSatisfy { $0.status == 200 || $0.body["code"] == "payment_in_progress" })
    #expect(try await shopper.holds().count == 1)
  }

  @Test(arguments: [
    ("visa-lost", "The card was declined. Another card may pay."),
    ("visa-insufficient-funds", "The card was declined: its account does not cover the amount. Another card may pay."),
  ])
  func `that is declined tells the page the reasons that a shopper can act upon, and no others`(
    card: String, detail: String
  ) async throws {
    let declined = try await collecting().pays(card: card)
    #expect(declined.status == 402 && declined.body["detail"]?.text == detail, "\(declined.errorText)")
  }

  @Test func `that is declined is explained in the basket's language`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection", also: ["locale": "de-AT"])
    let declined = try await shopper.pays(card: "visa-insufficient-funds")
    #expect(
      declined.body["detail"]?.text
        == "Die Karte wurde abgelehnt: Das Konto deckt den Betrag nicht. Sie können mit einer anderen Karte bezahlen.")
    #expect(try await shopper.outcome().body["detail"] == declined.body["detail"])
  }

  @Test func `that is refused says in the basket's language what the shopper can do`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection", also: ["locale": "de-AT"])
    guard case .object(var payment) = try await shopper.payment(try await shopper.token()) else { return }
    let complete = payment
    payment["shippingContact"] = ["phoneNumber": "1", "emailAddress": "a@example.com"]
    let unnamed = try await shopper.pays(.object(payment))
    #expect(unnamed.body["code"] == "contact_incomplete" && unnamed.body["detail"] == "Geben Sie einen Namen ein.")
    _ = try await shopper.shop.page.require(
      "POST", "/applepay/basket/\(shopper.basket)/update", ["paymentMethod": ["type": "credit"]])
    let stale = try await shopper.pays(.object(complete))
    #expect(stale.body["code"] == "quote_stale" && stale.status == 409)
    #expect(
      stale.body["detail"]?.text == "Die Bestellung hat sich geändert. Öffnen Sie das Bezahlfenster noch einmal.")
    #expect(try await shopper.shop.page.call("DELETE", "/applepay/payment/\(shopper.basket)").status == 204)
    let cancelled = try await shopper.pays(.object(complete))
    #expect(
      cancelled.body["detail"]?.text == "Diese Bestellung kann nicht mehr bezahlt werden. Bitte beginnen Sie von vorn.")
  }

  @Test func `of a ride is asked for with e-mail and phone, and paid with them alone`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(
      system, service: "none",
      also: [
        "serviceTypes": ["none"], "contactFields": ["email", "phone"], "zones": [], "shippingMethods": [],
        "lines": "subtotal", "fees": [["label": "Airport", "basisPoints": 1000]],
      ])
    #expect(shopper.request["requiredShippingContactFields"] == ["phone", "email"])
    #expect(shopper.request["shippingType"] == nil && shopper.total == "13.75")
    #expect(shopper.request["lineItems"]?.elements.compactMap { $0["label"]?.text } == ["Subtotal", "Airport"])
    guard case .object(var payment) = try await shopper.payment(try await shopper.token()) else { return }
    payment["shippingContact"] = ["phoneNumber": "+44 20 7946 0000"]
    let refused = try await shopper.pays(.object(payment))
    #expect(refused.body["code"] == "contact_incomplete", "\(refused.errorText)")
    payment["shippingContact"] = ["phoneNumber": "+44 20 7946 0000", "emailAddress": "a@example.com"]
    let paid = try await shopper.pays(.object(payment))
    #expect(paid.body["status"] == "captured", "\(paid.errorText)")
  }

  @Test func `after a decline is made with another card on the same basket`() async throws {
    let shopper = try await collecting()
    let declined = try await shopper.pays(card: "visa-insufficient-funds")
    #expect(declined.status == 402 && declined.body["code"] == "declined")
    #expect(try await shopper.outcome().status == 402)
    let paid = try await shopper.pays(card: "mastercard-debit")
    #expect(paid.body["status"] == "captured", "\(paid.errorText)")
    #expect(try await shopper.holds().filter { $0["captured"] == .integer(1250) }.count == 1)
  }

  @Test(arguments: [
    ("Visa 0492", "Visa 0492"), ("カード 1017", "カード 1017"), ("\u{1B}[2J", nil), ("V\u{202E}isa", nil),
    ("Visa\u{2028}0492", nil), ("Visa 4761 7390 0000 0012", nil), (" ", nil), (String(repeating: "V", count: 65), nil),
  ])
  func `names the card as the shopper saw it, without what a terminal takes for a command, and never its whole number`(
    name: String, shown: String?
  ) async throws {
    let shopper = try await collecting()
    let token = try await shopper.token(naming: ["displayName": .string(name), "network": "Vi sa", "type": "gold"])
    let paid = try await shopper.pays(try await shopper.payment(token))
    #expect(paid.body["card"]?.text == shown && paid.body["cardType"] == nil, "\(paid.errorText)")
    #expect(paid.body["cardNetwork"] == "Visa", "of the device account number")
    let listed = try await payment(paid.body["paymentId"]?.text, shopper.system)["card"]?.text
    #expect(listed?.hasPrefix((shown.map { "\($0) (" } ?? "") + "device ") == true, "\(listed ?? "nil")")
  }

  @Test(arguments: [1250, 2099])
  func `names Apple's transaction and the card to the page, the merchant and the operator, whenever they ask`(
    amount: Int64
  ) async throws {
    let shopper = try await collecting(amount: amount)
    let start = shopper.system.clock.wall.now()
    let token = try await shopper.token()
    let transaction = try #require(token["paymentData"]?["header"]?["transactionId"])
    let paid = try await shopper.pays(try await shopper.payment(token))
    // The second amount is answered as pending, and recovered.
    let id = try #require(paid.body["paymentId"]?.text)
    // The journal's view is there for the failure: it tells which operation is missing or was refused.
    let reloaded = try await waitFor(
      "a captured payment",
      { (try await shopper.outcome(), journal: try await payment(id, shopper.system)) }
    ) { $0.0.body["status"] == "captured" }.0
    func names(_ answer: JSONValue?, _ place: String) {
      #expect(answer?["transactionIdentifier"] == transaction, "\(place)")
      #expect(answer?["cardType"] == "debit", "\(place)")
      #expect(answer?["card"]?.text?.hasPrefix("Visa 0492") == true, "\(place)")
    }
    names(paid.body, "the page")
    names(reloaded.body, "the page after a reload")
    let operators = try await payment(id, shopper.system)
    names(operators, "the operator")
    let order = try await asked("/v2/harbour/baskets/\(shopper.basket)", shopper)["order"]
    names(order, "the order's look-up")
    for answer in [paid.body, reloaded.body, operators, order] { #expect(answer?["cardNetwork"] == "Visa") }
    let found = try await asked("/v2/harbour/payments/\(id)_0", shopper)
    names(found["tender"], "the payment's look-up")
    #expect(found["paymentOutput"]?["mobilePaymentMethodSpecificOutput"]?["network"] == "Visa")
    // Page by page: the other tests' payments have events too.
    var place = "since=\(start)"
    let event = try await waitFor(
      "an event of the payment",
      {
        let page = try await asked("/v2/harbour/events?\(place)&limit=100", shopper)
        if let cursor = page["cursor"]?.text { place = "cursor=\(cursor)" }
        return page["events"]?.elements.first { $0["tender"]?["paymentId"]?.text == id }
      }
    ) { $0 != nil }
    names(event?["tender"], "the event")
    #expect(event?["tender"]?["cardNetwork"] == "Visa")
  }

  @Test func `of an estimate tells the page what is held and which lines are pending, also after a reload`()
    async throws
  {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(
      system, amount: 0, service: "none", capture: "manual",
      also: ["serviceTypes": ["none"], "zones": [], "shippingMethods": [], "pending": true, "estimate": 5_000])
    let lines: JSONValue = [
      ["amount": "0.00", "label": "Fish and chips", "type": "pending"],
      ["amount": "50.00", "label": "Held on your card", "type": "final"],
    ]
    #expect(shopper.request["lineItems"] == lines && shopper.request["total"]?["type"] == "pending")
    let paid = try await shopper.pays()
    let receipt = paid.body["receipt"]
    #expect(receipt?["amount"] == "50.00" && receipt?["estimated"] == .bool(true), "\(paid.errorText)")
    #expect(receipt?["lines"]?.elements.map { $0["pending"] } == [.bool(true)])
    #expect(try await shopper.outcome().body["receipt"] == receipt)
  }

  @Test func `that is cancelled first is refused, and after paying it cannot be cancelled`() async throws {
    let shopper = try await collecting()
    let payment = try await shopper.payment(try await shopper.token())
    #expect(try await shopper.shop.page.call("DELETE", "/applepay/payment/\(shopper.basket)").status == 204)
    #expect(try await shopper.pays(payment).body["code"] == "basket_cancelled")
    #expect(try await shopper.holds().isEmpty)

    let other = try await collecting()
    #expect(try await other.pays().status == 200)
    let late = try await other.shop.page.call("DELETE", "/applepay/payment/\(other.basket)")
    #expect(late.status == 409 && late.body["code"] == "basket_placed")
  }

  /// Recovery resolves it after a second, before or after the second card comes; the answer is the first payment's
  /// either way.
  @Test func `that is not decided yet is pending, never declined, and blocks a second charge`() async throws {
    let shopper = try await collecting(amount: 2099)
    let answer = try await shopper.pays()
    #expect(answer.status == 202 && answer.body["status"] == "pending")
    let second = try await shopper.pays(card: "mastercard-credit")
    #expect(
      second.body["code"] == "payment_in_progress" || second.body["paymentId"] == answer.body["paymentId"],
      "\(second.errorText)")
    #expect(try await shopper.holds().count == 1)
  }

  @Test func `gives a guest a token that verifies against the published keys`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await collecting()
    let token = try #require(try await shopper.pays().body["guestToken"]?.text)
    let keys = try await JSONClient(system.server, sender: system.sender).require("GET", "/applepay/jwks.json")
    #expect(try GuestTokenVerifier(keys).claims(of: token)["basket"]?.text == shopper.basket)
    #expect(throws: (any Error).self) {
      try GuestTokenVerifier(keys).claims(of: token.replacing(".", with: ".e", maxReplacements: 1))
    }
  }

  private func collecting(amount: Int64 = 1250) async throws -> Shopper {
    try await Shopper.enters(try await TestSystem.shared.value, amount: amount, service: "collection")
  }

  private func asked(_ path: String, _ shopper: Shopper) async throws -> JSONValue {
    try await shopper.shop.signed("GET", path, at: shopper.system.clock.wall.now()).body
  }

  /// From the admin socket, where the command line asks.
  private func payment(_ id: String?, _ system: TestSystem) async throws -> JSONValue {
    try await admin(system).require("GET", "/payments/\(id ?? "")")
  }

  private func admin(_ system: TestSystem) -> JSONClient {
    let socket = (system.directory + "/tender.db.sock").replacingOccurrences(of: "/", with: "%2F")
    return JSONClient("http+unix://\(socket)", sender: system.sender)
  }
}
