import Administration
import DirectWire
import HTTPTransport
import Logging
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `A hosted checkout` {
  let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  @Test func `is paid on the platform's page, and the merchant sees the payment`() async throws {
    let shopper = try await HostedShopper.enters(system)
    #expect(shopper.redirectURL == "http://\(TestSystem.hostedDomain)/hosted/\(shopper.id)")
    #expect(shopper.id.utf8.count == 32 && shopper.returnMAC.utf8.count == 32)
    #expect(try await shopper.status()["status"] == "IN_PROGRESS")
    let paid = try await shopper.pays()
    #expect(paid.body["status"] == "captured", "\(paid.errorText)")
    let status = try await shopper.status()
    #expect(status["status"] == "PAYMENT_CREATED")
    let output = status["createdPaymentOutput"]
    #expect(output?["paymentStatusCategory"] == "SUCCESSFUL" && output?["payment"]?["status"] == "CAPTURED")
    #expect(output?["payment"]?["hostedCheckoutSpecificOutput"]?["hostedCheckoutId"]?.text == shopper.id)
    #expect(output?["payment"]?["paymentOutput"]?["references"]?["merchantReference"] == "M-7")
    let page = try await shopper.load().text
    let transaction = try #require(paid.body["transactionIdentifier"]?.text)
    #expect(page.contains("data-result=\"paid\""))
    #expect(page.contains("Card: <bdi>Visa 0492</bdi>") && page.contains("<bdi>\(transaction)</bdi>"), "\(page)")
    #expect(output?["payment"]?["tender"]?["transactionIdentifier"]?.text == transaction)
  }

  @Test func `asks for its session in the merchant's name, under the platform's identity`() async throws {
    let shopper = try await HostedShopper.enters(system, "bazaar")
    let before = system.callsToApple.count(of: "\"merchantIdentifier\":\"bazaar\"")
    _ = try await shopper.token()
    #expect(system.callsToApple.count(of: "\"merchantIdentifier\":\"bazaar\",\"displayName\":\"Bazaar\"") == before + 1)
    let metadata = try await shopper.api.require("GET", "/applepay/metadata")
    #expect(metadata["merchantIdentifier"] == "bazaar" && metadata["enabled"] == .bool(true))
  }

  @Test func `is one under one key, however often and at once it is made`() async throws {
    let key = RandomBytes.system.hex(16)
    let answers = try await withThrowingTaskGroup(of: JSONClient.Answer.self) { group in
      for _ in 0..<6 { group.addTask { [system] in try await HostedShopper.create(system, key: key) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.allSatisfy { $0.status == 201 } && Set(answers.map(\.body)).count == 1, "\(answers)")
    // Worldline's rule: the first outcome, also for another body.
    let other = try await HostedShopper.create(
      system, input: ["tokens": .null], order: ["amountOfMoney": ["amount": 1, "currencyCode": "EUR"]], key: key)
    #expect(other.body == answers[0].body)
    #expect(try await HostedShopper.create(system).body["hostedCheckoutId"] != other.body["hostedCheckoutId"])
    let foreign = try await HostedShopper.create(system, "bazaar", key: key)
    #expect(foreign.status == 201 && foreign.body["hostedCheckoutId"] != other.body["hostedCheckoutId"])
  }

  @Test func `is named by its payment, with the merchant's own parameters`() async throws {
    let shopper = try await HostedShopper.enters(
      system, input: ["variant": "band"],
      order: ["references": ["merchantReference": "M-8", "merchantParameters": "p=8"]])
    _ = try await shopper.pays()
    let id = try #require(try await shopper.status()["createdPaymentOutput"]?["payment"]?["id"]?.text)
    for resource in ["payments/\(id)", "payments/\(id)/details"] {
      let payment = try await HostedShopper.signed(system, "market", "GET", resource).body
      #expect(payment["hostedCheckoutSpecificOutput"]?["hostedCheckoutId"]?.text == shopper.id, "\(payment)")
      #expect(payment["hostedCheckoutSpecificOutput"]?["variant"] == "band")
      let references = payment["paymentOutput"]?["references"]
      #expect(references?["merchantReference"] == "M-8" && references?["merchantParameters"] == "p=8")
    }
  }

  @Test func `has events with the merchant's own parameters, for a shopper who does not come back`() async throws {
    let start = system.clock.wall.now()
    let shopper = try await HostedShopper.enters(
      system, order: ["references": ["merchantReference": "M-9", "merchantParameters": "p=9"]])
    _ = try await shopper.pays()
    let own = try await waitFor("the events of the checkout") {
      let answer = try await HostedShopper.signed(system, "market", "GET", "events?since=\(start)&limit=100")
      return (answer.body["events"]?.elements ?? []).filter { $0["tender"]?["basketId"]?.text == shopper.id }
    } until: {
      $0.count >= 3
    }
    for event in own {
      let output = event["payment"]?["paymentOutput"]
      #expect(output?["references"]?["merchantReference"] == "M-9", "\(event)")
      #expect(output?["references"]?["merchantParameters"] == "p=9" && output?["merchantParameters"] == "p=9")
      #expect(event["payment"]?["hostedCheckoutSpecificOutput"]?["hostedCheckoutId"]?.text == shopper.id)
    }
  }

  @Test func `is authorized alone unless the merchant asks for a sale`() async throws {
    let shopper = try await HostedShopper.enters(system, mode: "PRE_AUTHORIZATION")
    #expect(try await shopper.pays().body["status"] == "authorized")
    #expect(try await shopper.status()["createdPaymentOutput"]?["payment"]?["status"] == "PENDING_CAPTURE")
    #expect(try await shopper.load().text.contains("is reserved on your card"))
  }

  /// Both merchants' tokens are encrypted to the platform's key, come from one domain and are of one amount: nothing
  /// but the application data tells them apart.
  @Test func `is not paid with the payment token of another merchant's`() async throws {
    let (mine, other) = (try await HostedShopper.enters(system), try await HostedShopper.enters(system, "bazaar"))
    let token = try await mine.token()
    let refused = try await other.pays(token)
    #expect(refused.status == 422 && refused.body["code"] == "application_data_mismatch", "\(refused.errorText)")
    #expect(try await other.status()["status"] == "IN_PROGRESS")
    let second = try await HostedShopper.enters(system)
    #expect(try await second.pays(token).body["code"] == "application_data_mismatch")
    #expect(try await mine.pays(token).body["status"] == "captured")
  }

  @Test func `is not paid with a token that names the domain or nothing`() async throws {
    let shopper = try await HostedShopper.enters(system)
    let domain = try await shopper.token(applicationData: .string(Base64.encode(Array("pay.localhost".utf8))))
    #expect(try await shopper.pays(domain).body["code"] == "application_data_mismatch")
    let nothing = try await shopper.token(applicationData: .null)
    #expect(try await shopper.pays(nothing).body["code"] == "application_data_missing")
  }

  @Test func `is declined, and paid with another card`() async throws {
    let shopper = try await HostedShopper.enters(system)
    #expect(try await shopper.pays(card: "visa-insufficient-funds").status == 402)
    let page = try await shopper.load().text
    #expect(page.contains("The last card was declined") && page.contains("9 attempts left."))
    #expect(try await shopper.status()["status"] == "IN_PROGRESS")
    #expect(try await shopper.pays().body["status"] == "captured")
    #expect(try await shopper.status()["createdPaymentOutput"]?["paymentStatusCategory"] == "SUCCESSFUL")
  }

  @Test func `ends with its last attempt`() async throws {
    let shopper = try await HostedShopper.enters(system, input: ["allowedNumberOfPaymentAttempts": 1])
    let another = try await shopper.token()
    #expect(try await shopper.pays(card: "visa-insufficient-funds").status == 402)
    let refused = try await shopper.pays(another)
    #expect(refused.status == 409 && refused.body["code"] == "attempts_used_up", "\(refused.errorText)")
    let status = try await shopper.status()
    #expect(status["status"] == "PAYMENT_CREATED")
    #expect(status["createdPaymentOutput"]?["paymentStatusCategory"] == "REJECTED")
    #expect(status["createdPaymentOutput"]?["payment"]?["status"] == "REJECTED")
    #expect(try await shopper.load().text.contains("data-result=\"refused\""))
  }

  @Test func `is cancelled, and the browser takes the mark back to the merchant`() async throws {
    let shopper = try await HostedShopper.enters(system)
    let token = try await shopper.token()
    #expect(try await shopper.location("/cancel", "POST") == "/hosted/\(shopper.id)/return")
    #expect(
      try await shopper.location("/return")
        == "http://localhost:8401/back?order=7&RETURNMAC=\(shopper.returnMAC)&hostedCheckoutId=\(shopper.id)")
    let status = try await shopper.status()
    #expect(status["status"] == "CANCELLED_BY_CONSUMER")
    let payment = status["createdPaymentOutput"]?["payment"]
    #expect(payment?["id"]?.text == "\(shopper.id)_0" && payment?["status"] == "CANCELLED", "\(status)")
    #expect(payment?["statusOutput"]?["statusCode"] == 1)
    #expect(payment?["paymentOutput"]?["references"]?["merchantReference"] == "M-7")
    #expect(status["createdPaymentOutput"]?["paymentStatusCategory"] == "REJECTED")
    #expect(try await shopper.load().text.contains("data-result=\"cancelled\""))
    let late = try await shopper.api.call(
      "POST", "/applepay/payment", ["basketId": .string(shopper.id), "quoteId": "q", "token": token])
    #expect(late.body["code"] == "basket_cancelled")
  }

  @Test func `that was paid is not cancelled any more`() async throws {
    let shopper = try await HostedShopper.enters(system)
    _ = try await shopper.pays()
    _ = try await shopper.location("/cancel", "POST")
    #expect(try await shopper.status()["createdPaymentOutput"]?["paymentStatusCategory"] == "SUCCESSFUL")
  }

  @Test func `leads back only when it has ended, and only where the merchant says`() async throws {
    let shopper = try await HostedShopper.enters(system)
    #expect(try await shopper.location("/return?returnUrl=https://evil.example") == "/hosted/\(shopper.id)")
    _ = try await shopper.pays()
    #expect(
      try await shopper.location("/return?returnUrl=https://evil.example").hasPrefix("http://localhost:8401/back?"))
  }

  @Test func `without a result page leads back by itself`() async throws {
    let shopper = try await HostedShopper.enters(system, input: ["showResultPage": .bool(false)])
    #expect(try await shopper.load().status == 200)
    _ = try await shopper.pays()
    #expect(try await shopper.location("").hasPrefix("http://localhost:8401/back?order=7&RETURNMAC="))
  }

  @Test func `takes two shoppers on one page, and charges once`() async throws {
    let shopper = try await HostedShopper.enters(system)
    let (first, second) = (try await shopper.token(), try await shopper.token(card: "mastercard-credit"))
    async let one = shopper.pays(first)
    async let two = shopper.pays(second)
    let answers = [try await one, try await two]
    #expect(answers.contains { $0.body["status"] == "captured" })
    let holds = try await system.sandbox.require(
      "GET", "/acquirer/v1/authorizations", headers: [.init("Authorization", "Bearer \(try await acquirerKey())")])
    let payment = try await shopper.status()["createdPaymentOutput"]?["payment"]?["id"]?.text
    #expect(payment != nil && holds["authorizations"] != nil)
    #expect(Set(answers.compactMap { $0.body["paymentId"]?.text }).count == 1)
  }

  private func acquirerKey() async throws -> String {
    try #require(try await system.sandbox.require("GET", "/sandbox/ca.json")["acquirerKey"]?.text)
  }

  @Test func `of another merchant is unknown to a merchant`() async throws {
    let shopper = try await HostedShopper.enters(system)
    let foreign = try await HostedShopper.signed(system, "bazaar", "GET", "hostedcheckouts/\(shopper.id)")
    #expect(foreign.status == 404 && foreign.body["errors"]?.elements.first?["id"] == "CHECKOUT_UNKNOWN")
    let link = try await HostedShopper.signed(system, "market", "GET", "paymentlinks/\(shopper.id)")
    #expect(link.status == 404)
  }

  @Test func `answers about its own basket alone`() async throws {
    let (mine, other) = (try await HostedShopper.enters(system), try await HostedShopper.enters(system))
    let foreign = try await mine.api.call("GET", "/applepay/basket/\(other.id)")
    #expect(foreign.status == 404 && foreign.body["code"] == "basket_unknown")
    let payment = try await mine.api.call(
      "POST", "/applepay/payment",
      ["basketId": .string(other.id), "quoteId": "q", "token": try await other.token()])
    #expect(payment.body["code"] == "basket_unknown")
  }

  @Test(arguments: ["0123456789abcdef0123456789abcdef", "x", "..%2f..%2fetc", "'--"])
  func `with a guessed id is a page that says so`(_ id: String) async throws {
    let page = try await HostedShopper.load(
      system, "/hosted/\(id)", headers: [HTTPField("Accept-Language", "xx, de-AT;q=0.9")])
    #expect(page.status == 404 && page.text.contains("Diese Seite gibt es nicht"))
  }

  @Test func `is shown on no merchant's domain`() async throws {
    let shopper = try await HostedShopper.enters(system)
    for domain in [TestSystem.harbourMerchant.domains[0], TestSystem.stallMerchant.domains[0]] {
      #expect(try await HostedShopper.load(system, "/hosted/\(shopper.id)", host: domain).status == 404)
    }
  }

  @Test func `continues on a phone with a code that works once`() async throws {
    let shopper = try await HostedShopper.enters(system)
    let answer = try await shopper.load("/handover", "POST", headers: [HTTPField("Accept", "application/json")])
    let code = try JSONReader.read(Array(answer.text.utf8))
    let picture = try #require(code["picture"]?.text)
    #expect(try await HostedShopper.load(system, picture).text.hasPrefix("<svg"))
    let path = "/hosted-continue/" + picture.dropFirst("/hosted-codes/".count).dropLast(".svg".count)
    let arrival = try await HostedShopper.load(system, path)
    #expect(arrival.status == 303)
    #expect(arrival.headers.contains { $0.value == "/hosted/\(shopper.id)" })
    #expect(try await HostedShopper.load(system, path).status == 410)
    #expect(try await HostedShopper.load(system, picture).status == 404)
    #expect(try await HostedShopper.load(system, "/hosted-continue/0123456789abcdef0123456789abcdef").status == 410)
  }

  @Test func `shows every text of the merchant as text`() async throws {
    let evil = "<script>alert(1)</script>\"'&"
    let shopper = try await HostedShopper.enters(
      system, input: ["variant": "band"],
      order: [
        "references": ["merchantReference": .string(evil)],
        "shoppingCart": [
          "items": [
            [
              "amountOfMoney": ["amount": 1450, "currencyCode": "EUR"],
              "orderLineDetails": ["productName": .string(evil + evil), "productPrice": 1450, "quantity": 1],
            ]
          ]
        ],
      ])
    let page = try await shopper.load()
    #expect(page.status == 200 && !page.text.contains("<script>alert") && !page.text.contains("<b>Hall"))
    #expect(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
  }

  @Test func `has a page whose policy allows no inline script, no stranger and no frame`() async throws {
    let shopper = try await HostedShopper.enters(system)
    let page = try await shopper.load()
    let header = { (name: String) in page.headers.first { $0.name.lowercased() == name }?.value ?? "" }
    let policy = header("content-security-policy")
    #expect(policy.hasPrefix("default-src 'none'; script-src 'self' \(system.sandbox.base); style-src 'self'"))
    #expect(!policy.contains("unsafe") && !policy.contains("*") && policy.contains("frame-ancestors 'none'"))
    #expect(policy.contains("form-action 'self' http://localhost:8401;"))
    #expect(header("cache-control") == "no-store" && header("set-cookie").isEmpty)
    #expect(!page.text.contains("style=") && !page.text.contains("onclick") && !page.text.contains("<style"))
  }

  @Test func `offers Apple Pay in the merchant's regions alone, and is framed by the merchant's sites alone`()
    async throws
  {
    let here = try await HostedShopper.enters(system, "bazaar").load()
    #expect(here.text.contains("<tender-apple-pay ") && here.text.contains("/applepay/tender.js"))
    #expect(here.headers.contains { $0.value.hasSuffix("frame-ancestors https://shop.example") })
    let order: JSONObjectLiteral = ["customer": ["billingAddress": ["countryCode": "DE"]]]
    let away = try await HostedShopper.enters(system, "bazaar", order: order).load().text
    #expect(!away.contains("<tender-apple-pay ") && away.contains("not offered in your country"))
    #expect(!away.contains("/applepay/tender.js"))
  }

  @Test(
    arguments: [
      (["returnUrl": "javascript:alert(1)"], "hostedCheckoutSpecificInput.returnUrl"),
      (["returnUrl": .null], "hostedCheckoutSpecificInput.returnUrl"),
      (["returnUrl": "http://shop.example/"], "hostedCheckoutSpecificInput.returnUrl"),
      (["variant": "none such"], "hostedCheckoutSpecificInput.variant"),
      (["locale": "not a tag"], "hostedCheckoutSpecificInput.locale"),
      (["sessionTimeout": 0], "hostedCheckoutSpecificInput.sessionTimeout"),
      (["allowedNumberOfPaymentAttempts": 11], "hostedCheckoutSpecificInput.allowedNumberOfPaymentAttempts"),
      (["isRecurring": .bool(true)], "hostedCheckoutSpecificInput.isRecurring"),
      (
        ["paymentProductFilters": ["exclude": ["products": [302]]]],
        "hostedCheckoutSpecificInput.paymentProductFilters.exclude"
      ),
      (
        ["paymentProductFilters": ["restrictTo": ["products": [1, 3]]]],
        "hostedCheckoutSpecificInput.paymentProductFilters.restrictTo"
      ),
    ] as [(JSONObjectLiteral, String)])
  func `is refused with the property at fault`(_ input: JSONObjectLiteral, _ property: String) async throws {
    let answer = try await HostedShopper.create(system, input: input)
    #expect(answer.status == 400)
    #expect(answer.body["errors"]?.elements.first?["propertyName"]?.text == property, "\(answer.errorText)")
  }

  /// A page that takes the payment without its agreement would be worse than none.
  @Test(
    arguments: [
      (["paymentProduct302SpecificInput": ["isRecurring": .bool(true)]], "paymentProduct302SpecificInput.isRecurring"),
      (["isRecurring": .bool(true)], "isRecurring"), (["agreement": ["description": "Box"]], "agreement"),
    ] as [(JSONObjectLiteral, String)])
  func `is refused where what begins an agreement is not read`(
    _ mobile: JSONObjectLiteral, _ property: String
  ) async throws {
    let usual: JSONObjectLiteral = ["authorizationMode": "SALE", "paymentProductId": 302]
    let end = system.clock.wall.now().adding(.seconds(3_600))
    for resource in ["hostedcheckouts", "paymentlinks"] {
      let answer = try await HostedShopper.signed(
        system, "market", "POST", resource,
        [
          "order": [
            "amountOfMoney": ["amount": 1450, "currencyCode": "EUR"], "references": ["merchantReference": "M-8"],
          ],
          "hostedCheckoutSpecificInput": ["returnUrl": "http://localhost:8401/back"],
          "paymentLinkSpecificInput": ["description": "Box", "expirationDate": .string("\(end)")],
          "mobilePaymentMethodSpecificInput": .object(usual.merged(mobile)),
        ])
      #expect(answer.status == 400, "\(resource) \(answer.errorText)")
      let refused = answer.body["errors"]?.elements.first?["propertyName"]?.text ?? ""
      #expect(refused.hasSuffix("mobilePaymentMethodSpecificInput." + property), "\(resource) \(answer.errorText)")
    }
  }

  @Test func `is made with all of Worldline's inputs, and members that Tender does not know`() async throws {
    let shopper = try await HostedShopper.enters(
      system,
      input: [
        "paymentProductFilters": ["restrictTo": ["products": [302, 1]], "exclude": ["groups": ["cards"]]],
        "sessionTimeout": 30, "tokens": "a,b", "isNewUnscheduledCardOnFileSeries": .bool(false), "locale": "ar_EG",
      ],
      order: [
        "customer": [
          "merchantCustomerId": "c-1", "billingAddress": ["countryCode": "DE"], "device": ["ipAddress": "x"],
        ],
        "shipping": ["shippingCost": 450], "discount": ["amount": 100],
        "shoppingCart": [
          "items": [
            [
              "amountOfMoney": ["amount": 1100, "currencyCode": "EUR"],
              "orderLineDetails": ["productName": "Tea", "productPrice": 550, "quantity": 2],
            ]
          ]
        ],
      ])
    let page = try await shopper.load().text
    #expect(page.contains("<html lang=\"ar-EG\" dir=\"rtl\">") && page.contains("Tea"))
    let items = try await shopper.sheet()["request"]?["lineItems"]?.elements.compactMap { $0["amount"]?.text }
    #expect(items == ["11.00", "4.50", "-1.00"])
  }
}

