import Acquiring
import Connectors
import HTTPTransport
import ProviderEmulators
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The connector to Adyen alone: bytes out, answer in.
@Suite struct `Adyen's connector` {
  private let wire = AdyenWire()
  private let cryptogram = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="

  private func authorize(
    eci: String? = "7", sale: SaleDetails = SaleDetails(), settings: AdyenSettings? = nil
  ) async throws -> AcquirerAnswer {
    let card = NetworkToken(
      dpan: try #require(DPAN("4761739000000012")), expiry: try #require(CardExpiry(yymm: "3112")),
      cryptogram: Cryptogram(base64: cryptogram), eci: eci)
    let request = AuthorizationRequest(
      reference: AttemptReference("R1"), merchantReference: "order 1", amount: .eur(1250), instrument: .network(card),
      sale: sale)
    return try await wire.acquirer(settings).authorize(request, .after(TestRun.whole))
  }

  private func answer(_ status: Int, _ body: String, _ headers: [HTTPField] = []) async throws -> AcquirerAnswer {
    wire.answers(.success(InboundResponse(status: status, headers: headers, body: Array(body.utf8))))
    return try await authorize()
  }

  private let approval = #"""
    {"pspReference":"NC6HT9CRT65ZGN82","merchantReference":"R1","resultCode":"Authorised","amount":{"currency":"EUR","value":1250},"additionalData":{"authCode":"B2C3D4","networkTxReference":"123456789012345"}}
    """#
  private let received = #"""
    {"merchantAccount":"Shop","paymentPspReference":"NC6HT9CRT65ZGN82","pspReference":"QFQTPCQ8HXSKGK82","reference":"C1.capture","status":"received","amount":{"currency":"EUR","value":500}}
    """#

  @Test func `a network token goes out as a card with the device's authentication, byte for byte`() async throws {
    _ = try await answer(200, approval)
    let request = try #require(wire.requests.first)
    #expect(request.method == "POST" && request.url == "https://checkout-test.adyen.com/v72/payments")
    #expect(request.headers.first(named: "Idempotency-Key") == "R1")
    #expect(request.headers.first(named: "X-API-Key") == "secret-key")
    #expect(
      String(decoding: request.body, as: UTF8.self) == #"""
        {"merchantAccount":"Shop","reference":"R1","amount":{"currency":"EUR","value":1250},"returnUrl":"https://shop.example/","shopperInteraction":"Ecommerce","paymentMethod":{"type":"scheme","number":"4761739000000012","expiryMonth":"12","expiryYear":"2031"},"mpiData":{"authenticationResponse":"Y","directoryResponse":"Y","cavv":"AgAAAAAAAIR8CQrXcIhbQAAAAAA=","eci":"07"},"additionalData":{"manualCapture":"true","paymentdatasource.type":"applepay"}}
        """#)
  }

  /// Adyen's own library sends the same for the same acts: `scripts/test-providers adyen`.
  @Test func `every request is the one that Adyen's library is compared with`() async throws {
    let compared = try JSONField(JSONReader.read(Array(try Repository.text("Tests/Judges/adyen/requests.json").utf8)))
    let (settings, deadline) = (try AdyenWire.settings(accounts: ["TenderSandbox"]), Deadline.after(TestRun.whole))
    let followUp = FollowUpRequest(
      reference: AttemptReference("C1"), authorization: "NC6HT9CRT65ZGN82", amount: .eur(500))
    let acquirer = try wire.acquirer(settings)
    _ = try await authorize(settings: settings)
    _ = await acquirer.capture(followUp, deadline)
    _ = await acquirer.void(followUp, deadline)
    _ = await acquirer.refund(followUp, deadline)
    _ = await acquirer.reverse(InquiryRequest(reference: AttemptReference("R1"), amount: .eur(1250)), deadline)
    _ = await acquirer.checkCredentials(deadline)
    var sale = SaleDetails()
    sale.agreement = .init(.automaticReload, shopper: "018f-shopper")
    _ = try await authorize(sale: sale, settings: settings)
    _ = try await charge("M5N7TQ4TG5PFWR50", settings)
    for (request, expected) in zip(wire.requests, try compared.array) {
      #expect(request.url == "https://checkout-test.adyen.com" + (try expected.member("path").string))
      #expect(try request.headers.first(named: "Idempotency-Key") == expected.memberIfPresent("key")?.string)
      #expect(try JSONReader.read(request.body) == expected.member("body").value)
      #expect(Set(request.headers.map(\.name)).isSubset(of: ["X-API-Key", "Content-Type", "Idempotency-Key"]))
    }
    #expect(try wire.requests.count == compared.array.count)
  }

  private func charge(_ reference: String?, _ settings: AdyenSettings? = nil) async throws -> AcquirerAnswer {
    let credential = StoredCredential(
      firstPayment: "NC6HT9CRT65ZGN82", reference: reference, networkTransactionID: "123456789012345",
      networkLinkID: nil, card: CardSummary(deviceAccountSuffix: "0012", expiry: nil, hasECI: false))
    var sale = SaleDetails()
    sale.agreement = .init(.recurring, shopper: "018f-shopper")
    let request = AuthorizationRequest(
      reference: AttemptReference("R1"), merchantReference: "order 1", amount: .eur(1250),
      instrument: .stored(credential), sale: sale)
    return try await wire.acquirer(settings).authorize(request, .after(TestRun.whole))
  }

  @Test func `a later payment is not asked for where Adyen has named no stored card`() async throws {
    #expect(try await charge(nil) == .notTaken("no_stored_credential") && wire.requests.isEmpty)
  }

  @Test func `an indicator that Apple did not deliver is not made up`() async throws {
    _ = try await authorize(eci: nil)
    let body = try JSONReader.read(try #require(wire.requests.first).body)
    #expect(body["mpiData"]?["cavv"] != nil && body["mpiData"]?["eci"] == nil)
  }

  @Test(arguments: [(.final, "FinalAuth"), (.preliminary, "PreAuth"), (nil, nil)] as [(AuthorizationType?, String?)])
  func `a payment is authorized as it asks`(type: AuthorizationType?, word: String?) async throws {
    var sale = SaleDetails()
    sale.authorization = type
    _ = try await authorize(sale: sale)
    let body = try JSONReader.read(try #require(wire.requests.first).body)
    #expect(body["additionalData"]?["authorisationType"] == word.map(JSONValue.string))
  }

  @Test func `of the sale goes out what Adyen takes`() async throws {
    let shopper = SaleDetails.Shopper(
      givenName: "Ada", familyName: "Lovelace", emailAddress: "ada@example.com", phoneNumber: "020 1234",
      countryCode: "GB")
    _ = try await authorize(
      sale: SaleDetails(
        order: "O1", statementDescriptor: "Café \u{1F9C1} of Ada & Sons, London", merchantCategory: "5812",
        shopper: shopper))
    let body = try JSONReader.read(try #require(wire.requests.first).body)
    #expect(body["merchantOrderReference"] == "O1" && body["mcc"] == "5812" && body["countryCode"] == "GB")
    #expect(body["shopperStatement"] == "Caf  of Ada  Sons, Lon")
    #expect(body["shopperName"] == ["firstName": "Ada", "lastName": "Lovelace"])
    // Without its country's code, a number is refused by Adyen, and the payment with it.
    #expect(body["telephoneNumber"] == nil && body["billingAddress"] == nil)
  }

  @Test func `what Adyen would refuse of a contact is left out, and the rest stays`() async throws {
    _ = try await authorize(sale: SaleDetails(shopper: .unfit))
    let body = try JSONReader.read(try #require(wire.requests.first).body)
    #expect(body["shopperName"] == ["firstName": "Maud", "lastName": "Müller"])
    for member in ["shopperEmail", "telephoneNumber", "countryCode"] { #expect(body[member] == nil) }
  }

  @Test(arguments: [
    (
      AdyenModification.capture, "captures",
      #"{"merchantAccount":"Shop","reference":"C1.capture","amount":{"currency":"EUR","value":500}}"#
    ),
    (.void, "cancels", #"{"merchantAccount":"Shop","reference":"C1.void"}"#),
    (
      .refund, "refunds", #"{"merchantAccount":"Shop","reference":"C1.refund","amount":{"currency":"EUR","value":500}}"#
    ),
  ])
  func `a modification names the payment in its address and the operation in its reference`(
    kind: AdyenModification, path: String, body: String
  ) async throws {
    _ = try await modify(kind)
    let request = try #require(wire.requests.first)
    #expect(request.url == "https://checkout-test.adyen.com/v72/payments/NC6HT9CRT65ZGN82/\(path)")
    #expect(request.headers.first(named: "Idempotency-Key") == "C1")
    #expect(String(decoding: request.body, as: UTF8.self) == body)
  }

  enum AdyenModification: Sendable { case capture, void, refund }

  private func modify(_ kind: AdyenModification, _ name: String = "NC6HT9CRT65ZGN82") async throws -> AcquirerAnswer {
    let request = FollowUpRequest(reference: AttemptReference("C1"), authorization: name, amount: .eur(500))
    let acquirer = try wire.acquirer()
    return switch kind {
    case .capture: await acquirer.capture(request, .after(TestRun.whole))
    case .void: await acquirer.void(request, .after(TestRun.whole))
    case .refund: await acquirer.refund(request, .after(TestRun.whole))
    }
  }

  @Test func `a cancel by our reference has no idempotency key, so that a second one is tried`() async throws {
    let question = InquiryRequest(reference: AttemptReference("R1"), amount: .eur(1250))
    _ = try await wire.acquirer().reverse(question, .after(TestRun.whole))
    let request = try #require(wire.requests.first)
    #expect(request.url == "https://checkout-test.adyen.com/v72/cancels")
    #expect(request.headers.first(named: "Idempotency-Key") == nil)
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"merchantAccount":"Shop","paymentReference":"R1"}"#)
  }

  @Test func `the live host begins with the account's prefix, which cannot end it`() async throws {
    _ = try await authorize(settings: try AdyenWire.settings(host: .live(prefix: "1797a841fbb37ca7-AdyenDemo")))
    #expect(
      wire.requests.first?.url
        == "https://1797a841fbb37ca7-AdyenDemo-checkout-live.adyenpayments.com/checkout/v72/payments")
    for prefix in ["", "a.example/", "a/b", "a@b", "a.b", "-a", "é", "a#", String(repeating: "a", count: 64)] {
      #expect(throws: ConnectorSettingsError.self, "\(prefix)") { try AdyenWire.settings(host: .live(prefix: prefix)) }
    }
  }

  @Test func `settings that Adyen cannot have given out are refused`() throws {
    #expect(throws: ConnectorSettingsError.self) { try AdyenWire.settings(accounts: []) }
    #expect(throws: ConnectorSettingsError.self) { try AdyenWire.settings(accounts: ["Two words"]) }
    #expect(AdyenHMACKey(hex: "00FF") == nil && AdyenAPIKey("two\nlines") == nil)
    #expect("\(AdyenAPIKey("secret-key") as Any)\(AdyenHMACKey(hex: AdyenVisit.hmacKey) as Any)".contains("•••"))
    #expect(!"\(try AdyenWire.settings())".contains("secret"))
  }

  @Test func `an approval is an approval`() async throws {
    #expect(
      try await answer(200, approval)
        == .approved(
          Approval(
            acquirerReference: "NC6HT9CRT65ZGN82", authorizationCode: "B2C3D4",
            networkTransactionID: "123456789012345")))
  }

  @Test func `a partial approval says how much`() async throws {
    let partial = approval.replacing("\"Authorised\"", with: "\"PartiallyAuthorised\"")
      .replacing("1250", with: "500")
    guard case .approved(let approval) = try await answer(200, partial) else { throw TransportError.timedOut }
    #expect(approval.approvedAmount == .eur(500))
  }

  @Test(arguments: [
    ("\"R1\"", "\"R2\""), ("1250", "1251"), ("1250", "\"1250\""), ("1250", "1250.0"), ("EUR", "USD"), ("EUR", "eur"),
    ("Authorised", "authorised"), ("Authorised", "Success"), ("Authorised", "PartiallyAuthorised"),
    ("NC6HT9CRT65ZGN82", ""), ("NC6HT9CRT65ZGN82", "../../cancels"), ("\"pspReference\"", "\"psp\""),
    (#""merchantReference":"R1","#, ""), ("}", "}}"), ("{", "["), ("}", ",}"),
    (#"{"pspReference""#, #"{"resultCode":"Refused","pspReference""#),
  ])
  func `an approval with one thing wrong is none`(right: String, wrong: String) async throws {
    let parts = approval.split(separator: right, maxSplits: 1, omittingEmptySubsequences: false)
    let broken = parts.joined(separator: wrong)
    guard case .unknown = try await answer(200, broken) else {
      Issue.record("\(broken)")
      return
    }
  }

  @Test func `an answer under another key is none`() async throws {
    guard case .unknown = try await answer(200, approval, [HTTPField("idempotency-key", "R2")]) else {
      throw TransportError.timedOut
    }
    guard case .approved = try await answer(200, approval, [HTTPField("idempotency-key", "R1")]) else {
      throw TransportError.timedOut
    }
  }

  @Test(arguments: [
    "<html>Please try again.</html>", "", #"{"pspReference":"NC6HT9CRT65ZGN82","merchantRef"#, "null", "{}",
  ])
  func `what is no answer of Adyen's leaves the outcome unknown`(body: String) async throws {
    guard case .unknown = try await answer(200, body) else { throw TransportError.timedOut }
    wire.answers(.success(InboundResponse(status: 201, body: Array(body.utf8))))
    guard case .unknown = try await modify(.capture) else { throw TransportError.timedOut }
  }

  @Test(arguments: [100, 201, 202, 204, 301, 302, 307, 404, 409, 500, 502, 503, 504])
  func `an approval under another status than 200 is none`(status: Int) async throws {
    guard case .unknown = try await answer(status, approval, [HTTPField("Location", "https://x.example/")]) else {
      Issue.record("\(status)")
      return
    }
    #expect(wire.requests.count == 1)
  }

  @Test(arguments: [
    ("NC6HT9CRT65ZGN82", "NC6HT9CRT65ZGN83"), ("C1.capture", "C2.capture"), ("C1.capture", "C1.refund"),
    ("Shop", "Other"), ("500", "501"), ("EUR", "USD"), ("received", "authorised"), ("QFQTPCQ8HXSKGK82", "/"),
    (#""reference":"C1.capture","#, ""),
  ])
  func `a receipt with one thing wrong is none`(right: String, wrong: String) async throws {
    wire.answers(.success(InboundResponse(status: 201, body: Array(received.utf8))))
    #expect(try await modify(.capture) == .pending(Pending(acquirerReference: "QFQTPCQ8HXSKGK82")))
    let broken = received.replacing(right, with: wrong)
    wire.answers(.success(InboundResponse(status: 201, body: Array(broken.utf8))))
    guard case .unknown = try await modify(.capture) else {
      Issue.record("\(broken)")
      return
    }
  }

  @Test(arguments: [
    (400, "702", DeclineReason.configuration), (401, "000", .configuration), (403, "901", .configuration),
    (422, "130", .configuration), (422, "101", .invalidCard), (422, "129", .expiredCard),
  ])
  func `a call that Adyen did not accept did nothing`(status: Int, code: String, reason: DeclineReason) async throws {
    let error = #"{"status":\#(status),"errorCode":"\#(code)","message":"…","errorType":"validation"}"#
    #expect(try await answer(status, error) == .declined(Decline(reason: reason, code: code)))
    // A proxy's page, or another status than the answer's own, is not Adyen's word.
    guard case .unknown = try await answer(status, "<html>a proxy speaks</html>") else { throw TransportError.timedOut }
    guard case .unknown = try await answer(status, error.replacing("\(status)", with: "418")) else {
      throw TransportError.timedOut
    }
  }

  @Test(arguments: [
    ("Refused", "2", DeclineReason.doNotHonor), ("Refused", "12", .insufficientFunds),
    ("Refused", "20", .suspectedFraud),
    ("Refused", "999", .other), ("Error", "4", .issuerUnavailable), ("Error", "999", .issuerUnavailable),
    ("Cancelled", "15", .other),
  ])
  func `a refusal's code decides the reason, and an unknown code is a refusal too`(
    result: String, code: String, reason: DeclineReason
  ) async throws {
    let body =
      #"{"pspReference":"NC6HT9CRT65ZGN82","merchantReference":"R1","resultCode":"\#(result)","refusalReasonCode":"\#(code)"}"#
    #expect(try await answer(200, body) == .declined(Decline(reason: reason, code: code)))
  }

  @Test(arguments: ["RedirectShopper", "ChallengeShopper", "IdentifyShopper"])
  func `a payment that waits for the shopper is declined`(result: String) async throws {
    let body = #"{"pspReference":"NC6HT9CRT65ZGN82","merchantReference":"R1","resultCode":"\#(result)"}"#
    #expect(try await answer(200, body) == .declined(Decline(reason: .authenticationRequired, code: result)))
  }

  @Test func `only what provably never left was not sent`() async throws {
    wire.answers(.failure(.notSent("connection refused")))
    #expect(try await authorize() == .notSent("connection refused"))
    for error in [TransportError.timedOut, .interrupted("reset"), .responseTooLarge] {
      wire.answers(.failure(error))
      guard case .unknown = try await authorize() else { throw error }
    }
  }

  @Test func `nothing is sent without time, to another account, or under a name that is none`() async throws {
    let request = FollowUpRequest(reference: AttemptReference("C1"), authorization: "A1", amount: .eur(500))
    guard case .notSent = try await wire.acquirer().capture(request, .after(.zero)) else {
      throw TransportError.timedOut
    }
    #expect(try await authorize(sale: SaleDetails(merchantAccount: "Other")) == .notTaken("other_account"))
    #expect(try await modify(.refund, "../payments") == .notTaken("bad_reference"))
    #expect(wire.requests.isEmpty)
  }

  @Test func `it states what Adyen can do`() throws {
    let capabilities = try wire.acquirer().capabilities
    #expect(capabilities.route == "adyen/eu" && capabilities.instruments == [.network, .sealed, .stored])
    #expect(capabilities.parts == [.capture, .furtherCaptures, .refund])
    #expect(!capabilities.inquiry && capabilities.reversal)
    let pesos = Amount(minorUnits: 1250, currency: try #require(Currency(code: "CLP")))
    #expect(capabilities.toAcquirer(pesos)?.minorUnits == 125_000)
  }
}

/// The network's place in these tests: it answers as told, and keeps what was sent.
private final class AdyenWire: Sendable {
  private struct State {
    var answer: Result<InboundResponse, TransportError> = .failure(.timedOut)
    var requests: [OutboundRequest] = []
  }

  private let state = Mutex(State())

  func answers(_ answer: Result<InboundResponse, TransportError>) { state.withLock { $0.answer = answer } }
  var requests: [OutboundRequest] { state.withLock { $0.requests } }

  static func settings(host: AdyenSettings.Host = .test, accounts: [String] = ["Shop"]) throws -> AdyenSettings {
    try AdyenSettings(
      host: host, account: "eu", apiKey: try #require(AdyenAPIKey("secret-key")),
      hmacKeys: [try #require(AdyenHMACKey(hex: AdyenVisit.hmacKey))], merchantAccounts: accounts,
      returnURL: "https://shop.example/")
  }

  func acquirer(_ settings: AdyenSettings? = nil) throws -> Acquirer {
    .adyen(
      try settings ?? Self.settings(),
      http: HTTPSender { request, _ throws(TransportError) in
        try self.state.withLock { state in
          state.requests.append(request)
          return state.answer
        }.get()
      })
  }
}
