import Acquiring
import Connectors
import HTTPTransport
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The connector alone: bytes out, answer in.
@Suite struct `Braintree's connector` {
  private let wire = BraintreeWire()

  private func authorize(sale: SaleDetails = SaleDetails()) async throws -> AcquirerAnswer {
    let card = NetworkToken(
      dpan: try #require(DPAN("4761739000000012")), expiry: try #require(CardExpiry(yymm: "3112")),
      cryptogram: Cryptogram(base64: BraintreeVisit.cryptogram), eci: "07")
    let request = AuthorizationRequest(
      reference: AttemptReference("R1"), merchantReference: "order 1", amount: .eur(3000), instrument: .network(card),
      sale: sale)
    return await wire.acquirer.authorize(request, .after(TestRun.whole))
  }

  private func answer(_ status: Int, _ body: String) async throws -> AcquirerAnswer {
    wire.answers(status, body)
    return try await authorize()
  }

  private func followUp(_ reference: String, _ units: Int64, isFinal: Bool = false, isWhole: Bool = false)
    -> FollowUpRequest
  {
    FollowUpRequest(
      reference: AttemptReference(reference), authorization: "abc", amount: .eur(units), isFinal: isFinal,
      capture: "cap", isWhole: isWhole)
  }

  /// What braintree 4.48.0 for Python sends for the same acts; its judge checks that it does.
  private func recorded() throws -> [String] {
    try Repository.text("Tests/Judges/braintree/requests.txt").split(separator: "\n").map(String.init)
  }

  /// One difference: the library writes `type` last, because it adds it to what its caller gave.
  @Test func `a sale is the one that Braintree's library sends`() async throws {
    let shopper = SaleDetails.Shopper(
      givenName: "Zoë", familyName: "O'Neill", emailAddress: "z@example.com", phoneNumber: "+4912345",
      countryCode: "de", postalCode: "50667", locality: "Köln", addressLines: ["Weg 1 <2>"])
    _ = try await authorize(sale: SaleDetails(statementDescriptor: "ABC*shoes", shopper: shopper))
    let theirs = try #require(try recorded().first).replacing("<type>sale</type>", with: "")
    #expect(wire.sent == [theirs.replacing("<transaction>", with: "<transaction><type>sale</type>")])
  }

  @Test func `what Braintree would refuse of a contact is left out, and the rest stays`() async throws {
    _ = try await authorize(sale: SaleDetails(shopper: .unfit))
    let sale = try #require(wire.sent.first)
    let name = "<first_name>Maud</first_name><last_name>M&#252;ller</last_name>"
    #expect(sale.contains("<customer>\(name)<phone>+1 780-555-0156 ext. 725</phone></customer>"))
    #expect(sale.contains("<billing>\(name)</billing>"))
  }

  /// Of a domain that ends in one letter, none, or a digit, of a part that is empty or too long, with a space or two signs.
  @Test(arguments: [
    "maud@example.c", "maud@example", "maud@example.", "@example.com", "maud", "", "ma ud@example.com",
    "maud@@example.com", "maud.@example.com", "ma..ud@example.com", "maud@-example.com", "maud@example..com",
    "maud@exa_mple.com", "maud@example.c0m ", "maud@127.0.0.1", "maüd@example.com",
    String(repeating: "m", count: 65) + "@example.com",
  ])
  func `an e-mail address that cannot be is left out`(text: String) async throws {
    var shopper = SaleDetails.Shopper.unfit
    shopper.emailAddress = text
    _ = try await authorize(sale: SaleDetails(shopper: shopper))
    #expect(try #require(wire.sent.first).contains("<email>") == false)
  }

  @Test(arguments: ["m@example.co", "o'neill+tag@mail.example.museum", "a.b-c@xn--bcher-kva.xn--p1ai"])
  func `an e-mail address that may be goes out`(text: String) async throws {
    _ = try await authorize(sale: SaleDetails(shopper: .init(emailAddress: text)))
    #expect(try #require(wire.sent.first).contains("<email>"))
  }