@Suite struct `A reference of a merchant's` {
  @Test(arguments: ["a\nb", "a\u{9B}2J", "a\u{7F}", "a\u{202E}b", "a\u{2028}b", String(repeating: "a", count: 41), ""])
  func `that is not one line of text is refused, by pages and by the platform API alike`(_ text: String) async throws {
    #expect(!DirectReferences.isReference(text))
    let system = try await TestSystem.shared.value
    let order: [String: JSONValue] = ["references": ["merchantReference": .string(text)]]
    let refused = try await HostedShopper.create(system, order: order)
    #expect(refused.status == 400, "\(refused.errorText)")
  }

  @Test(arguments: ["A-1", "Zoë 42", "سفارش ۱۲", "👩‍🍳", String(repeating: "a", count: 40)])
  func `is one line of text in any script`(_ text: String) { #expect(DirectReferences.isReference(text)) }
}

@Suite struct `A log line` {
  @Test func `holds no control characters and no marks of the writing direction`() throws {
    let log = Log()
    var logger = Logger(label: "test") { JSONLogHandler(label: $0, write: log.keep) }
    logger.logLevel = .info
    logger.info("a\u{7F}\u{9B}2J\u{202E}\u{2028}é\n")
    #expect(
      log.text.contains(#"a\u007f\u009b2J\u202e\u2028é\n"#) || log.text.contains(#"a\u007f\u009b2J\u202e\u2028é\u000a"#)
    )
  }
}

@Suite struct `A payment link` {
  let system: TestSystem

