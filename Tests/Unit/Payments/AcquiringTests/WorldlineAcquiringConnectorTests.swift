import Acquiring
import Connectors
import HTTPTransport
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The connector to Worldline Acquiring alone: bytes out, answer in.
@Suite struct `Worldline Acquiring's connector` {
  private let wire = WorldlineAcquiringWire()
  private let deadline = Deadline.after(TestRun.whole)

  private func authorize(
    _ amount: Amount = .eur(1250), eci: String? = "7", sale: SaleDetails = SaleDetails(),
    _ change: (inout WorldlineAcquiringSettings) -> Void = { _ in }
  ) async throws -> AcquirerAnswer {
    let card = NetworkToken(
      dpan: try #require(DPAN("4761739000000012")), expiry: try #require(CardExpiry(yymm: "3112")),
      cryptogram: Cryptogram(base64: "AgAAAAAAAIR8CQrXcIhbQAAAAAA="), eci: eci)
    let request = AuthorizationRequest(
      reference: AttemptReference("R1"), merchantReference: "order 1", amount: amount, instrument: .network(card),
      sale: sale)
    return try await wire.acquirer(change).authorize(request, deadline)
  }

  private func answer(_ status: Int, _ body: String, _ headers: [HTTPField] = []) async throws -> AcquirerAnswer {
    wire.answers(InboundResponse(status: status, headers: headers, body: Array(body.utf8)))
    return try await authorize()
  }

