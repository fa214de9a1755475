import Acquiring
import Connectors
import HTTPTransport
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The connector to Stripe alone: bytes out, answer in.
@Suite struct `Stripe's connector` {
  private let wire = StripeWire()
  private let deadline = Deadline.after(TestRun.whole)

  private func authorize(
    eci: String? = "7", sale: SaleDetails = SaleDetails(), settings: StripeSettings? = nil
  ) async throws -> AcquirerAnswer {
    let card = NetworkToken(
      dpan: try #require(DPAN("4761739000000012")), expiry: try #require(CardExpiry(yymm: "3112")),
      cryptogram: Cryptogram(base64: "AgAAAAAAAIR8CQrXcIhbQAAAAAA="), eci: eci)
    let request = AuthorizationRequest(
      reference: AttemptReference("R1"), merchantReference: "order 1", amount: .eur(1250), instrument: .network(card),
      sale: sale)
    return try await wire.acquirer(settings).authorize(request, deadline)
  }

  private func answer(_ status: Int, _ body: String, _ headers: [HTTPField] = []) async throws -> AcquirerAnswer {
    wire.answers(status, body, headers)
    return try await authorize()
  }

  private let followUp = FollowUpRequest(
    reference: AttemptReference("C1"), authorization: "pi_1", amount: .eur(500))