  @Test func `captures, voids, refunds, look-ups and searches are the library's, byte for byte`() async throws {
    wire.answers(
      200,
      """
      <search-results><page-size type="integer">50</page-size><ids type="array"><item>abc</item></ids></search-results>
      """)
    _ = await wire.acquirer.capture(followUp("C1", 3000, isWhole: true), .after(TestRun.whole))
    _ = await wire.acquirer.capture(followUp("C1", 1000, isFinal: true), .after(TestRun.whole))
    _ = await wire.acquirer.void(followUp("V1", 3000), .after(TestRun.whole))
    _ = await wire.acquirer.refund(followUp("F1", 500), .after(TestRun.whole))
    let void = InquiryRequest(reference: AttemptReference("V1"), amount: .eur(3000), kind: .void, authorization: "abc")
    _ = await wire.acquirer.inquire(void, .after(TestRun.whole))
    _ = await wire.acquirer.inquire(
      InquiryRequest(reference: AttemptReference("R1"), amount: .eur(3000)), .after(TestRun.whole))
    #expect(wire.sent == Array(try recorded().dropFirst()))
  }

  /// Two differences: the library accepts gzip, which our client does not read, and names itself.
  @Test func `the headers are the library's`() async throws {
    _ = try await authorize()
    let headers = try #require(wire.requests.first?.headers)
    #expect(
      Set(headers) == [
        HTTPField("Accept", "application/xml"), HTTPField("Authorization", "Basic cHViOnByaXY="),
        HTTPField("Content-Type", "application/xml"), HTTPField("User-Agent", "Tender"), HTTPField("X-ApiVersion", "6"),
      ])
  }

  @Test(arguments: ["Shop", "Tender Shop*shoes and more to buy", "AB*x", "ABC*", "Grüße!!*x"])
  func `a descriptor that Braintree refuses is left out`(name: String) async throws {
    _ = try await authorize(sale: SaleDetails(statementDescriptor: name))
    #expect(wire.sent.first?.contains("descriptor") == false)
  }

  @Test func `each environment has its hosts`() async throws {
    for (environment, host) in [
      (BraintreeEnvironment.test, "https://api.sandbox.braintreegateway.com/merchants/m1/transactions"),
      (.live, "https://api.braintreegateway.com/merchants/m1/transactions"),
    ] {
      let wire = BraintreeWire(environment)
      _ = await wire.acquirer.checkCredentials(.after(TestRun.whole))
      #expect(wire.requests.first?.url == host + "/advanced_search_ids")
    }
  }

  @Test func `an approval is an approval`() async throws {
    #expect(
      try await answer(201, approval)
        == .approved(
          Approval(acquirerReference: "abc12345", authorizationCode: "B2C3D4", networkTransactionID: "123456")))
  }

  @Test(arguments: [
    ("R1", "R2"), ("30.00", "30.01"), ("30.00", "31.00"), ("30.00", "30" + ".0.0"), ("30.00", "thirty"), ("EUR", "USD"),
    ("EUR", "eur"), (">eur<", ">other<"), ("sale", "credit"), ("authorized", "processor_declined_"),
    ("abc12345", "../refund"), ("abc12345", ""), ("</transaction>", ""), ("<transaction>", "<Transaction>"),
    ("<id>abc12345</id>", "<id>abc12345</id><id>abc12345</id>"), ("<id>abc12345</id>", ""),
    ("<transaction>", "<!DOCTYPE transaction><transaction>"),
    ("<transaction>", "<!DOCTYPE t [<!ENTITY a 'b'>]><transaction>"), ("R1", "<![CDATA[R1]]>"),
    ("UTF-8", "UTF-16"), ("UTF-8", "ISO-8859-1"), ("30.00", "30.00<x/>"),
  ])
  func `an answer with one thing wrong is no answer`(right: String, wrong: String) async throws {
    let broken = approval.replacing(right, with: wrong, maxReplacements: 1)
    #expect(broken != approval)
    #expect(try await answer(201, broken).isUnknown, "\(broken)")
  }

  @Test func `a document that is too deep, too long or not UTF-8 is no answer`() async throws {
    let deep = String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40)
    #expect(try await answer(201, approval.replacing("</transaction>", with: deep + "</transaction>")).isUnknown)
    let long = String(repeating: "<a/>", count: 30_000)
    #expect(try await answer(201, approval.replacing("</transaction>", with: long + "</transaction>")).isUnknown)
    wire.answers(201, Array(approval.utf8) + [0xC3])
    #expect(try await authorize().isUnknown)
    #expect(try await answer(201, "").isUnknown)
    #expect(try await answer(200, "<html><body>Maintenance</body></html>").isUnknown)
  }

  @Test(arguments: [100, 202, 204, 301, 302, 307, 400, 408, 409, 500, 502, 503, 504])
  func `an approval under another status is none`(status: Int) async throws {
    #expect(try await answer(status, approval).isUnknown)
  }

  @Test(arguments: [401, 403, 404, 426])
  func `a request that Braintree does not let in did nothing`(status: Int) async throws {
    #expect(try await answer(status, "").reason == .configuration)
  }

  @Test func `a decline stands in an error, and an approval there is no answer`() async throws {
    func refused(_ transaction: String) -> String {
      "<api-error-response><errors><errors type=\"array\"/></errors><message>no</message>\(transaction)</api-error-response>"
    }
    let bare = approval.replacing(#"<?xml version="1.0" encoding="UTF-8"?>"#, with: "")
    let declined = bare.replacing("authorized", with: "processor_declined").replacing("1000", with: "2001")
    #expect(
      try await answer(422, refused(declined)) == .declined(Decline(reason: .insufficientFunds, code: "2001")))
    #expect(try await answer(422, refused(bare)).isUnknown)
    #expect(try await answer(201, refused(declined)).isUnknown)
    #expect(try await answer(422, refused("")).isUnknown)
    let other = declined.replacing("R1", with: "R2")
    #expect(try await answer(422, refused(other)).isUnknown)
  }

  @Test(arguments: [
    ("81503", DeclineReason.configuration), ("91565", .cryptogramInvalid), ("83518", .notPermitted),
    ("99999", .configuration),
  ])
  func `a refused request has its first code`(code: String, reason: DeclineReason) async throws {
    let answer = try await answer(
      422,
      """
      <api-error-response><errors><errors type="array"/><transaction><errors type="array"><error><code>\(code)</code>\
      <attribute type="symbol">amount</attribute><message>no</message></error></errors></transaction></errors>\
      <message>no</message></api-error-response>
      """)
    #expect(answer == .declined(Decline(reason: reason, code: code)))
  }

  @Test func `only what provably never left was not sent`() async throws {
    for (error, isSent) in [
      (TransportError.notSent("refused"), false), (.timedOut, true), (.interrupted("reset"), true),
      (.responseTooLarge, true),
    ] {
      wire.fails(error)
      #expect(try await authorize().isUnknown == isSent)
    }
  }

  @Test func `with no time left nothing is sent`() async throws {
    let now = Deadline.after(.zero)
    guard case .notSent = await wire.acquirer.capture(followUp("C1", 3000), now),
      case .notSent = await wire.acquirer.void(followUp("V1", 3000), now),
      case .notSent = await wire.acquirer.refund(followUp("F1", 3000), now),
      case .unavailable = await wire.acquirer.inquire(
        InquiryRequest(reference: AttemptReference("R1"), amount: .eur(1)), now)
    else { throw BraintreeVisit.NotApproved() }
    #expect(wire.requests.isEmpty)
  }

  @Test(arguments: ["../m2", "a/b", "a?b", ""])
  func `a name that is no transaction's name does not become part of an address`(name: String) async throws {
    let request = FollowUpRequest(reference: AttemptReference("C1"), authorization: name, amount: .eur(1))
    for verb in [wire.acquirer.capture, wire.acquirer.void, wire.acquirer.refund] {
      #expect(await verb(request, .after(TestRun.whole)) == .notTaken("bad_reference"))
    }
    #expect(wire.requests.isEmpty)
  }

  @Test func `an answer to a follow-up is about its transaction and its amount`() async throws {
    let own = approval.replacing("abc12345", with: "abc").replacing("authorized", with: "submitted_for_settlement")
    for (body, isApproved) in [
      (own, true), (own.replacing("30.00", with: "29.00"), false), (own.replacing(">abc<", with: ">abd<"), false),
      (own.replacing("submitted_for_settlement", with: "authorized"), false),
    ] {
      wire.answers(200, body)
      let answer = await wire.acquirer.capture(followUp("C1", 3000, isWhole: true), .after(TestRun.whole))
      #expect((answer.name == "abc") == isApproved)
      #expect(answer.isUnknown == !isApproved)
    }
    wire.answers(200, own)
    #expect(await wire.acquirer.void(followUp("V1", 3000), .after(TestRun.whole)).isUnknown)
  }

  @Test(arguments: ["authorizing", "authorized", "processor_declined", "gateway_rejected", "failed"])
  func `an authorization that is held, refused or not decided yet was not voided`(status: String) async throws {
    wire.answers(200, approval.replacing("abc12345", with: "abc").replacing("authorized", with: status))
    let void = InquiryRequest(reference: AttemptReference("V1"), amount: .eur(3000), kind: .void, authorization: "abc")
    #expect(await wire.acquirer.inquire(void, .after(TestRun.whole)) == .notFound)
  }

  @Test func `what is new in an answer is masked in the transcript`() async throws {
    _ = try await answer(201, approval.replacing("<id>", with: "<surprise>4761739000000012</surprise><id>"))
    #expect(wire.transcripts.contains("R1"))
    for secret in ["4761739000000012", BraintreeVisit.cryptogram, "cHViOnByaXY", "2031"] {
      #expect(!wire.transcripts.contains(secret))
    }
    _ = try await answer(502, "4761739000000012")
    #expect(!wire.transcripts.contains("4761739000000012"))
  }
}