  private static let approval = #"""
    {"operationId":"R1","paymentId":"pay:ch:etu:xBNVCvvTT3GYTn9oz_asvQ","status":"AUTHORIZED","responder":"ISSUER","responseCode":"0","responseCodeCategory":"APPROVED","responseCodeDescription":"Accepted","initialAuthorizationCode":"B2C3D4","totalAuthorizedAmount":{"amount":1250,"currencyCode":"EUR","numberOfDecimals":2},"references":{"schemeTransactionId":"123456789012345"}}
    """#

  @Test func `a network token goes out in Apple Pay's wallet, byte for byte`() async throws {
    let result = try await answer(201, Self.approval)
    #expect(
      result
        == .approved(
          Approval(
            acquirerReference: "pay:ch:etu:xBNVCvvTT3GYTn9oz_asvQ", authorizationCode: "B2C3D4",
            networkTransactionID: "123456789012345")))
    let request = try #require(wire.requests.last)
    #expect(request.method == "POST")
    #expect(
      request.url
        == "https://api.preprod.acquiring.worldline-solutions.com/processing/v1/100812/520001857/payments")
    #expect(request.headers.first(named: "Authorization") == "Bearer token-1")
    #expect(
      String(decoding: request.body, as: UTF8.self) == #"""
        {"operationId":"R1","transactionTimestamp":"2027-01-15T08:00:00Z","authorizationType":"FINAL_AUTHORIZATION","amount":{"amount":1250,"currencyCode":"EUR","numberOfDecimals":2},"references":{"merchantReference":"R1"},"cardPaymentData":{"brand":"VISA","cardEntryMode":"ECOMMERCE","captureImmediately":false,"allowPartialApproval":false,"cardholderVerificationMethod":"CARDHOLDER_DEVICE","walletId":"103","cardData":{"cardNumber":"4761739000000012","expiryDate":"122031"},"networkTokenData":{"cryptogram":"AgAAAAAAAIR8CQrXcIhbQAAAAAA=","eci":"07"}}}
        """#)
  }

  /// Worldline's own library sends the same for the same acts: `scripts/test-providers worldline-acquiring`.
  @Test func `every request is the one that Worldline's library is compared with`() async throws {
    let text = try Repository.text("Tests/Judges/worldline-acquiring/requests.json")
    let compared = try JSONField(JSONReader.read(Array(text.utf8))).array
    let sale = SaleDetails(statementDescriptor: "HARBOUR*KITCHEN", merchantCategory: "5812")
    _ = try await authorize(sale: sale) { $0.place.name = "Harbour Kitchen" }
    let acquirer = try wire.acquirer()
    let payment = "pay:ch:etu:xBNVCvvTT3GYTn9oz_asvQ"
    func followUp(_ reference: String, number: Int? = nil, isWhole: Bool = false) -> FollowUpRequest {
      FollowUpRequest(
        reference: AttemptReference(reference), authorization: payment, amount: .eur(500), isWhole: isWhole,
        number: number)
    }
    _ = await acquirer.capture(followUp("C1", number: 2), deadline)
    _ = await acquirer.void(followUp("V1"), deadline)
    _ = await acquirer.refund(followUp("F1"), deadline)
    _ = await acquirer.increment?(followUp("I1"), deadline)
    _ = await acquirer.inquire(
      InquiryRequest(reference: AttemptReference("C1"), amount: .eur(500), kind: .capture, authorization: payment),
      deadline)
    _ = await acquirer.reverse(InquiryRequest(reference: AttemptReference("R1"), amount: .eur(1250)), deadline)
    _ = try await authorize(.eur(0)) { $0.verifiesAccounts = true }
    _ = await acquirer.checkCredentials(deadline)
    let requests = wire.requests.filter { !$0.url.hasSuffix("/connect/token") }
    try #require(requests.count == compared.count)
    for (request, expected) in zip(requests, compared) {
      #expect(request.method == (try expected.member("method").string))
      #expect(request.url.hasSuffix(try expected.member("path").string), "\(request.url)")
      let body = request.body.isEmpty ? JSONValue.null : try JSONReader.read(request.body)
      #expect(try body == expected.member("body").value)
      let names = Set(request.headers.map(\.name))
      #expect(names.isSubset(of: ["Authorization", "Content-Type", "Trace-Id"]) && names.contains("Trace-Id"))
    }
  }

  @Test(arguments: [
    (
      #"{"operationId":"R1","responseCode":"0","responseCodeCategory":"APPROVED","authorizationCode":"B2C3D4"}"#,
      "approved"
    ),
    (#"{"operationId":"R1","responseCode":"14","responseCodeCategory":"DECLINED"}"#, "declined"),
    (#"{"operationId":"R2","responseCode":"0","responseCodeCategory":"APPROVED"}"#, "unknown"),
    (#"{"operationId":"R1","responseCode":"10","responseCodeCategory":"PARTIALLY_APPROVED"}"#, "unknown"),
  ]) func `a verification is approved, declined or unknown`(body: String, meaning: String) async throws {
    wire.answers(InboundResponse(status: 201, body: Array(body.utf8)))
    let answer = try await authorize(.eur(0)) { $0.verifiesAccounts = true }
    #expect("\(answer)".hasPrefix(meaning), "\(answer)")
  }

  @Test func `an indicator that Apple did not deliver is not made up`() async throws {
    _ = try await authorize(eci: nil)
    let data = try JSONReader.read(try #require(wire.requests.last).body)["cardPaymentData"]?["networkTokenData"]
    #expect(data?["cryptogram"] != nil && data?["eci"] == nil)
  }

  @Test func `of the sale and the merchant goes out what Worldline takes`() async throws {
    let sale = SaleDetails(statementDescriptor: "Zoë's \"shop\"", merchantCategory: "5812")
    _ = try await authorize(sale: sale) {
      $0.terminalID = "12345678"
      $0.place = .init(name: "Harbour Kitchen", address: "1 Harbour Road", city: "Dublin", countryCode: "IE")
    }
    let body = try JSONReader.read(try #require(wire.requests.last).body)
    #expect(body["references"]?["dynamicDescriptor"] == "Zo's shop")
    #expect(body["terminalData"] == ["terminalId": "12345678"])
    #expect(
      body["merchant"] == [
        "merchantCategoryCode": 5812, "name": "Harbour Kitchen", "address": "1 Harbour Road", "city": "Dublin",
        "countryCode": "IE",
      ])
  }

  @Test(
    arguments: [
      ("5", nil, nil, DeclineReason.doNotHonor, "5"), ("5", "02", nil, .issuerUnavailable, "5, advice 02"),
      ("5", "03", nil, .doNotHonor, "5, advice 03"), ("5", "04", nil, .cryptogramInvalid, "5, advice 04"),
      ("5", "30", nil, .issuerUnavailable, "5, advice 30"),
      ("5", nil, "PT1H", .issuerUnavailable, "5, retry after PT1H"),
      ("51", "24", "PT1H", .insufficientFunds, "51, advice 24, retry after PT1H"),
      ("91", "03", nil, .doNotHonor, "91, advice 03"), ("91", nil, nil, .issuerUnavailable, "91"),
      ("41", "02", nil, .lostOrStolen, "41, advice 02"), ("999", nil, nil, .other, "999"),
      ("1A", nil, nil, .authenticationRequired, "1A"), ("3", nil, nil, .configuration, "3"),
    ] as [(String, String?, String?, DeclineReason, String)])
  func `a refusal's class follows its code, the scheme's advice and the time to wait`(
    code: String, advice: String?, wait: String?, reason: DeclineReason, shown: String
  ) async throws {
    let advice = advice.map { #","additionalResponseData":{"merchantAdviceCode":"\#($0)"}"# } ?? ""
    let wait = wait.map { #","retryAfter":"\#($0)""# } ?? ""
    let body =
      #"{"operationId":"R1","paymentId":"p1","status":"NOT_AUTHORIZED","responseCode":"\#(code)","responseCodeCategory":"DECLINED"\#(advice)\#(wait)}"#
    #expect(try await answer(201, body) == .declined(Decline(reason: reason, code: shown)))
  }

  @Test(arguments: ["68", "94"])
  func `a code that leaves the outcome open is no refusal`(code: String) async throws {
    let body =
      #"{"operationId":"R1","paymentId":"p1","status":"NOT_AUTHORIZED","responseCode":"\#(code)","responseCodeCategory":"DECLINED"}"#
    guard case .unknown = try await answer(201, body) else { throw Wrong() }
  }

  @Test(arguments: [
    ("another operation", #""operationId":"R1""#, #""operationId":"R2""#),
    ("another amount", #""amount":1250"#, #""amount":1251"#),
    ("another currency", #""currencyCode":"EUR""#, #""currencyCode":"USD""#),
    ("other decimals", #""numberOfDecimals":2"#, #""numberOfDecimals":3"#),
    ("no amount", #""totalAuthorizedAmount""#, #""total""#),
    ("another status", #""status":"AUTHORIZED""#, #""status":"CONFIRMED""#),
    ("a status that contradicts", #""responseCodeCategory":"APPROVED""#, #""responseCodeCategory":"DECLINED""#),
    ("an unknown category", #""responseCodeCategory":"APPROVED""#, #""responseCodeCategory":"MAYBE""#),
    ("no name", #""paymentId":"pay:ch:etu:xBNVCvvTT3GYTn9oz_asvQ""#, #""paymentId":"""#),
    ("a name that is a path", #""paymentId":"pay:ch:etu:xBNVCvvTT3GYTn9oz_asvQ""#, #""paymentId":"../x""#),
    (
      "a partial approval of all", #""responseCodeCategory":"APPROVED""#,
      #""responseCodeCategory":"PARTIALLY_APPROVED""#
    ),
  ])
  func `an approval with a fault leaves the outcome unknown`(what: String, old: String, new: String) async throws {
    guard case .unknown = try await answer(201, Self.approval.replacing(old, with: new)) else {
      throw Wrong(what: what)
    }
  }

  @Test func `an approval for less says for how much`() async throws {
    let partial = Self.approval.replacing("APPROVED", with: "PARTIALLY_APPROVED").replacing("1250", with: "600")
    guard case .approved(let approval) = try await answer(201, partial) else { throw Wrong() }
    #expect(approval.approvedAmount == .eur(600))
  }

  @Test(arguments: [
    (200, "<html><body>Please wait.</body></html>"), (201, ""), (201, #"{"operationId":"R1","#), (302, ""),
    (204, ""), (400, "<html></html>"), (401, "<html></html>"), (403, ""), (404, "no"),
    (409, #"{"type":"…/conflict","title":"Conflict","status":409}"#),
    (500, #"{"type":"…/internal","title":"Error","status":500}"#), (502, ""), (503, ""), (504, ""),
  ])
  func `what is no answer of the API leaves the outcome unknown`(status: Int, body: String) async throws {
    guard case .unknown = try await answer(status, body, [HTTPField("Location", "https://elsewhere.example/")]) else {
      throw Wrong(what: "\(status) \(body)")
    }
    #expect(wire.requests.count == 2)
  }

  @Test(arguments: [
    (400, DeclineReason.configuration, "HTTP 400 bad-request"), (403, .configuration, "HTTP 403 bad-request"),
    (404, .configuration, "HTTP 404 bad-request"), (429, .issuerUnavailable, "HTTP 429"),
  ])
  func `a problem of the request means that nothing was done`(
    status: Int, reason: DeclineReason, code: String
  ) async throws {
    let problem = #"{"type":"https://docs.example/bad-request","title":"Bad Request","status":\#(status)}"#
    #expect(try await answer(status, problem) == .declined(Decline(reason: reason, code: code)))
  }

  @Test func `a problem of another status is none`() async throws {
    guard case .unknown = try await answer(400, #"{"type":"x","title":"x","status":500}"#) else { throw Wrong() }
  }

  @Test func `a payment token goes nowhere, and nor does a foreign merchant or name`() async throws {
    let acquirer = try wire.acquirer()
    #expect(acquirer.capabilities.instruments == [.network] && acquirer.capabilities.route == "worldline-acquiring")
    _ = try await authorize(sale: SaleDetails(merchantAccount: "520009999"))
    for authorization in ["../../x", "", "p 1"] {
      let request = FollowUpRequest(
        reference: AttemptReference("C1"), authorization: authorization, amount: .eur(1))
      #expect(await acquirer.capture(request, deadline) == .notTaken("other_account_or_bad_reference"))
    }
    guard
      case .unavailable = await acquirer.reverse(
        InquiryRequest(reference: AttemptReference("R/1"), amount: .eur(1)), deadline)
    else { throw Wrong() }
    #expect(wire.requests.isEmpty)
  }

  @Test(arguments: [
    (#""responseCode":"0","responseCodeCategory":"APPROVED""#, Reversal.reversed),
    (#""responseCode":"7204","responseCodeCategory":"APPROVED""#, .nothingFound),
    (#""responseCode":"25","responseCodeCategory":"DECLINED""#, .nothingFound),
    (#""responseCode":"12","responseCodeCategory":"DECLINED""#, .refused(code: "12")),
  ])
  func `a technical reversal has its own name and a result`(members: String, reversal: Reversal) async throws {
    wire.answers { request in
      guard let body = try? JSONReader.read(request.body), case .string(let name) = body["operationId"] else {
        return InboundResponse(status: 500)
      }
      return InboundResponse(status: 201, body: Array(#"{"operationId":"\#(name)",\#(members)}"#.utf8))
    }
    let question = InquiryRequest(reference: AttemptReference("R1"), amount: .eur(1250))
    #expect(try await wire.acquirer().reverse(question, deadline) == reversal)
    #expect(wire.requests.last?.url.hasSuffix("/operations/R1/reverse") == true)
    wire.answers(InboundResponse(status: 201, body: Array(#"{"operationId":"R1",\#(members)}"#.utf8)))
    guard case .unavailable = try await wire.acquirer().reverse(question, deadline) else { throw Wrong() }
  }

  @Test func `an authorization is not looked for without Worldline's name, and nothing is asked`() async throws {
    let question = InquiryRequest(reference: AttemptReference("R1"), amount: .eur(1250))
    #expect(try await wire.acquirer().inquire(question, deadline) == .notFound)
    #expect(wire.requests.isEmpty)
  }

  @Test func `no event is believed`() async throws {
    let event = InboundEvent(headers: [], body: [], arrivedAt: Timestamp(seconds: 0))
    let acquirer = try wire.acquirer()
    #expect(throws: EventRefusal.notExpected) { try acquirer.readEvents(event) }
  }

  @Test(arguments: ["", "12x", "123456789012345678901"])
  func `a merchant's number that cannot stand in a path is refused`(number: String) {
    #expect(throws: ConnectorSettingsError.self) {
      try WorldlineAcquiringSettings(
        host: .test, clientID: "c", clientSecret: WorldlineAcquiringSecret("s"), acquirerID: "1",
        merchantIDs: [number])
    }
  }

  @Test func `the secret does not print`() {
    let secret = WorldlineAcquiringSecret("hidden")
    #expect("\(secret) \(String(reflecting: secret))" == "••• •••" && Mirror(reflecting: secret).children.isEmpty)
  }
}

private struct Wrong: Error {
  var what = ""
}

/// Answers requests of access tokens, and the others as a test says.
private final class WorldlineAcquiringWire: Sendable {
  private struct State {
    var answer: @Sendable (OutboundRequest) -> InboundResponse = { _ in InboundResponse(status: 504) }
    var requests: [OutboundRequest] = []
  }

  private let state = Mutex(State())

  func answers(_ answer: InboundResponse) { answers { _ in answer } }
  func answers(_ answer: @escaping @Sendable (OutboundRequest) -> InboundResponse) {
    state.withLock { $0.answer = answer }
  }
  var requests: [OutboundRequest] { state.withLock { $0.requests } }

  func acquirer(_ change: (inout WorldlineAcquiringSettings) -> Void = { _ in }) throws -> Acquirer {
    var settings = try WorldlineAcquiringSettings(
      host: .test, clientID: "client", clientSecret: WorldlineAcquiringSecret("secret"), acquirerID: "100812",
      merchantIDs: ["520001857"])
    change(&settings)
    return .worldlineAcquiring(
      settings,
      http: HTTPSender { request, _ throws(TransportError) in
        let answer = self.state.withLock { state in
          state.requests.append(request)
          return state.answer
        }
        guard request.url.hasSuffix("/connect/token") else { return answer(request) }
        let body = #"{"access_token":"token-1","expires_in":3600,"token_type":"Bearer"}"#
        return InboundResponse(status: 200, body: Array(body.utf8))
      }, clock: ManualClock().wall, random: RandomBytes { Array(repeating: 7, count: $0) })
  }
}
