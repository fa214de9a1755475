import Foundation
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// Bad input: each kind has its own code, names the field, and leaves nothing half done: the same basket pays
/// afterwards.
@Suite struct `A payment is refused` {
  private let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  private func collecting() async throws -> Shopper { try await Shopper.enters(system, service: "collection") }

  /// The refusal, and then the proof that the basket is as good as new.
  private func refused(
    _ shopper: Shopper, _ status: Int, _ code: String, field: String? = nil, _ call: JSONValue,
    location: SourceLocation = #_sourceLocation
  ) async throws {
    let answer = try await shopper.pays(call)
    #expect(
      answer.status == status && answer.body["code"]?.text == code, "\(answer.status) \(answer.errorText)",
      sourceLocation: location)
    if let field { #expect(answer.body["field"]?.text == field, sourceLocation: location) }
    #expect(answer.body["requestId"]?.text?.isEmpty == false, sourceLocation: location)
    #expect(try await shopper.outcome().body["code"] == "payment_not_found", sourceLocation: location)
    #expect(try await shopper.holds().isEmpty, sourceLocation: location)
    let paid = try await shopper.pays()
    #expect(paid.body["status"] == "captured", "\(paid.errorText)", sourceLocation: location)
  }

  @Test func `with a payment token for another basket`() async throws {
    let (shopper, other) = (try await collecting(), try await collecting())
    try await refused(shopper, 422, "application_data_mismatch", try await shopper.payment(try await other.token()))
  }

  @Test func `with a payment token without application data`() async throws {
    let shopper = try await collecting()
    let token = try await shopper.token(applicationData: .null)
    try await refused(shopper, 422, "application_data_missing", try await shopper.payment(token))
  }

  @Test func `with a payment token for another merchant`() async throws {
    let (shopper, other) = (
      try await collecting(), try await Shopper.enters(system, system.kitsune, service: "collection")
    )
    let token = try await other.token(
      amount: shopper.total, currency: "EUR", applicationData: shopper.request["applicationData"])
    try await refused(shopper, 422, "unknown_key", try await shopper.payment(token))
  }

  @Test(arguments: [
    ("12.49", "EUR", "amount_mismatch"), ("125.00", "EUR", "amount_off_by_power_of_ten"),
    ("12.50", "GBP", "currency_mismatch"),
  ])
  func `with a payment token for another amount or currency`(amount: String, currency: String, code: String)
    async throws
  {
    let shopper = try await collecting()
    let token = try await shopper.token(amount: amount, currency: currency)
    try await refused(shopper, 422, code, try await shopper.payment(token))
  }

  @Test func `with a payment token that has paid another basket`() async throws {
    let (spent, shopper) = (try await collecting(), try await collecting())
    let token = try await spent.token()
    #expect(try await spent.pays(try await spent.payment(token)).status == 200)
    try await refused(shopper, 422, "application_data_mismatch", try await shopper.payment(token))
  }

  @Test(arguments: ["data", "signature"]) func `with one character of the payment token changed`(member: String)
    async throws
  {
    let shopper = try await collecting()
    let token = try Altered.token(try await shopper.token(), member)
    let answer = try await shopper.pays(try await shopper.payment(token))
    #expect(answer.status == 422 && answer.body["code"]?.text != nil, "\(answer.errorText)")
    #expect(try await shopper.holds().isEmpty)
    #expect(try await shopper.pays().body["status"] == "captured")
  }

  @Test func `with the quote of another basket, one that is over, or none that exists`() async throws {
    let (shopper, other) = (try await collecting(), try await collecting())
    let token = try await shopper.token()
    let foreign = try await shopper.pays(try await shopper.payment(token, quote: other.quote))
    #expect(foreign.status == 409 && foreign.body["code"] == "quote_foreign")
    let unknown = try await shopper.pays(try await shopper.payment(token, quote: "nonsense"))
    #expect(unknown.status == 404 && unknown.body["code"] == "quote_unknown")

    var delivered = try await Shopper.enters(system)
    let early = delivered.quote
    try await delivered.chooses()
    try await refused(
      delivered, 409, "quote_stale", try await delivered.payment(try await delivered.token(), quote: early))
  }

  @Test func `without a phone number, with an error on that field of the sheet`() async throws {
    let shopper = try await collecting()
    guard case .object(var call) = try await shopper.payment(try await shopper.token()),
      case .object(var contact)? = call["shippingContact"]
    else { return }
    contact["phoneNumber"] = nil
    call["shippingContact"] = .object(contact)
    let answer = try await shopper.pays(.object(call))
    #expect(answer.status == 422 && answer.body["code"] == "contact_incomplete")
    #expect(answer.body["errors"]?.elements.first?["contactField"] == "phoneNumber")
    try await refused(shopper, 422, "contact_incomplete", .object(call))
  }

