import Acquiring
import DirectWire
import Gateway
import Ledger
import Orders
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A later payment of an agreement` {
  private static var charging: FakeAcquirer {
    var capabilities = AcquirerCapabilities(
      name: "fake", instruments: [.network, .stored], idempotency: .none, inquiry: true, reversal: true,
      settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7))
    capabilities.storesCredentials = [.network]
    return FakeAcquirer(capabilities)
  }

  private static let agreement: JSONValue = [
    "description": "Box", "managementURL": "https://shop.example/box",
    "recurring": ["regular": ["label": "Box", "amount": 1_250, "interval": ["unit": "day", "count": 7]]],
  ]

  private static func first(_ product: JSONObject = ["isRecurring": true]) -> JSONObject {
    var product = product
    product["agreement"] = agreement
    return ["paymentProduct302SpecificInput": .object(product), "requiresApproval": false]
  }

  private static func body(
    _ amount: Int64? = 1_250, _ input: JSONObject = ["subsequentType": "Recurring"],
    member: String = "subsequentcardPaymentMethodSpecificInput"
  ) -> [UInt8] {
    var order: JSONObject = ["references": ["merchantReference": "month-2"]]
    if let amount { order["amountOfMoney"] = ["amount": .integer(amount), "currencyCode": "EUR"] }
    let body: JSONObject = ["order": .object(order), member: .object(input)]
    return JSONValue.object(body).serialized()
  }

  private func platform() async throws -> (Platform, id: String) {
    let platform = try await Platform(Self.charging)
    let id = try await platform.made(input: Self.first())
    platform.clock.advance(.seconds(86_400 * 7))
    return (platform, id)
  }

  private func refusal(_ platform: Platform, _ id: String, _ body: [UInt8]) async throws -> PlatformRefusal {
    try #require(
      await #expect(throws: PlatformRefusal.self) { try await platform.payments.subsequent(id, body, platform.call()) })
  }

  @Test(arguments: ["subsequentcardPaymentMethodSpecificInput", "subsequentCardPaymentMethodSpecificInput"])
  func `is made by the first payment's id, captured, and shown with its own reference`(_ member: String) async throws {
    let (platform, id) = try await platform()
    let answer = try await platform.payments.subsequent(id, Self.body(member: member), platform.call())
    #expect(answer.status == 201 && answer.json["payment"]?["status"] == "CAPTURED")
    #expect(answer.json["payment"]?["paymentOutput"]?["references"]?["merchantReference"] == "month-2")
    let made = try #require(answer.json["payment"]?["id"]?.text)
    #expect(made == answer.location?.description && made != id)
    #expect(try await platform.payments.show(made, of: Platform.merchant).json == answer.json["payment"])
    guard case .stored(let credential)? = platform.acquirer.authorizations.last?.instrument else { throw Unexpected() }
    #expect(credential.firstPayment.hasPrefix("A-"))
    #expect(platform.acquirer.authorizations.map { $0.sale.agreement?.kind } == [.recurring, .recurring])
  }

  @Test func `is made once under its key, and once for its period under any`() async throws {
    let (platform, id) = try await platform()
    let first = try await platform.payments.subsequent(id, Self.body(), platform.call("k"))
    let again = try await platform.payments.subsequent(id, Self.body(), platform.call("k"))
    #expect(again.json == first.json && again.firstCallAt != nil)
    let other = await #expect(throws: GatewayError.self) {
      try await platform.payments.subsequent(id, Self.body(), platform.call())
    }
    #expect(other?.code == "agreement_period_charged")
    #expect(platform.acquirer.authorizations.count == 2)
    platform.clock.advance(.seconds(86_400 * 7))
    #expect(try await platform.payments.subsequent(id, Self.body(), platform.call()).status == 201)
  }

  @Test func `that is declined is refused with its payment, and the period stays open`() async throws {
    let (platform, id) = try await platform()
    platform.acquirer.authorizes(.declined(Decline(reason: .insufficientFunds, code: "51")))
    let declined = try await refusal(platform, id, Self.body())
    #expect(declined.status == 402 && declined.paymentResult?.payment.status == "REJECTED")
    platform.acquirer.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    #expect(try await platform.payments.subsequent(id, Self.body(), platform.call()).status == 201)
  }

  @Test func `may leave out its amount, name another, and wait for its capture`() async throws {
    let (platform, id) = try await platform()
    let usual = try await platform.payments.subsequent(id, Self.body(nil), platform.call())
    #expect(usual.json["payment"]?["paymentOutput"]?["amountOfMoney"]?["amount"] == 1_250)
    platform.clock.advance(.seconds(86_400 * 7))
    let input: JSONObject = ["subsequentType": "recurringvariable", "authorizationMode": "FINAL_AUTHORIZATION"]
    let other = try await platform.payments.subsequent(id, Self.body(999, input), platform.call())
    #expect(other.json["payment"]?["paymentOutput"]?["amountOfMoney"]?["amount"] == 999)
    #expect(other.json["payment"]?["status"] == "PENDING_CAPTURE")
  }

  @Test func `is refused for what it cannot be`() async throws {
    let (platform, id) = try await platform()
    let wrong: [(JSONObject, Int64, String)] = [
      (["subsequentType": "Unscheduled"], 1_250, "subsequentType"),
      (["subsequentType": "Weekly"], 1_250, "subsequentType"),
      ([:], -1, "amount"), ([:], 0, "amount"),
    ]
    for (input, amount, property) in wrong {
      let refusal = try await refusal(platform, id, Self.body(amount, input))
      #expect(refusal.status == 400 && refusal.faults.first?.propertyName?.contains(property) == true)
    }
    #expect(try await refusal(platform, "0000_0", Self.body()).status == 404)
    let plain = try await platform.made()
    #expect(try await refusal(platform, plain, Self.body()).faults.first?.id == "ACTION_NOT_ALLOWED_ON_TRANSACTION")
    let foreign = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.subsequent(id, Self.body(), platform.call(by: "other"))
    }
    #expect(foreign?.status == 404)
    #expect(platform.acquirer.authorizations.count == 2)
  }

  @Test(arguments: [
    #"{"order": {"amountofMoney": {"amount": 1, "currencyCode": "EUR"}}}"#,
    #"{"order": {"amountOfMoney": null}}"#,
    #"{"order": {}, "amountOfMoney": {"amount": 1, "currencyCode": "EUR"}}"#,
    #"{"order": {}, "subsequentcardPaymentMethodSpecificInput": {"perod": 1}}"#,
    #"{"order": {}, "subsequentcardPaymentMethodSpecificInput": {"autoCapture": null}}"#,
    #"{"order": {}, "subsequentCardPaymentMethodSpecificinput": {}}"#,
  ])
  func `moves nothing where a member is misspelt`(_ body: String) async throws {
    let (platform, id) = try await platform()
    let refused = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.subsequent(id, Array(body.utf8), platform.call())
    }
    #expect(refused?.status == 400 && refused?.faults.first?.propertyName?.isEmpty == false)
    #expect(platform.acquirer.authorizations.count == 1)
  }

  @Test func `may have every member that Worldline's libraries know`() async throws {
    let (platform, id) = try await platform()
    let body = """
      {"order": {"additionalInput": {}, "customer": {}, "discount": {}, "shipping": {}, "shoppingCart": {},
        "surchargeSpecificInput": {}, "taxPercentage": 1, "totalTaxAmount": 1, "references": {"merchantReference": "m"}},
       "omnichannelSubsequentSpecificInput": {}, "subsequentPaymentProduct5001SpecificInput": {},
       "subsequentcardPaymentMethodSpecificInput": {"subsequentType": "Recurring", "marketPlace": {}, "paymentNumber": 2,
        "schemeReferenceData": "x", "token": "x", "transactionChannel": "ECOMMERCE"}}
      """
    #expect(try await platform.payments.subsequent(id, Array(body.utf8), platform.call()).status == 201)
  }

  @Test func `says which types fit its agreement`() async throws {
    let (platform, id) = try await platform()
    let refused = try await refusal(platform, id, Self.body(1_250, ["subsequentType": "Unscheduled"]))
    #expect(
      refused.faults.first?.message == "Of an agreement that is recurring it is one of Recurring, RecurringVariable.")
  }

  @Test(
    arguments: [
      ["isRecurring": true], ["recurring": ["recurringPaymentSequenceIndicator": "first"]], ["agreement": agreement],
      ["paymentProduct302SpecificInput": ["agrement": agreement]],
      ["paymentProduct302SpecificinputX": ["isRecurring": "True"]],
    ] as [JSONObject])
  func `is not lost where what begins its agreement stands in another place`(_ input: JSONObject) async throws {
    let platform = try await Platform(Self.charging)
    let refused = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.create(Platform.body(input: input), platform.call())
    }
    #expect(refused?.status == 400 && refused?.faults.first?.id == "INVALID_VALUE")
    #expect(platform.acquirer.authorizations.isEmpty)
    let usual: JSONObject = ["isRecurring": false, "paymentProduct302SpecificInput": ["isRecurring": "false"]]
    #expect(try await platform.payments.create(Platform.body(input: usual), platform.call()).status == 201)
  }

  @Test func `follows a first payment that has the first period's price in it`() async throws {
    let platform = try await Platform(Self.charging)
    let refused = await #expect(throws: OrderError.self) {
      try await platform.payments.create(Platform.body(1_249, input: Self.first()), platform.call())
    }
    #expect(refused?.code == .basketInvalid && refused?.field?.hasSuffix("302SpecificInput.agreement") == true)
    #expect(platform.acquirer.authorizations.isEmpty)
    #expect(
      try await platform.payments.create(Platform.body(1_251, input: Self.first()), platform.call()).status == 201)
  }

  @Test func `needs an agreement, which the payment or the basket of its reference names`() async throws {
    let platform = try await Platform(Self.charging)
    let recurring: JSONObject = ["paymentProduct302SpecificInput": ["isRecurring": "true"]]
    let missing = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.create(Platform.body(input: recurring), platform.call())
    }
    #expect(missing?.faults.first?.propertyName?.hasSuffix(".agreement") == true)
    let later: JSONObject = [
      "paymentProduct302SpecificInput": [
        "isRecurring": true, "recurring": ["recurringPaymentSequenceIndicator": "recurring"],
      ]
    ]
    let second = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.create(Platform.body(input: later), platform.call())
    }
    #expect(second?.status == 400)
    let refusing = try await Platform()
    let none = await #expect(throws: GatewayError.self) {
      try await refusing.payments.create(Platform.body(input: Self.first()), refusing.call())
    }
    #expect(none == .agreementNotOffered(Platform.merchant))
    #expect(refusing.acquirer.authorizations.isEmpty)
  }

  @Test func `has a token that shows its card masked, and that ends the agreement when it is deleted`() async throws {
    let platform = try await Platform(Self.charging)
    let body = Platform.body(input: Self.first())
    let created = try await platform.payments.create(body, platform.call("k"))
    #expect(created.json["creationOutput"]?["isNewToken"] == true)
    let (token, id) = (
      try #require(created.json["creationOutput"]?["token"]?.text), try #require(created.json["payment"]?["id"]?.text)
    )
    let again = try await platform.payments.create(body, platform.call("k"))
    #expect(again.json == created.json)
    let shown = try await platform.payments.token(token, of: Platform.merchant).json
    #expect(shown["id"]?.text == token && shown["paymentProductId"] == 302 && shown["isTemporary"] == false)
    #expect(shown["card"]?["alias"]?.text?.hasPrefix("************") == true)
    let foreign = await #expect(throws: PlatformRefusal.self) {
      try await platform.payments.token(token, of: "other")
    }
    #expect(foreign?.status == 404)
    try await platform.payments.deleteToken(token, of: Platform.merchant)
    for _ in 0..<2 {
      let gone = await #expect(throws: PlatformRefusal.self) {
        try await platform.payments.deleteToken(token, of: Platform.merchant)
      }
      #expect(gone?.status == 404 && gone?.faults.first?.id == "UNKNOWN_TOKEN_ID")
    }
    platform.clock.advance(.seconds(86_400 * 7))
    let ended = await #expect(throws: GatewayError.self) {
      try await platform.payments.subsequent(id, Self.body(), platform.call())
    }
    #expect(ended?.code == "agreement_not_active")
    #expect(PlatformPayments.refuseToken().status == 400)
    let plain = try await platform.payments.create(Platform.body(), platform.call())
    #expect(plain.json["creationOutput"]?["isNewToken"] == false && plain.json["creationOutput"]?["token"] == nil)
  }

  @Test func `is shown with its agreement: status, calendar, charges and history`() async throws {
    let (platform, id) = try await platform()
    _ = try await platform.payments.subsequent(id, Self.body(), platform.call())
    let database = platform.journal.database
    let page = try await database.read { try PlatformAgreements.page([], of: Platform.merchant, in: $0) }
    let listed = try #require(page.agreements.first)
    #expect(page.agreements.count == 1 && listed.status == .active && listed.paymentId == id)
    #expect(listed.current?.number == 1 && listed.next?.number == 2)
    let shown = try #require(
      try await database.read { try PlatformAgreements.find(listed.id, of: Platform.merchant, in: $0) })
    #expect(shown.charges?.map(\.period) == [0, 1] && shown.charges?.map(\.status) == [.captured, .captured])
    #expect(shown.history?.map(\.event) == ["begun"])
    #expect(try await database.read { try PlatformAgreements.find(listed.id, of: "other", in: $0) } == nil)
    let ended = try await database.read {
      try PlatformAgreements.page([("status", "ended")], of: Platform.merchant, in: $0)
    }
    #expect(ended.agreements.isEmpty)
  }
}

private struct Unexpected: Error {}