  init() async throws { self.init(in: try await TestSystem.shared.value) }

  private init(in system: TestSystem) { self.system = system }

  private func create(_ more: JSONObjectLiteral = [:]) async throws -> JSONClient.Answer {
    var body: JSONValue = [
      "order": [
        "amountOfMoney": ["amount": 900, "currencyCode": "EUR"], "references": ["merchantReference": "L-1"],
      ],
      "mobilePaymentMethodSpecificInput": ["authorizationMode": "SALE"],
    ]
    if case .object(var object) = body {
      for (name, value) in more { object[name] = value }
      body = .object(object)
    }
    return try await HostedShopper.signed(system, "market", "POST", "paymentlinks", body)
  }

  @Test(arguments: ["merchantParameters", "softDescriptor"])
  func `is not made with a text that nobody can read as it was sent`(member: String) async throws {
    for mark in ["\u{1B}[2J", "\u{202E}"] {
      let order: JSONValue = [
        "amountOfMoney": ["amount": 900, "currencyCode": "EUR"], "references": [member: .string("a\(mark)b")],
      ]
      let refused = try await create(["order": order])
      let fault = refused.body["errors"]?.elements.first
      #expect(refused.status == 400 && fault?["propertyName"]?.text == "order.references.\(member)")
    }
  }