  @Test func `to an address that is not served, whatever the redacted one was`() async throws {
    var shopper = try await Shopper.enters(system)
    try await shopper.chooses("gb-london")
    let call = try await shopper.payment(try await shopper.token(), contact: "de-berlin")
    try await refused(shopper, 422, "address_unserviceable", field: "shippingContact", call)
  }

  @Test func `for an unknown basket, or one of another merchant's`() async throws {
    let shopper = try await collecting()
    let call = try await shopper.payment(try await shopper.token())
    guard case .object(var unknown) = call else { return }
    unknown["basketId"] = "00000000000000000000000000000000"
    let unknownBasket = try await shopper.pays(.object(unknown))
    #expect(unknownBasket.status == 404 && unknownBasket.body["code"] == "basket_unknown")
    let otherPage = try await system.kitsune.page.call("POST", "/applepay/payment", call)
    #expect(otherPage.status == 404 && otherPage.body == unknownBasket.body.replacing("requestId", of: otherPage.body))
    try await refused(shopper, 404, "quote_unknown", call.with("quoteId", "x"))
  }
}

/// Calls without an Origin: of the same origin, of apps, and with a Host written by hand.
@Suite struct `A call without an origin` {
  @Test func `that asks the host of one merchant sees no basket of another`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    let own = JSONClient(system.server, sender: system.sender, headers: [.init("Host", "harbour.localhost:8401")])
    let other = JSONClient(system.server, sender: system.sender, headers: [.init("Host", "kitsune.localhost:8404")])
    for (method, path, body) in [
      ("GET", "/applepay/basket/\(shopper.basket)", JSONValue?.none),
      ("GET", "/applepay/payment/\(shopper.basket)", nil), ("DELETE", "/applepay/payment/\(shopper.basket)", nil),
      ("POST", "/applepay/validate", ["basketId": .string(shopper.basket)]),
    ] {
      let answer = try await other.call(method, path, body)
      #expect(answer.status == 404 && answer.body["code"] == "basket_unknown", "\(method) \(path): \(answer.errorText)")
    }
    #expect(try await own.call("GET", "/applepay/basket/\(shopper.basket)").isSuccess)
    #expect(try await own.call("POST", "/applepay/validate", ["basketId": .string(shopper.basket)]).isSuccess)
  }
}

/// What the sandbox's Apple refuses before a payment token exists.
@Suite struct `A merchant session` {
  @Test func `is good for one sheet only`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    let session = try await shopper.session()
    let order: JSONValue = [
      "cardId": "visa-debit", "merchantSession": session, "amount": .string(shopper.total), "currency": "EUR",
      "applicationData": shopper.request["applicationData"] ?? .null,
    ]
    let origin = [HTTPTransport.HTTPField("Origin", shopper.shop.origin)]
    #expect(try await system.sandbox.call("POST", "/device/tokens", order, headers: origin).isSuccess)
    let again = try await system.sandbox.call("POST", "/device/tokens", order, headers: origin)
    #expect(!again.isSuccess && again.body["code"] == "session_used")
  }

  @Test func `comes from the gateway unchanged, for the domain that called`() async throws {
    let system = try await TestSystem.shared.value
    let www = JSONClient(
      system.server, sender: system.sender, headers: [.init("Origin", "http://www.harbour.localhost:8401")])
    let shopper = try await Shopper.enters(system, service: "collection")
    let session = try await www.require("POST", "/applepay/validate", ["basketId": .string(shopper.basket)])
    #expect(session["domainName"] == "www.harbour.localhost" && session["displayName"] == "Harbour Kitchen")
    #expect(session["signature"]?.text?.hasPrefix("3080") == true)
  }
}

/// Calls that never reach a basket.
@Suite struct `A call is refused` {
  private let system: TestSystem
  init() async throws { system = try await TestSystem.shared.value }

  @Test(arguments: [
    ("{\"basketId\":\"a\",}", 400, "malformed_json"),
    ("{\"basketId\":\"a\",\"basketId\":\"b\"}", 400, "malformed_json"),
    ("\u{FEFF}{}", 400, "malformed_json"), ("{}", 400, "invalid_body"), ("[]", 400, "invalid_body"),
    ("", 400, "malformed_json"),
    ("{\"basketId\":\"a\",\"quoteId\":\"b\",\"token\":{}}", 422, "not_a_payment_token"),
    ("{\"basketId\":\"a\",\"quoteId\":\"b\",\"token\":{\"paymentData\":{}}}", 422, "empty_payment_data"),
  ])
  func `for a body that is not what it should be`(body: String, status: Int, code: String) async throws {
    let answer = try await post(Array(body.utf8))
    #expect(answer.status == status && answer.body["code"]?.text == code, "\(answer.status) \(answer.errorText)")
  }