  private let approval = #"""
    {"id":"pi_1","object":"payment_intent","amount":1250,"amount_capturable":1250,"amount_received":0,"created":1,"currency":"eur","livemode":false,"metadata":{"tender_reference":"R1"},"status":"requires_capture","latest_charge":{"id":"ch_1","payment_method_details":{"card":{"authorization_code":"B2C3D4","network_transaction_id":"123456789012345"}}}}
    """#

  @Test(arguments: ["requires_capture", "processing", "requires_payment_method"])
  func `an authorization that is held, refused or not decided yet was not voided`(status: String) async throws {
    wire.answers(200, approval.replacing("requires_capture", with: status))
    let void = InquiryRequest(reference: AttemptReference("V1"), amount: .eur(1250), kind: .void, authorization: "pi_1")
    #expect(try await wire.acquirer().inquire(void, deadline) == .notFound)
  }

  @Test func `a phone number that Stripe would refuse is left out, and the name stays`() async throws {
    for (number, isSent) in [("+1 780-555-0156 ext.", true), ("+1 780-555-0156 ext. 725", false)] {
      var shopper = SaleDetails.Shopper.unfit
      shopper.phoneNumber = number
      _ = try await authorize(sale: SaleDetails(shopper: shopper))
      let body = String(decoding: try #require(wire.requests.last).body, as: UTF8.self)
      #expect(body.contains("payment_method_data[billing_details][phone]=") == isSent, "\(body)")
      #expect(body.contains("payment_method_data[billing_details][name]=Maud"))
    }
  }

  @Test func `a network token goes out as Stripe's form, byte for byte`() async throws {
    let answer = try await answer(200, approval)
    #expect(
      answer
        == .approved(
          Approval(
            acquirerReference: "pi_1", authorizationCode: "B2C3D4", networkTransactionID: "123456789012345")))
    let request = try #require(wire.requests.first)
    #expect(request.method == "POST" && request.url == "https://api.stripe.com/v1/payment_intents")
    #expect(request.headers.first(named: "Idempotency-Key") == "R1.authorize")
    #expect(request.headers.first(named: "Authorization") == "Bearer sk_test_one")
    #expect(request.headers.first(named: "Stripe-Version") == "2026-10-28.endive")
    #expect(
      String(decoding: request.body, as: UTF8.self) == """
        amount=1250&currency=eur&confirm=true&capture_method=manual&payment_method_types[0]=card\
        &payment_method_data[type]=card&payment_method_data[card][exp_month]=12\
        &payment_method_data[card][exp_year]=2031&payment_method_data[card][last4]=0012\
        &payment_method_data[card][network_token][number]=4761739000000012\
        &payment_method_data[card][network_token][exp_month]=12\
        &payment_method_data[card][network_token][exp_year]=2031\
        &payment_method_data[card][network_token][tokenization_method]=apple_pay\
        &payment_method_options[card][network_token][cryptogram]=AgAAAAAAAIR8CQrXcIhbQAAAAAA%3D\
        &payment_method_options[card][network_token][electronic_commerce_indicator]=07\
        &metadata[tender_reference]=R1&expand[0]=latest_charge
        """)
  }

  /// Stripe's own library sends the same for the same acts: `scripts/test-providers stripe`.
  @Test func `every request is the one that Stripe's library is compared with`() async throws {
    let compared = try JSONField(JSONReader.read(Array(try Repository.text("Tests/Judges/stripe/requests.json").utf8)))
    let acquirer = try wire.acquirer(try StripeWire.settings(multicapture: true))
    _ = try await authorize(settings: try StripeWire.settings(multicapture: true))
    _ = await acquirer.capture(followUp, deadline)
    _ = await acquirer.void(followUp, deadline)
    _ = await acquirer.refund(followUp, deadline)
    _ = await acquirer.inquire(
      InquiryRequest(
        reference: AttemptReference("R1"), amount: .eur(1250), acquirerReference: "pi_1"), deadline)
    _ = await acquirer.checkCredentials(deadline)
    for (request, expected) in zip(wire.requests, try compared.array) {
      let (path, query) = (try expected.member("path").string, try expected.memberIfPresent("query")?.string)
      #expect(request.url == "https://api.stripe.com\(path)\(query.map { "?\($0)" } ?? "")")
      #expect(try request.headers.first(named: "Idempotency-Key") == expected.memberIfPresent("key")?.string)
      let body = try expected.memberIfPresent("body")?.string
      #expect(String(decoding: request.body, as: UTF8.self) == body ?? "")
    }
    #expect(try wire.requests.count == compared.array.count)
  }

  @Test func `an indicator that Apple did not deliver is not made up`() async throws {
    _ = try await authorize(eci: nil)
    let body = String(decoding: try #require(wire.requests.first).body, as: UTF8.self)
    #expect(body.contains("[cryptogram]=") && !body.contains("electronic_commerce_indicator"))
  }

  @Test func `text is escaped, so that no value becomes a parameter`() async throws {
    let shopper = SaleDetails.Shopper(givenName: "A&amount=1", familyName: "Müller", phoneNumber: "+49 221 1")
    _ = try await authorize(sale: SaleDetails(order: "O=1", shopper: shopper))
    let body = String(decoding: try #require(wire.requests.first).body, as: UTF8.self)
    #expect(body.contains("&payment_method_data[billing_details][name]=A%26amount%3D1%20M%C3%BCller&"))
    #expect(body.contains("&payment_method_data[billing_details][phone]=%2B49%20221%201&metadata[tender_order]=O%3D1&"))
  }

  @Test func `a platform's call names the connected account`() async throws {
    _ = try await authorize(settings: try StripeWire.settings(connected: ["acct_one", "acct_two"]))
    let sale = SaleDetails(merchantAccount: "acct_two")
    _ = try await authorize(sale: sale, settings: try StripeWire.settings(connected: ["acct_one", "acct_two"]))
    #expect(wire.requests.map { $0.headers.first(named: "Stripe-Account") } == ["acct_one", "acct_two"])
  }

  @Test(arguments: [
    (#""id":"pi_1""#, #""id":"pi/1""#), (#""amount":1250"#, #""amount":1251"#), ("eur", "usd"), ("R1", "R2"),
    (#""livemode":false"#, #""livemode":true"#), ("requires_capture", "something"),
    (#""amount_capturable":1250"#, #""amount_capturable":1249"#),
    (#""object":"payment_intent""#, #""object":"charge""#),
    (#"{"tender_reference":"R1"}"#, "{}"), (#""status":"requires_capture","#, ""),
  ])
  func `an approval with one thing wrong is none`(right: String, wrong: String) async throws {
    let broken = approval.split(separator: right, maxSplits: 1, omittingEmptySubsequences: false)
      .joined(separator: wrong)
    #expect(try await answer(200, broken).isUnknown, "\(broken)")
  }

  @Test(arguments: ["<html>Please try again.</html>", "", #"{"id":"pi_1","obj"#, "null", "{}", "[]"])
  func `what is no answer of Stripe's leaves the outcome unknown`(body: String) async throws {
    for status in [200, 400, 402, 404] { #expect(try await answer(status, body).isUnknown) }
    wire.answers(200, body)
    let acquirer = try wire.acquirer()
    #expect(await acquirer.capture(followUp, deadline).isUnknown)
    #expect(await acquirer.void(followUp, deadline).isUnknown)
    #expect(await acquirer.refund(followUp, deadline).isUnknown)
  }

  @Test(arguments: [100, 201, 202, 204, 301, 302, 307, 409, 418, 500, 502, 503, 504])
  func `an approval under another status than 200 is none`(status: Int) async throws {
    #expect(try await answer(status, approval, [HTTPField("Location", "https://x.example/")]).isUnknown)
    #expect(wire.requests.count == 1)
  }

  @Test(arguments: [
    (400, "invalid_request_error", "parameter_missing", DeclineReason.configuration),
    (404, "invalid_request_error", "resource_missing", .configuration),
    (402, "card_error", "expired_card", .expiredCard), (402, "card_error", "processing_error", .issuerUnavailable),
    (402, "card_error", "brand_new_code", .other),
  ])
  func `a call that Stripe refused did nothing`(
    status: Int, kind: String, code: String, reason: DeclineReason
  ) async throws {
    let error = #"{"error":{"type":"\#(kind)","code":"\#(code)","message":"…"}}"#
    #expect(try await answer(status, error) == .declined(Decline(reason: reason, code: code)))
  }

  @Test(arguments: [401, 403]) func `a refused key is for the operator`(status: Int) async throws {
    let decline = Decline(reason: .configuration, code: "HTTP \(status)")
    #expect(try await answer(status, "<html>") == .declined(decline))
  }

  @Test func `a key that was used before leaves the outcome to the first call`() async throws {
    for (kind, code) in [("idempotency_error", "x"), ("invalid_request_error", "token_already_used")] {
      let error = #"{"error":{"type":"\#(kind)","code":"\#(code)","message":"…"}}"#
      #expect(try await answer(400, error).isUnknown)
    }
  }

  @Test func `a decline of another intent, or of one that holds money, is none`() async throws {
    let declined = approval.replacing("requires_capture", with: "requires_payment_method")
    func error(_ intent: String) -> String {
      #"{"error":{"type":"card_error","code":"card_declined","decline_code":"lost_card","payment_intent":\#(intent)}}"#
    }
    let decline = AcquirerAnswer.declined(Decline(reason: .lostOrStolen, code: "lost_card"))
    #expect(try await answer(402, error(declined)) == decline)
    #expect(try await answer(402, error(declined.replacing("R1", with: "R2"))).isUnknown)
    #expect(try await answer(402, error(approval)).isUnknown)
  }

  @Test(arguments: [
    ("pi_1", "pi_2"), ("C1", "C2"), (#""capture_C1":"500""#, #""capture_C1":"501""#),
    (#""amount_received":500"#, #""amount_received":499"#), ("eur", "usd"), (#""livemode":false"#, #""livemode":true"#),
  ])
  func `the receipt of a capture with one thing wrong is none`(right: String, wrong: String) async throws {
    let receipt = #"""
      {"id":"pi_1","object":"payment_intent","amount":1250,"amount_capturable":750,"amount_received":500,"created":1,"currency":"eur","livemode":false,"metadata":{"tender_reference":"R1","capture_C1":"500"},"status":"requires_capture"}
      """#
    wire.answers(200, receipt)
    #expect(try await wire.acquirer().capture(followUp, deadline).name == "pi_1")
    wire.answers(200, receipt.replacing(right, with: wrong))
    #expect(try await wire.acquirer().capture(followUp, deadline).isUnknown)
  }

  @Test(arguments: [
    ("pi_1", "pi_2"), ("C1", "C2"), ("500", "501"), ("eur", "usd"), ("succeeded", "something"), ("re_1", "/"),
  ])
  func `the receipt of a refund with one thing wrong is none`(right: String, wrong: String) async throws {
    let receipt = #"""
      {"id":"re_1","object":"refund","amount":500,"created":1,"currency":"eur","metadata":{"tender_reference":"C1"},"payment_intent":"pi_1","status":"succeeded"}
      """#
    wire.answers(200, receipt)
    #expect(try await wire.acquirer().refund(followUp, deadline).name == "re_1")
    wire.answers(200, receipt.replacing(right, with: wrong))
    #expect(try await wire.acquirer().refund(followUp, deadline).isUnknown)
  }

  @Test func `only what provably never left was not sent`() async throws {
    wire.answers(.failure(.notSent("connection refused")))
    #expect(try await authorize() == .notSent("connection refused"))
    for error in [TransportError.timedOut, .interrupted("reset"), .responseTooLarge] {
      wire.answers(.failure(error))
      #expect(try await authorize().isUnknown)
    }
  }

  @Test func `nothing is sent without time, to another account, or under a name that is none`() async throws {
    let acquirer = try wire.acquirer()
    guard case .notSent = await acquirer.capture(followUp, .after(.zero)) else { throw TransportError.timedOut }
    #expect(try await authorize(sale: SaleDetails(merchantAccount: "acct_x")) == .notTaken("other_account"))
    for (reference, name) in [("C1", "../balance"), ("C 1", "pi_1"), ("", "pi_1"), ("C1", "")] {
      let request = FollowUpRequest(
        reference: AttemptReference(reference), authorization: name, amount: .eur(500))
      #expect(await acquirer.refund(request, deadline) == .notTaken("bad_reference"))
    }
    #expect(wire.requests.isEmpty)
  }

  @Test(arguments: [
    ("sk_test_one", StripeSettings.Host.live), ("rk_test_one", .live), ("sk_live_one", .test),
    ("rk_live_one", .simulated(origin: "http://localhost")),
  ])
  func `a key of the other mode is refused at the start`(key: String, host: StripeSettings.Host) throws {
    #expect(throws: ConnectorSettingsError.self) { _ = try StripeWire.settings(host: host, key: key) }
  }

  @Test(arguments: ["pk_test_one", "sk_one", "whsec_one", "", "sk_test_a b", "sk_test_é"])
  func `what is no secret key is none, and a key does not print`(text: String) throws {
    #expect(StripeSecretKey(text) == nil)
    let key = try #require(StripeSecretKey("sk_test_one"))
    #expect(!"\(key)\(String(reflecting: key))".contains("one"))
    let secret = try #require(StripeSigningSecret("whsec_one"))
    #expect(!"\(secret)\(String(reflecting: secret))".contains("one") && StripeSigningSecret("one") == nil)
  }

  @Test func `it states what Stripe can do`() throws {
    let capabilities = try wire.acquirer().capabilities
    #expect(capabilities.route == "stripe/eu" && capabilities.instruments == [.network, .sealed])
    #expect(capabilities.preparedInstruments == [.sealed] && capabilities.parts == [.capture, .refund])
    #expect(capabilities.inquiry && !capabilities.reversal)
    #expect(capabilities.idempotency == .reference(window: .seconds(86_400 - 600)))
    #expect(capabilities.merchantAccount(.euro) == nil)
  }
}

/// The network's place in these tests: it answers as told, and keeps what was sent.
private final class StripeWire: Sendable {
  private struct State {
    var answer: Result<InboundResponse, TransportError> = .failure(.timedOut)
    var requests: [OutboundRequest] = []
  }

  private let state = Mutex(State())

  func answers(_ answer: Result<InboundResponse, TransportError>) { state.withLock { $0.answer = answer } }
  func answers(_ status: Int, _ body: String, _ headers: [HTTPField] = []) {
    answers(.success(InboundResponse(status: status, headers: headers, body: Array(body.utf8))))
  }
  var requests: [OutboundRequest] { state.withLock { $0.requests } }

  static func settings(
    host: StripeSettings.Host = .test, key: String = "sk_test_one", connected: [String] = [], multicapture: Bool = false
  ) throws -> StripeSettings {
    try StripeSettings(
      host: host, account: "eu", secretKey: try #require(StripeSecretKey(key)),
      signingSecrets: [try #require(StripeSigningSecret("whsec_one"))], connectedAccounts: connected,
      multicapture: multicapture)
  }

  func acquirer(_ settings: StripeSettings? = nil) throws -> Acquirer {
    .stripe(
      try settings ?? Self.settings(),
      http: HTTPSender { request, _ throws(TransportError) in
        try self.state.withLock { state in
          state.requests.append(request)
          return state.answer
        }.get()
      })
  }
}