private let approval = """
  <?xml version="1.0" encoding="UTF-8"?><transaction><id>abc12345</id><status>authorized</status><type>sale</type>\
  <currency-iso-code>EUR</currency-iso-code><amount>30.00</amount><merchant-account-id>eur</merchant-account-id>\
  <order-id>R1</order-id><processor-response-code>1000</processor-response-code>\
  <processor-authorization-code>B2C3D4</processor-authorization-code>\
  <network-transaction-id>123456</network-transaction-id><gateway-rejection-reason nil="true"/></transaction>
  """

/// An HTTP client that answers with what a test sets, and records the requests.
private final class BraintreeWire: Sendable {
  private struct State {
    var answer: Result<InboundResponse, TransportError> = .failure(.timedOut)
    var requests: [OutboundRequest] = []
    var transcripts: [Transcript] = []
  }

  private let state = Mutex(State())
  private let environment: BraintreeEnvironment

  init(_ environment: BraintreeEnvironment = .simulated(origin: "http://sandbox")) { self.environment = environment }

  func answers(_ status: Int, _ body: String) { answers(status, Array(body.utf8)) }
  func answers(_ status: Int, _ body: [UInt8]) {
    state.withLock { $0.answer = .success(InboundResponse(status: status, body: body)) }
  }
  func fails(_ error: TransportError) { state.withLock { $0.answer = .failure(error) } }
  var requests: [OutboundRequest] { state.withLock { $0.requests } }
  var transcripts: String { state.withLock { $0.transcripts.map { $0.request + $0.response }.joined() } }

  /// Method, path and body of each request.
  var sent: [String] {
    requests.map { request in
      let path = request.url.replacing("http://sandbox", with: "")
      return "\(request.method) \(path) \(String(decoding: request.body, as: UTF8.self))"
    }
  }

  var acquirer: Acquirer {
    let settings: BraintreeSettings = {
      var settings = BraintreeSettings(
        environment: environment, merchantID: "m1", publicKey: "pub", privateKey: BraintreePrivateKey("priv"),
        merchantAccounts: [Amount.eur(1).currency: "eur"])
      settings.capturesInParts = true
      return settings
    }()
    return .braintree(
      settings,
      http: HTTPSender { request, _ throws(TransportError) in
        try self.state.withLock { state in
          state.requests.append(request)
          return state.answer
        }.get()
      }, log: { transcript in self.state.withLock { $0.transcripts.append(transcript()) } })
  }
}