  @Test func `for a body of a megabyte, and for one that is no JSON by name`() async throws {
    let long = try await post([UInt8](repeating: 0x20, count: 1 << 20))
    #expect(long.status == 413 && long.body["code"] == "body_too_large")
    let form = try await post(Array("{}".utf8), type: "text/plain")
    #expect(form.status == 415 && form.body["code"] == "unsupported_media_type")
  }

  @Test(arguments: [
    "https://evil.example", "null", "http://harbour.localhost", "http://harbour.localhost:8401.evil.example",
    "https://HARBOUR.localhost:8401",
  ])
  func `from an unregistered origin`(origin: String) async throws {
    let page = JSONClient(system.server, sender: system.sender, headers: [.init("Origin", origin)])
    let answer = try await page.call("GET", "/applepay/metadata")
    #expect(answer.status == 403 && answer.body["code"] == "origin_not_registered")
    // A preflight fails by its status, so that no call that changes anything is ever sent from there.
    #expect(try await page.call("OPTIONS", "/applepay/payment").status == 403)
    #expect(try await page.call("GET", "/applepay/tender.js").status == 200)
  }

  @Test func `that is not signed by the merchant it speaks for`() async throws {
    let (now, path) = (system.clock.wall.now(), "/v2/harbour/services/testconnection")
    #expect(try await system.harbour.signed("GET", path, at: now).body["result"] == "OK")
    let answers = [
      try await system.harbour.signed("GET", path, at: now, secret: "another"),
      try await system.kitsune.signed("GET", path, at: now),
      try await system.harbour.signed("GET", "/v2/nobody/services/testconnection", at: now),
      try await system.harbour.signed("GET", path, at: now.adding(.seconds(-301))),
      try await JSONClient(system.server, sender: system.sender).call("GET", path),
    ]
    #expect(
      answers.allSatisfy {
        $0.status == 403 && $0.body["errors"]?.elements.first?["id"] == "ACCESS_TO_MERCHANT_NOT_ALLOWED"
      })
    for (key, reason) in [
      (system.harbour.key.id, "signature_mismatch"), (system.kitsune.key.id, "other_merchant"),
      (system.harbour.key.id, "date_out_of_window"),
    ] {
      #expect(system.log.count(of: #""keyId":"\#(key)","reason":"\#(reason)""#) >= 1, "the operator learns \(reason)")
    }
    let refused = system.log.count(of: #""message":"signature refused""#)
    #expect(system.log.count(of: #""level":"warning","from":"tender","message":"signature refused""#) == refused)
  }