  @Test func `takes parameters of several lines, and a Hebrew name with its marks`() async throws {
    let order: JSONValue = [
      "amountOfMoney": ["amount": 900, "currencyCode": "EUR"],
      "references": ["merchantParameters": "{\n\t\"order\": 7\r\n}"],
    ]
    let made = try await create(["order": order, "paymentLinkSpecificInput": ["recipientName": "עדה\u{200F} 2"]])
    #expect(made.status == 201 && made.body["recipientName"] == "עדה\u{200F} 2")
  }

  private func show(_ id: String) async throws -> JSONValue {
    try await HostedShopper.signed(system, "market", "GET", "paymentlinks/\(id)").body
  }

  @Test func `is made, shown as a page and cancelled by the merchant`() async throws {
    let made = try await create(["displayQRCode": .bool(true), "paymentLinkSpecificInput": ["recipientName": "Ada"]])
    #expect(made.status == 201 && made.body["status"] == "ACTIVE" && made.body["recipientName"] == "Ada")
    let id = try #require(made.body["paymentLinkId"]?.text)
    let picture = Base64.decode(try #require(made.body["qrCodeBase64"]?.text)).map {
      String(decoding: $0, as: UTF8.self)
    }
    #expect(picture?.hasPrefix("<svg") == true)
    let page = try await HostedShopper.load(system, "/hosted/\(id)")
    #expect(page.status == 200 && !page.text.contains("/cancel\""))
    let cancelled = try await HostedShopper.signed(system, "market", "POST", "paymentlinks/\(id)/cancel")
    #expect(cancelled.status == 204)
    #expect(try await show(id)["status"] == "CANCELLED")
    #expect(try await HostedShopper.load(system, "/hosted/\(id)").text.contains("has withdrawn this request"))
  }

