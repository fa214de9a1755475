import Acquiring
import ApplePayToken
import DirectWire
import Gateway
import Ledger
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A payment that a merchant's server makes` {
  @Test func `is held, and keeps what its order said`() async throws {
    let platform = try await Platform()
    let answer = try await platform.payments.create(Platform.body(), platform.call())
    let payment = answer.json["payment"]
    #expect(answer.status == 201 && payment?["status"] == "PENDING_CAPTURE")
    #expect(payment?["id"]?.text == answer.location?.description)
    #expect(payment?["statusOutput"]?["statusCode"] == 5)
    let output = payment?["paymentOutput"]
    #expect(output?["references"]?["merchantReference"] == "order-1" && output?["merchantParameters"] == "tea")
    #expect(output?["mobilePaymentMethodSpecificOutput"]?["network"] == "Visa")
    #expect(payment?["tender"]?["notVerified"] == ["signature", "signingTime", "applicationData", "amount"])
    let shown = try await platform.payments.show(payment?["id"]?.text ?? "", of: Platform.merchant)
    #expect(shown.json == payment)
  }

  @Test(
    arguments: [
      (["authorizationMode": "SALE"], "CAPTURED"), (["requiresApproval": false], "CAPTURED"),
      (["authorizationMode": "FINAL_AUTHORIZATION"], "PENDING_CAPTURE"),
      (["authorizationMode": "PRE_AUTHORIZATION"], "PENDING_CAPTURE"),
      (["autoCapture": ["delayInMinutes": 5]], "PENDING_CAPTURE"), (["autoCapture": ["delayInMinutes": 0]], "CAPTURED"),
    ] as [(JSONObject, String)])
  func `is captured as its mode says`(input: JSONObject, status: String) async throws {
    let platform = try await Platform()
    let answer = try await platform.payments.create(Platform.body(input: input), platform.call())
    #expect(answer.json["payment"]?["status"]?.text == status)
  }

  @Test(
    arguments: [("FINAL_AUTHORIZATION", .final), ("PRE_AUTHORIZATION", .preliminary), ("SALE", .final)]
      as [(JSONValue, AuthorizationType)])
  func `is authorized at the provider as its mode says`(mode: JSONValue, type: AuthorizationType) async throws {
    let platform = try await Platform()
    _ = try await platform.payments.create(Platform.body(input: ["authorizationMode": mode]), platform.call())
    _ = try await platform.payments.create(Platform.body(), platform.call())
    #expect(platform.acquirer.authorizations.map(\.sale.authorization) == [type, nil])
  }

  /// No answer of Worldline's has a member for them.
  @Test func `is told to the provider with its token's id and the name on the card, which are kept`() async throws {
    let platform = try await Platform()
    let id = String(repeating: "5a", count: 32)
    for (sent, kept) in [(id, id), ("not hexadecimal", nil)] {
      let card: JSONValue = [
        "dpan": "4761739000000012", "expiryDate": "1231", "cardholderName": "Maud Müller", "eci": "07",
        "cryptogram": .string(Base64.encode(Array(sent.utf8.prefix(20)))),
      ]
      let body = Platform.body(input: ["transactionId": .string(sent), "decryptedPaymentData": card])
      _ = try await platform.payments.create(body, platform.call())
      let sale = try #require(platform.acquirer.authorizations.last).sale
      #expect(sale.transactionID == kept && sale.cardholderName == "Maud Müller")
      let id = OrderID(try #require(sale.order))
      let order = try await platform.journal.database.read { try PlatformOrder.find(id, in: $0) }
      #expect(order?.cardholderName == "Maud Müller")
      let payment = try await platform.journal.payment(of: id)
      #expect(payment?.transactionIdentifier == kept && payment?.card.network == .visa)
    }
  }

  @Test func `is the first one again under its key, whatever the repeat says`() async throws {
    let platform = try await Platform()
    let first = try await platform.payments.create(Platform.body(), platform.call("k"))
    let again = try await platform.payments.create(Platform.body(1, reference: "another"), platform.call("k"))
    #expect(again.body == first.body && again.status == 201)
    #expect(first.firstCallAt == nil && again.firstCallAt != nil)
    #expect(platform.acquirer.authorizations.count == 1)
  }

  @Test func `is one payment however many calls make it at once`() async throws {
    let platform = try await Platform()
    let body = Platform.body()
    let ids = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<64 {
        group.addTask {
          try? await platform.payments.create(body, platform.call("k")).json["payment"]?["id"]?.text
        }
      }
      return await group.reduce(into: Set<String>()) { $0.formUnion($1.map { [$0] } ?? []) }
    }
    #expect(ids.count == 1 && platform.acquirer.authorizations.count == 1)
  }

  @Test func `of nothing verifies the card where a route can, and nothing can be captured`() async throws {
    let platform = try await Platform(FakeAcquirer(FakeAcquirer.verifying))
    let answer = try await platform.payments.create(Platform.body(0), platform.call())
    let payment = answer.json["payment"]
    #expect(answer.status == 201 && payment?["status"] == "PENDING_CAPTURE")
    #expect(payment?["paymentOutput"]?["amountOfMoney"]?["amount"] == 0)
    let id = payment?["id"]?.text ?? ""
    await #expect(throws: (any Error).self) {
      try await platform.payments.capture(id, Array("{}".utf8), platform.call())
    }
    #expect(platform.acquirer.captures.isEmpty)
  }

  @Test func `is refused where number and cryptogram have paid before`() async throws {
    let platform = try await Platform()
    _ = try await platform.payments.create(Platform.body(cryptogram: "AAAA"), platform.call())
    let refusal = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.create(Platform.body(cryptogram: "AAAA"), platform.call())
    }
    #expect(refusal?.status == 400 && refusal?.faults.first?.id == "TOKEN_REUSED")
  }

  @Test func `that is declined answers 402 with the payment, also under its key`() async throws {
    let platform = try await Platform()
    platform.acquirer.authorizes(.declined(Decline(reason: .insufficientFunds, code: "51")))
    for isReplay in [false, true] {
      let refusal = await #expect(throws: PlatformRefusal.self) {
        try await platform.payments.create(Platform.body(), platform.call("k"))
      }
      #expect(refusal?.status == 402 && refusal?.faults.first?.errorCode == "30511001")
      #expect(refusal?.paymentResult?.payment.status == "REJECTED")
      #expect((refusal?.firstCallAt != nil) == isReplay)
    }
  }

  @Test func `that never left is a platform error, and its outcome may be asked for`() async throws {
    let platform = try await Platform()
    platform.acquirer.authorizes(.notSent("no route to host"))
    let refusal = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.create(Platform.body(), platform.call())
    }
    #expect(refusal?.status == 502 && refusal?.faults.first?.retriable == true && refusal?.paymentResult == nil)
  }

  @Test func `whose outcome is unknown is no decline`() async throws {
    let platform = try await Platform()
    platform.acquirer.authorizes(.unknown(Interruption(.timeout)))
    let answer = try await platform.payments.create(Platform.body(), platform.call())
    #expect(answer.status == 201 && answer.json["payment"]?["status"] == "AUTHORIZATION_REQUESTED")
  }

  @Test(
    arguments: [
      ("{}", "order"), (#"{"order":{"amountOfMoney":{"amount":1}}}"#, "order.amountOfMoney.currencyCode"),
      (#"{"order":{"amountOfMoney":{"amount":1,"currencyCode":"EEE"}}}"#, "order.amountOfMoney.currencyCode"),
      (#"{"order":{"amountOfMoney":{"amount":0,"currencyCode":"EUR"}}}"#, "order.amountOfMoney.amount"),
      (#"{"order":{"amountOfMoney":{"amount":1,"currencyCode":"EUR"}}}"#, "mobilePaymentMethodSpecificInput"),
    ])
  func `names the property that is wrong`(body: String, property: String) async throws {
    let platform = try await Platform()
    let refusal = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.create(Array(body.utf8), platform.call())
    }
    #expect(refusal?.status == 400 && refusal?.faults.first?.propertyName == property)
  }

  @Test(arguments: ["\u{1B}[2J", "\u{202E}", "\u{2028}"])
  func `has no text with control characters or marks of the writing direction`(mark: String) async throws {
    let platform = try await Platform()
    let body = try JSONReader.read(Platform.body())
    for path in [
      "order.references.softDescriptor", "order.references.merchantParameters", "order.customer.merchantCustomerId",
      "mobilePaymentMethodSpecificInput.decryptedPaymentData.cardholderName",
    ] {
      let sent = body.setting(path.split(separator: ".").map(String.init)[...], to: .string("a\(mark)b"))
      let refusal = await #expect(throws: PlatformRefusal.self) {
        try await platform.payments.create(sent.serialized(), platform.call())
      }
      #expect(refusal?.status == 400 && refusal?.faults.first?.propertyName == path)
    }
    #expect(platform.acquirer.authorizations.isEmpty)
  }

  @Test(
    arguments: [
      (["paymentProductId": 1], "paymentProductId"), (["encryptedPaymentData": "AAAA"], "decryptedPaymentData"),
      (["decryptedPaymentData": .null], "encryptedPaymentData"),
      (["decryptedPaymentData": .null, "encryptedPaymentData": "AAAA"], "ephemeralKey"),
      (["decryptedPaymentData": .null, "encryptedPaymentData": "AA", "ephemeralKey": "AA"], "publicKeyHash"),
      (["autoCapture": ["delayInMinutes": 43_201]], "autoCapture.delayInMinutes"),
      (["autoCapture": [:]], "autoCapture.delayInMinutes"), (["autoCapture": ["delay": 5]], "autoCapture.delay"),
      (["autoCapture": ["delayInMinutes": .null]], "autoCapture.delayInMinutes"),
      (["autoCapture": ["delayInMinutes": 5, "unit": "h"]], "autoCapture.unit"),
    ] as [(JSONObject, String)])
  func `names the member of its payment method that is wrong`(input: JSONObject, member: String) async throws {
    let platform = try await Platform()
    let refusal = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.create(Platform.body(input: input), platform.call())
    }
    #expect(refusal?.faults.first?.propertyName == "mobilePaymentMethodSpecificInput.\(member)")
  }

  @Test func `with a payment token that is encoded once more is told so, as on the command line`() async throws {
    let token = #"{"version":"EC_v1","data":"AA==","signature":"AA==","header":{}}"#
    let quoted = String(decoding: JSONValue.string(token).serialized(), as: UTF8.self)
    for text in [Base64.encode(Array(token.utf8)), quoted] {
      let input: JSONObject = ["decryptedPaymentData": .null, "encryptedPaymentData": .string(text)]
      let platform = try await Platform()
      let refusal = await #expect(throws: PlatformRefusal.self) {
        try await platform.payments.create(Platform.body(input: input), platform.call())
      }
      #expect(refusal?.faults.first?.id == "DOUBLE_ENCODED")
      #expect(refusal?.faults.first?.message.contains(PaymentTokenError.Code.doubleEncoded.advice) == true)
    }
  }

  @Test func `with unsigned data is refused where the merchant does not allow it`() async throws {
    let platform = try await Platform(takesUnsignedData: false)
    let input: JSONObject = [
      "decryptedPaymentData": .null, "encryptedPaymentData": "AA==", "ephemeralKey": "AA==", "publicKeyHash": "AA==",
    ]
    let refusal = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.create(Platform.body(input: input), platform.call())
    }
    #expect(refusal?.faults.first?.message.contains("unsignedPaymentData") == true)
  }

  @Test func `with unsigned data is refused for an order with a basket, which it cannot name`() async throws {
    let platform = try await Platform()
    let input: JSONObject = [
      "decryptedPaymentData": .null, "encryptedPaymentData": "AA==", "ephemeralKey": "AA==", "publicKeyHash": "AA==",
    ]
    let refusal = await #expect(throws: PlatformRefusal.self) {
      try await platform.tied().create(Platform.body(input: input), platform.call())
    }
    #expect(refusal?.faults.first?.propertyName == "mobilePaymentMethodSpecificInput.encryptedPaymentData")
    #expect(refusal?.faults.first?.message.contains("basket") == true)
  }

  @Test func `is at most the estimate of its basket`() async throws {
    let platform = try await Platform()
    let payments = platform.tied(estimate: .eur(1_000))
    let refusal = await #expect(throws: PlatformRefusal.self) {
      try await payments.create(Platform.body(1_001), platform.call())
    }
    #expect(refusal?.faults.first?.propertyName == "order.amountOfMoney")
    #expect(try await payments.create(Platform.body(1_000), platform.call()).status == 201)
    let other = platform.tied(estimate: Amount(minorUnits: 9_999, currency: try #require(Currency(code: "USD"))))
    await #expect(throws: PlatformRefusal.self) { try await other.create(Platform.body(), platform.call()) }
  }

  @Test func `is tied to a basket by its own reference alone`() async throws {
    let platform = try await Platform()
    let payments = platform.tied(estimate: .eur(1), to: "another order")
    #expect(try await payments.create(Platform.body(), platform.call()).status == 201)
  }

  @Test func `sends its events to five addresses at most, each within the operator's limits`() async throws {
    let platform = try await Platform()
    for (urls, property) in [
      (["http://a"], "feedbacks.webhooksUrls[0]"), (["https://a", "b"], "feedbacks.webhooksUrls[1]"),
      (Array(repeating: "https://a", count: 6), "feedbacks.webhooksUrls"),
      (["https://" + String(repeating: "a", count: 2_041)], "feedbacks.webhooksUrls[0]"),
    ] {
      let refusal = await #expect(throws: PlatformRefusal.self) {
        try await platform.payments.create(Platform.body(feedbacks: urls), platform.call())
      }
      #expect(refusal?.faults.first?.propertyName == property)
    }
    #expect(
      try await platform.payments.create(Platform.body(feedbacks: ["https://a"]), platform.call()).status == 201)
  }
}