  @Test func `by the platform API in the shape that Worldline's SDKs read, naming the property`() async throws {
    let path = "/v2/harbour/baskets/" + RandomBytes.system.hex(16)
    let answer = try await system.harbour.signed("PUT", path, ["currencyCode": "EUR"], at: system.clock.wall.now())
    let fault = try #require(answer.body["errors"]?.elements.first)
    #expect(answer.status == 400 && answer.body["errorId"]?.text?.isEmpty == false)
    #expect(
      fault["id"] == "INVALID_BODY" && fault["propertyName"]?.text?.isEmpty == false && fault["httpStatusCode"] == 400)
    let unknown = try await system.harbour.signed("GET", path, at: system.clock.wall.now())
    #expect(unknown.status == 404 && unknown.body["errors"]?.elements.first?["id"] == "BASKET_UNKNOWN")
  }

  @Test func `of a capture above the hold says how much is left`() async throws {
    let holding = try await Shopper.enters(system, service: "collection", capture: "manual")
    let payment = try #require(try await holding.pays().body["paymentId"]?.text)
    let answer = try await system.harbour.signed(
      "POST", "/v2/harbour/payments/\(payment)/capture", ["amount": 1251], at: system.clock.wall.now())
    let faults = answer.body["errors"]?.elements ?? []
    #expect(answer.status == 400 && faults.count == 2, "\(answer.errorText)")
    #expect(faults.last?["id"] == "AMOUNT_EXCEEDS_AVAILABLE", "\(answer.errorText)")
    #expect(faults.last?["message"]?.text?.contains("12.50 EUR") == true, "\(answer.errorText)")
  }

  /// Stored as it was written, it would make the basket unreadable for ever.
  @Test(arguments: ["0999-01-01T00:00:00Z", "999-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "10000-01-01T00:00:00Z"])
  func `with a coupon that ends before 1970 or after 9999, by its property`(end: String) async throws {
    let (path, now) = ("/v2/harbour/baskets/" + RandomBytes.system.hex(16), system.clock.wall.now())
    func basket(_ end: String) -> JSONValue {
      [
        "currencyCode": "EUR", "countryCode": "IE", "merchantReference": "T-coupon", "businessName": "Shop",
        "serviceTypes": ["collection"], "items": [["id": "fish", "label": "Fish", "unitAmount": 1250]],
        "coupons": [["code": "OLD", "label": "Old", "amount": 100, "expiresAt": .string(end)]],
      ]
    }
    let refused = try await system.harbour.signed("PUT", path, basket(end), at: now)
    let fault = refused.body["errors"]?.elements.first
    #expect(refused.status == 400 && fault?["id"] == "INVALID_BODY", "\(refused.errorText)")
    #expect(fault?["propertyName"]?.text?.hasSuffix("coupons[0].expiresAt") == true, "\(refused.errorText)")
    #expect(try await system.harbour.signed("GET", path, at: now).status == 404)
    for good in ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"] {
      #expect(try await system.harbour.signed("PUT", path, basket(good), at: now).status == 200)
      #expect(try await system.harbour.signed("GET", path, at: now).status == 200)
    }
  }

  @Test func `with a date that no calendar has, before authentication, and the server stays up`() async throws {
    let claim = "GCS v1HMAC:key:\(Base64.encode([UInt8](repeating: 7, count: 32)))"
    for day in [Int64.min, -1, .max] {
      let answer = try await JSONClient(system.server, sender: system.sender).call(
        "GET", "/v2/harbour/services/testconnection",
        headers: [.init("Authorization", claim), .init("Date", "Fri, \(day) Jun 2014 13:39:43 GMT")])
      let fault = answer.body["errors"]?.elements.first
      #expect(answer.status == 403 && fault?["id"] == "ACCESS_TO_MERCHANT_NOT_ALLOWED")
    }
  }

  @Test func `at an address where nothing is`() async throws {
    let answer = try await JSONClient(system.server, sender: system.sender).call("GET", "/nothing/here")
    #expect(answer.status == 404 && answer.body["code"] == "not_found")
  }

  @Test(arguments: [
    ("DELETE", "/applepay/metadata", "GET, HEAD"), ("GET", "/applepay/validate", "POST"),
    ("PATCH", "/applepay/payment/basket", "GET, HEAD, DELETE"),
  ])
  func `with a method that the address does not take, naming those that it takes`(
    method: String, path: String, allowed: String
  ) async throws {
    let answer = try await system.sender.send(OutboundRequest(method: method, url: system.server + path), TestRun.whole)
    #expect(answer.status == 405 && answer.header("Allow") == allowed)
    #expect(try JSONReader.read(answer.body)["code"] == "method_not_allowed")
  }

  @Test(arguments: [
    ("GET", "/v2/harbour/nothing", 404, "NOT_FOUND"), ("POST", "/v2/harbour/baskets/b", 405, "METHOD_NOT_ALLOWED"),
  ])
  func `below the platform API, in the shape that its SDKs read`(
    method: String, path: String, status: Int, id: String
  ) async throws {
    let answer = try await JSONClient(system.server, sender: system.sender).call(method, path)
    #expect(answer.status == status && answer.body["errors"]?.elements.first?["id"]?.text == id, "\(answer.errorText)")
  }

  private func post(_ body: [UInt8], type: String = "application/json") async throws -> JSONClient.Answer {
    let request = OutboundRequest(
      method: "POST", url: system.server + "/applepay/payment",
      headers: [.init("Origin", system.harbour.origin), .init("Content-Type", type)], body: body)
    return JSONClient.Answer(try await system.sender.send(request, TestRun.whole))
  }
}

/// The server compares the validation URL of the browser and never fetches it.
@Suite struct `A hostile validation URL` {
  @Test func `gets a clear refusal, and not one connection leaves`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, system.counted, service: "collection")
    let urls = try ValidationURLVector.all().map(\.url)
    #expect(urls.count >= 150)
    for url in urls {
      let answer = try await shopper.shop.page.call(
        "POST", "/applepay/validate", ["basketId": .string(shopper.basket), "validationURL": .string(url)])
      #expect((400..<500).contains(answer.status), "\(url): \(answer.status)")
      let code = answer.body["code"]?.text ?? ""
      #expect(
        code.hasPrefix("validation_url_") || code == "environment_mismatch" || code == "malformed_json",
        "\(url): \(code)")
    }
    #expect(system.callsToApple.count(of: "merchant.test.counted") == 0)
    // The counter counts: a good call raises it.
    _ = try await shopper.session()
    #expect(system.callsToApple.count(of: "merchant.test.counted") == 1)
  }
}