  @Test func `is not cancelled by who has it: a sheet that is closed ends its attempt alone`() async throws {
    let id = try #require(try await create().body["paymentLinkId"]?.text)
    let shopper = try HostedShopper(system, "market", link: id)
    let shown = try await shopper.sheet()["quoteId"] ?? .null
    let token = try await shopper.token()
    #expect(try await shopper.api.call("DELETE", "/applepay/payment/\(id)").status == 204)
    let late = try await shopper.api.call(
      "POST", "/applepay/payment", ["basketId": .string(id), "quoteId": shown, "token": token])
    #expect(late.status == 409 && late.body["code"] == "quote_stale", "\(late.errorText)")
    // At the server's own address too, which apps call.
    let direct = try await JSONClient(system.server, sender: system.sender).call("DELETE", "/applepay/payment/\(id)")
    #expect(direct.status == 204)
    #expect(try await show(id)["status"] == "ACTIVE")
    let paid = try await shopper.pays()
    #expect(paid.status == 200, "\(paid.errorText)")
    #expect(try await show(id)["status"] == "PAID")
  }

  @Test func `is one under one key`() async throws {
    let body: JSONValue = ["order": ["amountOfMoney": ["amount": 900, "currencyCode": "EUR"]]]
    let key = RandomBytes.system.hex(16)
    let made = try await HostedShopper.signed(system, "market", "POST", "paymentlinks", body, key: key)
    let again = try await HostedShopper.signed(system, "market", "POST", "paymentlinks", body, key: key)
    #expect(made.status == 201 && again.status == 201 && made.body == again.body, "\(again.errorText)")
    let another = try await HostedShopper.signed(system, "market", "POST", "paymentlinks", body)
    #expect(another.body["paymentLinkId"] != made.body["paymentLinkId"])
  }