@Suite struct `An operation on a payment` {
  @Test func `captures, cancels and refunds parts, each with an id of its own`() async throws {
    let platform = try await Platform()
    let id = try await platform.made()
    let number = id.dropLast(2)
    let capture = try await platform.payments.capture(
      id, Array(#"{"amount": 500, "operationReferences": {"merchantReference": "C-1"}}"#.utf8), platform.call())
    #expect(capture.status == 201 && capture.json["id"]?.text == "\(number)_1")
    #expect(capture.json["captureOutput"]?["operationReferences"]?["merchantReference"] == "C-1")
    let part = Array(#"{"amountOfMoney": {"amount": 250, "currencyCode": "EUR"}}"#.utf8)
    let cancel = try await platform.payments.cancel(id, part, platform.call())
    #expect(cancel.status == 200 && cancel.json["payment"]?["status"] == "CANCELLED")
    #expect(cancel.json["payment"]?["operationOutput"]?["amountOfMoney"]?["amount"] == 250)
    let refund = try await platform.payments.refund(id, part, platform.call())
    #expect(refund.json["status"] == "REFUNDED" && refund.json["id"]?.text == "\(number)_3")
    let details = try await platform.payments.details(id, of: Platform.merchant).json
    #expect(details["Operations"]?.elements.compactMap { $0["id"]?.text } == (0...3).map { "\(number)_\($0)" })
    #expect(try await platform.payments.captures(id, of: Platform.merchant).json["captures"]?.elements.count == 1)
    #expect(try await platform.payments.refunds(id, of: Platform.merchant).json["refunds"]?.elements.count == 1)
    let shown = try await platform.payments.show("\(number)_1", of: Platform.merchant).json
    #expect(shown["operationOutput"]?["id"]?.text == "\(number)_1")
  }

  @Test func `without a body takes all that is left`() async throws {
    let platform = try await Platform()
    let (captured, cancelled) = (try await platform.made(), try await platform.made())
    #expect(
      try await platform.payments.capture(captured, [], platform.call()).json["captureOutput"]?["amountOfMoney"]?[
        "amount"] == 1250)
    #expect(
      try await platform.payments.cancel(cancelled, [], platform.call()).json["payment"]?["statusOutput"]?["statusCode"]
        == 6)
    #expect(try await platform.payments.refund(captured, [], platform.call()).json["status"] == "REFUNDED")
  }

  @Test func `that is final waits for a capture in flight, and says so rather than that nothing is free`() async throws
  {
    let platform = try await Platform()
    let id = try await platform.made()
    platform.acquirer.captures(.pending(Pending(acquirerReference: "C-1")))
    _ = try await platform.payments.capture(id, Array(#"{"amount": 500}"#.utf8), platform.call())
    let refusal = await #expect(throws: GatewayError.self) {
      try await platform.payments.capture(id, Array(#"{"isFinal": true}"#.utf8), platform.call())
    }
    #expect(refusal?.code == "operation_in_progress" && refusal?.reason.contains("final capture") == true)
    #expect(refusal?.reason.contains("0.00") == false)
    let rest = try await platform.payments.capture(id, [], platform.call())
    #expect(rest.json["captureOutput"]?["amountOfMoney"]?["amount"] == 750)
  }

  @Test func `is done once for its key`() async throws {
    let platform = try await Platform()
    let id = try await platform.made()
    let bodies = [#"{"amount": 500}"#, #"{"amount": 700}"#].map { Array($0.utf8) }
    let first = try await platform.payments.capture(id, bodies[0], platform.call("k"))
    let again = try await platform.payments.capture(id, bodies[1], platform.call("k"))
    #expect(again.body == first.body && again.firstCallAt != nil)
    #expect(platform.acquirer.captures.count == 1)
  }

  @Test func `that is declined says so in its own way`() async throws {
    let platform = try await Platform()
    let decline = AcquirerAnswer.declined(Decline(reason: .doNotHonor, code: "05"))
    let (held, taken) = (try await platform.made(), try await platform.made(input: ["authorizationMode": "SALE"]))
    platform.acquirer.captures(decline)
    platform.acquirer.voids(decline)
    platform.acquirer.refunds(decline)
    let capture = try await platform.payments.capture(held, [], platform.call())
    #expect(capture.status == 201 && capture.json["status"] == "REJECTED_CAPTURE")
    let cancel = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.cancel(held, [], platform.call())
    }
    #expect(cancel?.faults.first?.id == "ACTION_NOT_ALLOWED_ON_TRANSACTION")
    let refund = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.refund(taken, [], platform.call())
    }
    #expect(refund?.status == 402 && refund?.refundResult?.statusOutput.statusCode == 83)
  }

  @Test func `that never left is a platform error`() async throws {
    let platform = try await Platform()
    let (held, taken) = (try await platform.made(), try await platform.made(input: ["authorizationMode": "SALE"]))
    platform.acquirer.captures(.notSent("x"))
    platform.acquirer.voids(.notSent("x"))
    platform.acquirer.refunds(.notSent("x"))
    for refusal in [
      await #expect(throws: PlatformRefusal.self) { try await platform.payments.capture(held, [], platform.call()) },
      await #expect(throws: PlatformRefusal.self) { try await platform.payments.cancel(held, [], platform.call()) },
      await #expect(throws: PlatformRefusal.self) { try await platform.payments.refund(taken, [], platform.call()) },
    ] { #expect(refusal?.status == 502) }
  }

  @Test func `on another merchant's payment is on none`() async throws {
    let platform = try await Platform()
    let id = try await platform.made()
    let call = platform.call(by: "stranger")
    for refusal in [
      await #expect(throws: PlatformRefusal.self) { try await platform.payments.show(id, of: "stranger") },
      await #expect(throws: PlatformRefusal.self) { try await platform.payments.show("0_0", of: "stranger") },
      await #expect(throws: PlatformRefusal.self) { try await platform.payments.show("?", of: "stranger") },
      await #expect(throws: PlatformRefusal.self) { try await platform.payments.capture(id, [], call) },
      await #expect(throws: PlatformRefusal.self) {
        try await platform.payments.show("\(id.dropLast(1))7", of: "shop")
      },
    ] { #expect(refusal == PlatformRefusal(.unknownPayment)) }
    #expect(platform.acquirer.captures.isEmpty)
  }

  @Test(
    arguments: [
      (#"{"amountOfMoney": {"amount": 1, "currencyCode": "USD"}}"#, "amountOfMoney.currencyCode"),
      (#"{"amountOfMoney": {"amount": 0, "currencyCode": "EUR"}}"#, "amountOfMoney.amount"),
      (#"{"captureId": "1_1"}"#, "captureId"), (#"{"amount": 100}"#, "amount"),
      (#"{"amountofmoney": {"amount": 1, "currencyCode": "EUR"}}"#, "amountofmoney"),
      (
        #"{"references": {"merchantReference": "12345678901234567890123456789012345678901"}}"#,
        "references.merchantReference"
      ),
    ])
  func `names the property that is wrong`(body: String, property: String) async throws {
    let platform = try await Platform()
    let id = try await platform.made(input: ["authorizationMode": "SALE"])
    let refusal = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.refund(id, Array(body.utf8), platform.call())
    }
    #expect(refusal?.status == 400 && refusal?.faults.first?.propertyName == property)
    #expect(platform.acquirer.refunds.isEmpty)
  }

  @Test func `with a misspelt amount is refused, and is not one of all that is left`() async throws {
    let platform = try await Platform()
    let id = try await platform.made()
    let money = #"{"amountOfMoney": {"amount": 1, "currencyCode": "EUR"}}"#
    for (body, property) in [(money, "amountOfMoney"), (#"{"isfinal": true}"#, "isfinal")] {
      let refusal = await #expect(throws: PlatformRefusal.self) {
        try await platform.payments.capture(id, Array(body.utf8), platform.call())
      }
      #expect(refusal?.status == 400 && refusal?.faults.first?.propertyName == property)
    }
    let refusal = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.cancel(id, Array(#"{"amount": 1}"#.utf8), platform.call())
    }
    #expect(refusal?.status == 400 && refusal?.faults.first?.propertyName == "amount")
    #expect(platform.acquirer.captures.isEmpty && platform.acquirer.voids.isEmpty)
  }

  /// SDKs leave out what a program has not set.
  @Test func `with null in the place of an amount is refused, and is not one of all that is left`() async throws {
    let platform = try await Platform()
    let (payments, held) = (platform.payments, try await platform.made())
    let captured = try await platform.made(input: ["authorizationMode": "SALE"])
    func refused(_ body: String, _ call: (String, [UInt8], IdempotentCall) async throws -> PlatformAnswer, _ id: String)
      async throws
    {
      let refusal = await #expect(throws: PlatformRefusal.self, "\(body)") {
        try await call(id, Array(body.utf8), platform.call())
      }
      #expect(refusal?.status == 400 && body.contains(refusal?.faults.first?.propertyName ?? "?"), "\(body)")
    }
    for body in [#"{"amount": null}"#, #"{"isFinal": null}"#] { try await refused(body, payments.capture, held) }
    for body in [#"{"amountOfMoney": null}"#, #"{"isFinal": null}"#] { try await refused(body, payments.cancel, held) }
    for body in [#"{"amountOfMoney": null}"#, #"{"captureId": null}"#] {
      try await refused(body, payments.refund, captured)
    }
    let acquirer = platform.acquirer
    #expect(acquirer.captures.count == 1 && acquirer.voids.isEmpty && acquirer.refunds.isEmpty)
  }

  @Test func `takes every member that an SDK's request may have`() async throws {
    let platform = try await Platform()
    let (captured, cancelled) = (try await platform.made(), try await platform.made())
    let items = #""lineItemDetails": [{"lineItemId": "1", "quantity": 1}]"#
    let references = #""operationReferences": {"merchantReference": "R-1", "operationGroupReference": "G"}"#
    let capture =
      #"{"shipping": {}, "isFinal": true, "references": {"merchantComment": "x"}, \#(items), \#(references)}"#
    #expect(try await platform.payments.capture(captured, Array(capture.utf8), platform.call()).status == 201)
    let cancel = #"{"shipping": {}, "isFinal": true, \#(items), \#(references)}"#
    #expect(try await platform.payments.cancel(cancelled, Array(cancel.utf8), platform.call()).status == 200)
    let refund = """
      {\(items), \(references), "isFinal": true, "reason": "x", "references": {"merchantReference": "R-2"},
       "omnichannelRefundSpecificInput": {"operatorId": "1"}, "refundRedirectPaymentMethodSpecificInput": {},
       "amountOfMoney": {"amount": 1, "currencyCode": "EUR"}}
      """
    #expect(try await platform.payments.refund(captured, Array(refund.utf8), platform.call()).status == 201)
  }
}

@Suite struct `Payment products` {
  private static let query = ProductQuery([
    ("countryCode", "IE"), ("currencyCode", "EUR"), ("isRecurring", "False"), ("hide", "fields"),
  ])

  @Test func `are Apple Pay alone, with the networks as Apple spells them`() throws {
    let products = PlatformProducts(Platform.terms())
    #expect(try products.networks("302", Self.query).json == ["networks": ["Visa", "MasterCard"]])
    let product = try products.show("302", Self.query).json
    #expect(product["id"] == 302 && product["fields"] == nil && product["paymentMethod"] == "mobile")
    #expect(try products.list(Self.query).json["paymentProducts"]?.elements.count == 1)
  }

  @Test func `are none for recurring payments`() throws {
    let query = ProductQuery([("countryCode", "IE"), ("currencyCode", "EUR"), ("isRecurring", "True")])
    #expect(try PlatformProducts(Platform.terms()).list(query).json["paymentProducts"] == [])
  }

  @Test(arguments: ["840", "", "302x"])
  func `beside it are not found`(id: String) {
    #expect(throws: PlatformRefusal.self) { try PlatformProducts(Platform.terms()).show(id, Self.query) }
  }

  @Test(
    arguments: [
      ([("countryCode", "IE")], "currencyCode"), ([("currencyCode", "EUR"), ("countryCode", "UK")], "countryCode"),
      ([("currencyCode", "EEE"), ("countryCode", "IE")], "currencyCode"),
      ([("currencyCode", "EUR"), ("countryCode", "ie")], "countryCode"),
    ])
  func `need a currency, and take no country that is none`(values: [(String, String)], property: String) {
    let query = ProductQuery(values.map { (name: $0.0, value: $0.1) })
    let refusal = #expect(throws: PlatformRefusal.self) { try PlatformProducts(Platform.terms()).list(query) }
    #expect(refusal?.faults.first?.propertyName == property)
  }

  @Test(arguments: [[("countryCode", ""), ("currencyCode", "EUR"), ("amount", "2350")], [("currencyCode", "EUR")]])
  func `are listed while the shop knows no country`(values: [(String, String)]) throws {
    let query = ProductQuery(values.map { (name: $0.0, value: $0.1) })
    #expect(try PlatformProducts(Platform.terms()).list(query).json["paymentProducts"]?.elements.count == 1)
  }

  @Test func `have the names of Apple's networks`() {
    #expect(Set(CardNetwork.known.map(\.appleName)).count == CardNetwork.known.count)
    #expect(CardNetwork.amex.appleName == "AmEx" && CardNetwork.masterCard.appleName == "MasterCard")
  }
}

@Suite struct `A code of ours` {
  @Test func `stands behind Worldline's name where that says less`() {
    let faults = PlatformFault.all(
      ours: "amount_exceeds_available", status: 409, detail: "no more than 12.50 EUR is left", property: nil,
      isRetriable: false)
    #expect(faults.first == .actionNotAllowed && faults.map(\.httpStatusCode) == [400, 400])
    #expect(faults.last?.id == "AMOUNT_EXCEEDS_AVAILABLE" && faults.last?.message.contains("12.50 EUR") == true)
    let alone = PlatformFault.all(ours: "out_of_time", status: 503, detail: "d", property: nil, isRetriable: true)
    #expect(alone.map(\.id) == ["OUT_OF_TIME"])
  }

  @Test(
    arguments: [
      ("payment_not_found", 404, 404, "UNKNOWN_PAYMENT_ID"),
      (
        "amount_exceeds_available", 409, 400,
        "ACTION_NOT_ALLOWED_ON_TRANSACTION"
      ), ("idempotency_key_in_use", 409, 409, "DUPLICATE_REQUEST_IN_PROGRESS"),
      ("currency_not_supported", 422, 400, "CURRENCY_NOT_SUPPORTED"),
      ("internal_error", 500, 500, "UNKNOWN_SERVER_ERROR"),
      ("out_of_time", 503, 503, "OUT_OF_TIME"), ("gateway_timeout", 504, 503, "GATEWAY_TIMEOUT"),
      ("signature_refused", 403, 403, "ACCESS_TO_MERCHANT_NOT_ALLOWED"),
    ])
  func `has a fault with one of Worldline's statuses and two codes`(code: String, ours: Int, theirs: Int, id: String) {
    let fault = PlatformFault(ours: code, status: ours, detail: "d", property: nil, isRetriable: false)
    #expect(fault.httpStatusCode == theirs && fault.id == id)
    #expect((4...8).contains(fault.code.utf8.count) && fault.errorCode.utf8.count == 8)
  }
}
