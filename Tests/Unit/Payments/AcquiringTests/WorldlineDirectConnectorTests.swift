import AcquirerSandbox
import Acquiring
import Connectors
import DirectWire
import HTTPTransport
import ProviderEmulators
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The connector to Worldline Direct alone: bytes out, answer in.
@Suite struct `Worldline Direct's connector` {
  private let wire = WorldlineDirectWire()

  private static func request(eci: String? = "07", sale: SaleDetails = SaleDetails()) throws -> AuthorizationRequest {
    let card = NetworkToken(
      dpan: try #require(DPAN("4761739000000012")), expiry: try #require(CardExpiry(yymm: "3112")),
      cryptogram: Cryptogram(base64: "AgAAAAAAAIR8CQrXcIhbQAAAAAA="), eci: eci)
    return AuthorizationRequest(
      reference: AttemptReference("R1"), merchantReference: "order 1", amount: .eur(1250), instrument: .network(card),
      sale: sale)
  }

  private func answer(
    _ status: Int, _ body: String, _ headers: [HTTPField] = []
  ) async throws -> AcquirerAnswer {
    wire.answers(.success(InboundResponse(status: status, headers: headers, body: Array(body.utf8))))
    return try await wire.acquirer().authorize(Self.request(), .after(TestRun.whole))
  }