  @Test func `expires when the merchant says`() async throws {
    // A system of its own, because the clock of the common one shows all tests the time.
    let own = try await Self(in: TestSystem())
    let system = own.system
    let end = system.clock.wall.now().adding(.seconds(3_600))
    let made = try await own.create(["paymentLinkSpecificInput": ["expirationDate": .string("\(end)")]])
    let id = try #require(made.body["paymentLinkId"]?.text, "\(made.errorText)")
    #expect(try await own.show(id)["status"] == "ACTIVE")
    system.clock.move(.seconds(3_600))
    #expect(try await own.show(id)["status"] == "EXPIRED")
    let page = try await HostedShopper.load(system, "/hosted/\(id)").text
    #expect(page.contains("data-result=\"expired\"") && page.contains("Time is up"))
    let basket = try await JSONClient(
      "\(system.server)/hosted/\(id)", sender: system.sender, headers: [HTTPField("Host", TestSystem.hostedDomain)]
    ).call("GET", "/applepay/basket/\(id)")
    #expect(basket.status == 410)
    let late = try await HostedShopper.signed(system, "market", "POST", "paymentlinks/\(id)/cancel")
    #expect(late.body["errors"]?.elements.first?["id"] == "LINK_CLOSED")
    await system.stop()
  }

  @Test(arguments: [
    "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "tomorrow", "+010000000000", "2026-12-24T24:00:60Z",
    String(repeating: "2026-12-24T18:00:00Z", count: 100),
  ])
  func `ends within six months`(_ date: String) async throws {
    let refused = try await create(["paymentLinkSpecificInput": ["expirationDate": .string(date)]])
    #expect(refused.status == 400)
  }

  @Test func `is paid once`() async throws { #expect(try await create(["isReusableLink": .bool(true)]).status == 400) }
}