  private let approval = #"""
    {"creationOutput":{"externalReference":"x"},"payment":{"id":"3254564310_0","status":"PENDING_CAPTURE","statusOutput":{"statusCode":5,"statusCategory":"PENDING_MERCHANT"},"paymentOutput":{"amountOfMoney":{"amount":1250,"currencyCode":"EUR"},"references":{"merchantReference":"R1"},"mobilePaymentMethodSpecificOutput":{"authorisationCode":"B2C3D4"}}}}
    """#
  private let capture = #"""
    {"id":"3254564310_1","status":"CAPTURE_REQUESTED","statusOutput":{"statusCode":91},"captureOutput":{"amountOfMoney":{"amount":500,"currencyCode":"EUR"},"operationReferences":{"merchantReference":"C1.capture"}}}
    """#
  private static let rejection = #"""
    {"errorId":"e","status":402,"errors":[{"errorCode":"30511001","code":"9999","id":"REFUSED","httpStatusCode":402,"retriable":false}],"paymentResult":{"payment":{"id":"3254564310_0","status":"REJECTED","statusOutput":{"statusCode":2},"paymentOutput":{"amountOfMoney":{"amount":1250,"currencyCode":"EUR"},"references":{"merchantReference":"R1"}}}}}
    """#

  private static func charge(_ sale: SaleDetails) -> AuthorizationRequest {
    let credential = StoredCredential(
      firstPayment: "3254564310_0", reference: nil, networkTransactionID: nil, networkLinkID: nil,
      card: CardSummary(deviceAccountSuffix: "0012", expiry: nil, hasECI: false))
    return AuthorizationRequest(
      reference: AttemptReference("R1"), merchantReference: "order 1", amount: .eur(1250),
      instrument: .stored(credential), sale: sale)
  }

  @Test func `a later payment is called as Worldline names it`() async throws {
    wire.answers(.success(InboundResponse(status: 201, body: Array(approval.utf8))))
    let answer = try await wire.acquirer().authorize(Self.charge(SaleDetails()), .after(TestRun.whole))
    #expect(answer.name == "3254564310_0")
  }

  /// Worldline's own library sends the same for the same acts: `scripts/test-providers worldline-direct`.
  @Test func `every request is the one that Worldline's library is compared with`() async throws {
    let compared = try JSONField(
      JSONReader.read(Array(try Repository.text("Tests/Judges/worldline-direct/requests.json").utf8)))
    let deadline = Deadline.after(TestRun.whole)
    let followUp = FollowUpRequest(
      reference: AttemptReference("C1"), authorization: "3254564310_0", amount: .eur(500))
    let acquirer = try wire.acquirer(merchant: "TenderSandbox")
    _ = try await acquirer.authorize(Self.request(), deadline)
    _ = await acquirer.capture(followUp, deadline)
    _ = await acquirer.void(followUp, deadline)
    _ = await acquirer.refund(followUp, deadline)
    _ = await acquirer.checkCredentials(deadline)
    var sale = SaleDetails()
    sale.agreement = .init(.recurring, shopper: "018f-shopper")
    _ = try await acquirer.authorize(Self.request(sale: sale), deadline)
    _ = await acquirer.authorize(Self.charge(sale), deadline)
    for (request, expected) in zip(wire.requests, try compared.array) {
      #expect(try request.method == expected.member("method").string)
      #expect(request.url == Self.host + (try expected.member("path").string))
      #expect(try request.headers.first(named: Idempotence.key) == expected.memberIfPresent("key")?.string)
      let body = request.body.isEmpty ? JSONValue.null : try JSONReader.read(request.body)
      #expect(try body == JSONReader.read(expected.member("body").value.serialized()))
      let names = ["Content-Type", "Date", "X-GCS-Idempotence-Key", "Authorization"]
      #expect(Set(request.headers.map(\.name)).isSubset(of: names))
    }
    #expect(try wire.requests.count == compared.array.count)
  }

  private static let host = "https://payment.preprod.direct.worldline-solutions.com"

  @Test func `every request is signed by method, type, date, key and target`() async throws {
    _ = try await answer(201, approval)
    let request = try #require(wire.requests.first)
    #expect(request.headers.first(named: "Date") == "Mon, 23 Nov 2026 10:00:00 GMT")
    let signed = try SignedRequest(
      method: request.method, target: String(request.url.dropFirst(Self.host.count)),
      headers: request.headers.map { ($0.name, $0.value) })
    let caller = try RequestAuthenticator().authenticate(
      signed, secret: WorldlineDirectVisit.account.secretAPIKey, at: WorldlineDirectWire.now)
    #expect(caller.idempotencyKey == "R1" && caller.apiKeyID == "KEY1")
  }

  @Test func `the live host is another, and authorizations may be final`() async throws {
    let acquirer = try wire.acquirer(.live, authorization: .final)
    _ = try await acquirer.authorize(Self.request(), .after(TestRun.whole))
    let request = try #require(wire.requests.first)
    #expect(request.url == "https://payment.direct.worldline-solutions.com/v2/Shop/payments")
    let input = try JSONReader.read(request.body)["mobilePaymentMethodSpecificInput"]
    #expect(input?["authorizationMode"] == "FINAL_AUTHORIZATION" && input?["requiresApproval"] == true)
    #expect(acquirer.capabilities.parts == [.refund])
    #expect(acquirer.capabilities.holdLifetime == .seconds(7 * 86_400))
  }

  /// A sale is captured by an operation of its own.
  @Test(
    arguments: AuthorizationType.allCases,
    [
      (MobilePaymentInput.AuthorizationMode.final, "FINAL_AUTHORIZATION"), (.preliminary, "PRE_AUTHORIZATION"),
      (.sale, "FINAL_AUTHORIZATION"),
    ])
  func `a payment is authorized as it asks, whatever the route's usual is`(
    usual: AuthorizationType, asked: (mode: MobilePaymentInput.AuthorizationMode, word: String)
  ) async throws {
    var request = try Self.request()
    request.sale.authorization = asked.mode.type
    _ = try await wire.acquirer(authorization: usual).authorize(request, .after(TestRun.whole))
    let input = try JSONReader.read(try #require(wire.requests.first).body)["mobilePaymentMethodSpecificInput"]
    #expect(input?["authorizationMode"] == .string(asked.word) && input?["requiresApproval"] == true)
  }

  @Test func `an indicator that Apple did not deliver is not made up`() async throws {
    _ = try await wire.acquirer().authorize(Self.request(eci: nil), .after(TestRun.whole))
    let body = try JSONReader.read(try #require(wire.requests.first).body)
    let card = body["mobilePaymentMethodSpecificInput"]?["decryptedPaymentData"]
    #expect(card?["cryptogram"] != nil && card?["eci"] == nil)
  }

  @Test func `of the sale goes out what Worldline takes`() async throws {
    let shopper = SaleDetails.Shopper(
      givenName: "Ada", familyName: "Lovelace", emailAddress: "ada@example.com", phoneNumber: "020 1234",
      countryCode: "GB", postalCode: "SW1")
    let sale = SaleDetails(order: "O1", statementDescriptor: "HARBOUR", shopper: shopper)
    _ = try await wire.acquirer().authorize(Self.request(sale: sale), .after(TestRun.whole))
    let order = try JSONReader.read(try #require(wire.requests.first).body)["order"]
    #expect(
      order?["references"]
        == ["merchantParameters": "O1", "merchantReference": "R1", "softDescriptor": "HARBOUR"])
    #expect(
      order?["customer"] == [
        "billingAddress": ["countryCode": "GB"], "contactDetails": ["emailAddress": "ada@example.com"],
        "personalInformation": ["name": ["firstName": "Ada", "surname": "Lovelace"]],
      ])
  }

  @Test func `what Worldline would refuse of a contact is left out, and the rest stays`() async throws {
    _ = try await wire.acquirer().authorize(
      Self.request(sale: SaleDetails(shopper: .unfit)), .after(TestRun.whole))
    let order = try JSONReader.read(try #require(wire.requests.first).body)["order"]
    #expect(
      order?["customer"] == ["personalInformation": ["name": ["firstName": "Maud", "surname": "Müller"]]])
  }

  @Test func `the token's id and the name on the card go out where Apple has sent them`() async throws {
    var request = try Self.request()
    (request.sale.transactionID, request.sale.cardholderName) = ("5a5a", "Maud Müller")
    _ = try await wire.acquirer().authorize(request, .after(TestRun.whole))
    let input = try JSONReader.read(try #require(wire.requests.first).body)["mobilePaymentMethodSpecificInput"]
    #expect(input?["transactionId"] == "5a5a" && input?["decryptedPaymentData"]?["cardholderName"] == "Maud Müller")
  }

  @Test func `an approval is an approval, also when it comes again`() async throws {
    let approved = AcquirerAnswer.approved(
      Approval(acquirerReference: "3254564310_0", authorizationCode: "B2C3D4"))
    #expect(try await answer(201, approval) == approved)
    let repeated = HTTPField(Idempotence.requestTimestamp, "1700000000000")
    #expect(try await answer(201, approval, [repeated]) == approved)
    guard case .unknown = try await answer(201, approval, [HTTPField(repeated.name, "yesterday")]) else {
      throw TransportError.timedOut
    }
  }

  @Test(arguments: [
    ("\"R1\"", "\"R2\""), ("1250", "1251"), ("1250", "\"1250\""), ("1250", "1250.0"), ("EUR", "USD"), ("EUR", "eur"),
    ("PENDING_CAPTURE", "CAPTURED"), ("PENDING_CAPTURE", "APPROVED"), (":5", ":2"), (":5", ":9"), (":5", ":77"),
    ("3254564310_0", ""), ("3254564310_0", "../payments"), ("3254564310_0", "1_2_3"), ("\"id\"", "\"ID\""),
    (#""references":{"merchantReference":"R1"},"#, ""), ("}", "}}"), ("{", "["), ("}", ",}"),
    (#"{"creationOutput""#, #"{"payment":{},"creationOutput""#),
  ])
  func `an approval with one thing wrong is none`(right: String, wrong: String) async throws {
    let parts = approval.split(separator: right, maxSplits: 1, omittingEmptySubsequences: false)
    let broken = parts.joined(separator: wrong)
    guard case .unknown = try await answer(201, broken) else {
      Issue.record("\(broken)")
      return
    }
  }

  @Test(arguments: [
    (51, "AUTHORIZATION_REQUESTED"), (52, "AUTHORIZATION_REQUESTED"), (50, "AUTHORIZATION_REQUESTED"),
    (46, "REDIRECTED"), (0, "CREATED"),
  ])
  func `a payment that waits is pending under its name`(code: Int, word: String) async throws {
    let body = approval.replacing("PENDING_CAPTURE", with: word).replacing(":5", with: ":\(code)")
    #expect(try await answer(201, body) == .pending(Pending(acquirerReference: "3254564310_0")))
  }

  @Test func `a payment that waits for the shopper is declined`() async throws {
    let body = approval.replacing("\"payment\"", with: #""merchantAction":{"actionType":"REDIRECT"},"payment""#)
    #expect(
      try await answer(201, body)
        == .declined(Decline(reason: .authenticationRequired, code: "merchantAction")))
  }

  @Test(arguments: [
    ("30511001", DeclineReason.insufficientFunds), ("30591001", .suspectedFraud), ("30041001", .doNotHonor),
    ("30141001", .invalidCard), ("40001134", .authenticationRequired), ("99999999", .other), ("", .other),
  ])
  func `a refusal's code decides the reason, and an unknown code is a refusal too`(
    code: String, reason: DeclineReason
  ) async throws {
    let body = Self.rejection.replacing("30511001", with: code)
    #expect(try await answer(402, body) == .declined(Decline(reason: reason, code: code)))
    let technical = body.replacing("\"retriable\":false", with: "\"retriable\":true")
    #expect(try await answer(402, technical) == .declined(Decline(reason: .issuerUnavailable, code: code)))
  }

  @Test func `a refusal of 2021, without the newer code, is one too`() async throws {
    let body = Self.rejection.replacing(#""errorCode":"30511001","#, with: "").replacing("9999", with: "30541001")
      .replacing(#","retriable":false"#, with: "")
    #expect(try await answer(402, body) == .declined(Decline(reason: .expiredCard, code: "30541001")))
  }

  @Test(arguments: [("\"R1\"", "\"R2\""), ("1250", "1251"), (":2}", ":5}"), (#""errorId":"e","#, "")])
  func `the refusal of another payment, or one that refuses nothing, is none`(
    right: String, wrong: String
  ) async throws {
    let body = Self.rejection.replacing(right, with: wrong)
    guard case .unknown = try await answer(402, body) else {
      Issue.record("\(body)")
      return
    }
  }

  @Test(arguments: [
    "<html>Please try again.</html>", "", #"{"payment":{"id":"3254564310_0","stat"#, "null", "{}",
  ])
  func `what is no answer of Worldline's leaves the outcome unknown`(body: String) async throws {
    for status in [201, 400, 402, 403] {
      guard case .unknown = try await answer(status, body) else { throw TransportError.timedOut }
    }
    wire.answers(.success(InboundResponse(status: 201, body: Array(body.utf8))))
    guard case .unknown = try await followUp(.capture) else { throw TransportError.timedOut }
  }

  @Test(arguments: [100, 200, 202, 204, 301, 302, 307, 400, 402, 404, 409, 500, 502, 503, 504])
  func `an approval under another status than 201 is none`(status: Int) async throws {
    guard case .unknown = try await answer(status, approval, [HTTPField("Location", "https://x.example/")]) else {
      Issue.record("\(status)")
      return
    }
    #expect(wire.requests.count == 1)
  }

  @Test(arguments: [
    (400, "50001111", "order.amountOfMoney", DeclineReason.configuration), (403, "9007", "", .configuration),
    (404, "50001130", "paymentId", .configuration),
    (400, "50001111", "mobilePaymentMethodSpecificInput.decryptedPaymentData.dpan", .invalidCard),
    (400, "50001111", "mobilePaymentMethodSpecificInput.decryptedPaymentData.expiryDate", .expiredCard),
    (400, "50001111", "mobilePaymentMethodSpecificInput.decryptedPaymentData.cryptogram", .cryptogramInvalid),
  ])
  func `a call that Worldline did not accept did nothing`(
    status: Int, code: String, property: String, reason: DeclineReason
  ) async throws {
    let fault = #"{"errorCode":"\#(code)","propertyName":"\#(property)"}"#
    let error = #"{"errorId":"e","status":\#(status),"errors":[\#(fault)]}"#
    #expect(try await answer(status, error) == .declined(Decline(reason: reason, code: code)))
    let technical = error.replacing(#""errorCode""#, with: #""retriable":true,"errorCode""#)
    #expect(try await answer(status, technical) == .declined(Decline(reason: .issuerUnavailable, code: code)))
    // What may have been done is unknown, whatever the body says.
    for unsure in [409, 500, 503] {
      guard case .unknown = try await answer(unsure, technical) else { throw TransportError.timedOut }
    }
  }

  enum Verb: Sendable { case capture, void, refund }

  private func followUp(
    _ verb: Verb, _ name: String = "3254564310_0", reference: String = "C1", isWhole: Bool = false
  ) async throws -> AcquirerAnswer {
    let request = FollowUpRequest(
      reference: AttemptReference(reference), authorization: name, amount: .eur(500), isWhole: isWhole)
    let acquirer = try wire.acquirer()
    return switch verb {
    case .capture: await acquirer.capture(request, .after(TestRun.whole))
    case .void: await acquirer.void(request, .after(TestRun.whole))
    case .refund: await acquirer.refund(request, .after(TestRun.whole))
    }
  }

  @Test(arguments: [
    ("3254564310_1", "3254564311_1"), ("3254564310_1", "3254564310_0"), ("C1.capture", "C2.capture"),
    ("C1.capture", "C1.refund"), ("500", "501"), ("EUR", "USD"), ("CAPTURE_REQUESTED", "CAPTURED"), (":91", ":81"),
    (#""amountOfMoney":{"amount":500,"currencyCode":"EUR"},"#, ""),
  ])
  func `the answer to a capture with one thing wrong is none`(right: String, wrong: String) async throws {
    wire.answers(.success(InboundResponse(status: 201, body: Array(capture.utf8))))
    #expect(try await followUp(.capture) == .pending(Pending(acquirerReference: "3254564310_1")))
    let broken = capture.replacing(right, with: wrong)
    wire.answers(.success(InboundResponse(status: 201, body: Array(broken.utf8))))
    guard case .unknown = try await followUp(.capture) else {
      Issue.record("\(broken)")
      return
    }
  }

  @Test(arguments: [
    (9, "CAPTURED", "approved"), (91, "CAPTURE_REQUESTED", "pending"), (92, "CAPTURE_REQUESTED", "pending"),
    (99, "CAPTURE_REQUESTED", "pending"), (4, "CAPTURE_REQUESTED", "pending"), (93, "REJECTED_CAPTURE", "declined"),
  ])
  func `the number of a capture's state decides`(code: Int, word: String, label: String) async throws {
    let body = capture.replacing("CAPTURE_REQUESTED", with: word).replacing(":91", with: ":\(code)")
    wire.answers(.success(InboundResponse(status: 201, body: Array(body.utf8))))
    #expect(try await followUp(.capture).label == label)
  }

  @Test(arguments: [
    (8, "REFUNDED", "approved"), (85, "REFUNDED", "approved"), (81, "REFUND_REQUESTED", "pending"),
    (82, "REFUND_REQUESTED", "pending"), (83, "REJECTED", "declined"), (91, "CAPTURE_REQUESTED", "unknown"),
  ])
  func `the number of a refund's state decides`(code: Int, word: String, label: String) async throws {
    let body = capture.replacing("CAPTURE_REQUESTED", with: word).replacing(":91", with: ":\(code)")
      .replacing("captureOutput", with: "refundOutput").replacing("C1.capture", with: "C1.refund")
    wire.answers(.success(InboundResponse(status: 201, body: Array(body.utf8))))
    #expect(try await followUp(.refund).label == label)
  }

  @Test(arguments: [
    (6, "CANCELLED", false, "approved"), (61, "CANCELLED", false, "pending"), (62, "CANCELLED", true, "pending"),
    (5, "PENDING_CAPTURE", false, "approved"), (5, "PENDING_CAPTURE", true, "unknown"),
    (9, "CAPTURED", false, "unknown"),
  ])
  func `the number of a cancel's state decides, and a part may leave the payment as it is`(
    code: Int, word: String, isWhole: Bool, label: String
  ) async throws {
    let payment = approval.replacing("PENDING_CAPTURE", with: word).replacing(":5", with: ":\(code)")
      .replacing("3254564310_0", with: "3254564310_1")
    wire.answers(.success(InboundResponse(status: 200, body: Array(payment.utf8))))
    #expect(try await followUp(.void, isWhole: isWhole).label == label)
  }

  @Test func `only what provably never left was not sent`() async throws {
    wire.answers(.failure(.notSent("connection refused")))
    #expect(try await followUp(.capture) == .notSent("connection refused"))
    for error in [TransportError.timedOut, .interrupted("reset"), .responseTooLarge] {
      wire.answers(.failure(error))
      guard case .unknown = try await followUp(.capture) else { throw error }
    }
  }

  @Test func `nothing is sent without time, or under a name that is none`() async throws {
    let request = FollowUpRequest(reference: AttemptReference("C1"), authorization: "A1", amount: .eur(500))
    guard case .notSent = try await wire.acquirer().capture(request, .after(.zero)) else {
      throw TransportError.timedOut
    }
    for name in ["../payments", "", "1_x", "a/b"] {
      #expect(try await followUp(.refund, name) == .notTaken("bad_reference"))
    }
    let long = String(repeating: "a", count: 33)
    #expect(try await followUp(.capture, reference: long) == .notTaken("bad_reference"))
    #expect(wire.requests.isEmpty)
  }

  @Test func `settings that Worldline cannot have given out are refused`() throws {
    for name in ["", "a/b", "é", String(repeating: "a", count: 65)] {
      #expect(throws: ConnectorSettingsError.self) { try WorldlineDirectVisit.settings(.test, merchant: name) }
    }
    #expect(throws: ConnectorSettingsError.self) { try WorldlineDirectVisit.settings(.test, webhookKeys: []) }
    #expect(WorldlineDirectKey(id: "a:b", secret: "s") == nil)
    #expect(WorldlineDirectKey(id: "a", secret: "two\nlines") == nil)
    #expect(!"\(try WorldlineDirectVisit.settings(.test))".contains("secret-"))
  }

  @Test func `it states what Worldline can do: nothing is found or undone by our reference`() throws {
    let capabilities = try wire.acquirer().capabilities
    #expect(capabilities.route == "worldline-direct" && capabilities.instruments == [.network, .sealed, .stored])
    #expect(capabilities.parts == .all && !capabilities.inquiry && !capabilities.reversal)
    #expect(capabilities.inquiryByName)
    // A repeat has ten minutes to arrive before Worldline forgets the key.
    #expect(capabilities.mayRepeat(after: .seconds(85_799)) && !capabilities.mayRepeat(after: .seconds(85_800)))
    #expect(capabilities.repeatsAuthorizations)
  }
}

/// The network's place in these tests: it answers as told, and keeps what was sent.
private final class WorldlineDirectWire: Sendable {
  private struct State {
    var answer: Result<InboundResponse, TransportError> = .failure(.timedOut)
    var requests: [OutboundRequest] = []
  }

  static let now = Timestamp(rfc3339: "2026-11-23T10:00:00Z") ?? Timestamp(seconds: 0)
  private let state = Mutex(State())

  func answers(_ answer: Result<InboundResponse, TransportError>) { state.withLock { $0.answer = answer } }
  var requests: [OutboundRequest] { state.withLock { $0.requests } }

  func acquirer(
    _ host: WorldlineDirectSettings.Host = .test, merchant: String = "Shop",
    authorization: AuthorizationType = .preliminary
  ) throws -> Acquirer {
    .worldlineDirect(
      try WorldlineDirectVisit.settings(host, merchant: merchant, authorization: authorization),
      http: HTTPSender { request, _ throws(TransportError) in
        try self.state.withLock { state in
          state.requests.append(request)
          return state.answer
        }.get()
      }, clock: WallClock { Self.now })
  }
}
