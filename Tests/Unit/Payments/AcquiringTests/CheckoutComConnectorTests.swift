import AcquirerSandbox
import Acquiring
import Connectors
import HTTPTransport
import ProviderEmulators
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The connector to Checkout.com alone: bytes out, answer in.
@Suite struct `Checkout.com's connector` {
  private let wire = CheckoutComWire()
  /// From now on; a slow machine takes seconds for the steps before.
  private var deadline: Deadline { .after(TestRun.whole) }

  private func authorize(
    eci: String? = "7", sale: SaleDetails = SaleDetails(), settings: CheckoutComSettings? = nil
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
    wire.answers(.success(InboundResponse(status: status, headers: headers, body: Array(body.utf8))))
    return try await authorize()
  }

  private let followUp = FollowUpRequest(
    reference: AttemptReference("C1"), authorization: "pay_y3oqhf46pyzuxjbcn2giaqnb44", amount: .eur(500))

  private func capture(_ status: Int, _ body: String) async throws -> AcquirerAnswer {
    wire.answers(.success(InboundResponse(status: status, body: Array(body.utf8))))
    return try await wire.acquirer().capture(followUp, deadline)
  }

  private let approval = #"""
    {"id":"pay_y3oqhf46pyzuxjbcn2giaqnb44","action_id":"act_a2","amount":1250,"currency":"EUR","approved":true,"status":"Authorized","auth_code":"643381","response_code":"10000","response_summary":"Approved","reference":"R1","scheme_id":"489341065491658"}
    """#
  private let accepted = #"""
    {"action_id":"act_b3","reference":"C1.capture","_links":{"payment":{"href":"https://api.sandbox.checkout.com/payments/pay_y3oqhf46pyzuxjbcn2giaqnb44"}}}
    """#

  /// Checkout.com's own library sends the same for the same acts: `scripts/test-providers checkout-com`.
  @Test func `every request is the one that Checkout.com's library is compared with`() async throws {
    let file = try Repository.text("Tests/Judges/checkout-com/requests.json")
    let compared = try JSONField(JSONReader.read(Array(file.utf8))).array
    let acquirer = try wire.acquirer()
    _ = try await authorize(sale: Self.sale)
    _ = await acquirer.capture(followUp, deadline)
    _ = await acquirer.void(followUp, deadline)
    _ = await acquirer.refund(followUp, deadline)
    _ = await acquirer.inquire(InquiryRequest(reference: AttemptReference("R1"), amount: .eur(1250)), deadline)
    _ = try await charge("src_wmlfc3zyhqzehihu7giusaaawu")
    for (request, expected) in zip(wire.requests, compared) {
      #expect(request.url == "https://vkuhvk4v.api.sandbox.checkout.com" + (try expected.member("path").string))
      #expect(try request.method == expected.member("method").string)
      #expect(try request.headers.first(named: "Cko-Idempotency-Key") == expected.memberIfPresent("key")?.string)
      #expect(request.headers.first(named: "Authorization") == "Bearer \(CheckoutComVisit.account.secretKey)")
      if let body = try expected.memberIfPresent("body") {
        #expect(try JSONReader.read(request.body) == body.value)
      } else {
        #expect(request.body.isEmpty)
      }
      let names = ["Accept", "Authorization", "Cko-Idempotency-Key", "Content-Type"]
      #expect(Set(request.headers.map(\.name)).isSubset(of: names))
    }
    #expect(wire.requests.count == 6 && compared.count == 6)
  }

  private static let sale = SaleDetails(
    order: "O1", statementDescriptor: "Café \u{1F9C1} of Ada & Sons, London",
    shopper: .init(
      givenName: "Ada", familyName: "Lovelace", emailAddress: "ada@example.com", countryCode: "gb",
      postalCode: "SE1 9SG", locality: "London", addressLines: ["12 Harbour Street"]))

  @Test(arguments: [(.final, "Final"), (.preliminary, "Estimated"), (nil, nil)] as [(AuthorizationType?, String?)])
  func `a payment is authorized as it asks`(type: AuthorizationType?, word: String?) async throws {
    var sale = SaleDetails()
    sale.authorization = type
    _ = try await authorize(sale: sale)
    #expect(
      try JSONReader.read(try #require(wire.requests.first).body)["authorization_type"] == word.map(JSONValue.string))
  }

  @Test func `what Checkout.com would refuse of a contact is left out, and nothing is cut`() async throws {
    _ = try await authorize(sale: SaleDetails(shopper: .unfit))
    var shopper = SaleDetails.Shopper.unfit
    (shopper.countryCode, shopper.emailAddress) = ("ca", "maud@example.ca")
    (shopper.locality, shopper.postalCode) = (String(repeating: "c", count: 51), "T5J 0N3")
    _ = try await authorize(sale: SaleDetails(shopper: shopper))
    let bodies = try wire.requests.map { try JSONReader.read($0.body) }
    #expect(bodies.first?["customer"] == nil && bodies.first?["source"]?["billing_address"] == nil)
    #expect(bodies.last?["customer"] == ["email": "maud@example.ca", "name": "Maud Müller"])
    #expect(bodies.last?["source"]?["billing_address"] == ["country": "CA", "zip": "T5J 0N3"])
  }

  private func charge(_ reference: String?) async throws -> AcquirerAnswer {
    let credential = StoredCredential(
      firstPayment: "pay_y3oqhf46pyzuxjbcn2giaqnb44", reference: reference, networkTransactionID: "489341065491658",
      networkLinkID: nil, card: CardSummary(deviceAccountSuffix: "0012", expiry: nil, hasECI: false))
    var sale = SaleDetails()
    sale.agreement = .init(.recurring, shopper: "018f-shopper")
    let request = AuthorizationRequest(
      reference: AttemptReference("R1"), merchantReference: "order 1", amount: .eur(1250),
      instrument: .stored(credential), sale: sale)
    return try await wire.acquirer().authorize(request, deadline)
  }

  @Test func `a later payment is not asked for where Checkout.com has named no stored card`() async throws {
    #expect(try await charge(nil) == .notTaken("no_stored_credential") && wire.requests.isEmpty)
  }

  @Test func `an indicator that Apple did not deliver is not made up`() async throws {
    _ = try await authorize(eci: nil)
    let body = try JSONReader.read(try #require(wire.requests.first).body)
    #expect(body["source"]?["cryptogram"] != nil && body["source"]?["eci"] == nil)
    #expect(body["billing_descriptor"] == nil && body["customer"] == nil && body["source"]?["billing_address"] == nil)
  }

  @Test func `the payment token goes out with the public key, all else with the secret one`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let acquirer = try wire.acquirer()
      let request = visit.request("R1", .eur(1250), try await visit.sealed(1250), prepared: "tok_a2")
      let prepare = try #require(acquirer.prepare)
      _ = await prepare(request, deadline)
      _ = await acquirer.authorize(request, deadline)
      let (account, sent) = (CheckoutComVisit.account, wire.requests)
      try #require(sent.count == 2)
      #expect(sent.map { $0.url.split(separator: "/").last } == ["tokens", "payments"])
      #expect(
        sent.compactMap { $0.headers.first(named: "Authorization") } == [
          "Bearer \(account.publicKey)", "Bearer \(account.secretKey)",
        ])
      let token = try JSONReader.read(sent[0].body)
      #expect(token["type"] == "applepay" && token["token_data"]?["version"] == "EC_v1")
      #expect(token["token_data"]?["header"]?["ephemeralPublicKey"] != nil)
      let source = try JSONReader.read(sent[1].body)["source"]
      #expect(source?["type"] == "token" && source?["token"] == "tok_a2")
    }
  }

  @Test func `a capture says whether it is the last one`() async throws {
    let acquirer = try wire.acquirer()
    for (isFinal, isWhole) in [(false, false), (true, false), (false, true)] {
      _ = await acquirer.capture(
        FollowUpRequest(
          reference: AttemptReference("C1"), authorization: "pay_a2", amount: .eur(500), isFinal: isFinal,
          isWhole: isWhole), deadline)
    }
    let types = try wire.requests.map { try JSONReader.read($0.body)["capture_type"] }
    #expect(types == ["NonFinal", "Final", "Final"])
  }

  @Test func `the host begins with the account's prefix, which cannot end it`() async throws {
    let settings = try CheckoutComWire.settings(.live(prefix: "vkuhvk4v"), environment: "")
    _ = try await authorize(settings: settings)
    #expect(wire.requests.first?.url == "https://vkuhvk4v.api.checkout.com/payments")
    _ = try CheckoutComWire.settings(.live(prefix: "pl-vkuhvk4v"), environment: "")
    for prefix in [
      "", "pl-", "a-b", "a.example/", "a/b", "a@b", "a.b", "-a", "A", "é", "a#", String(repeating: "a", count: 64),
    ] {
      #expect(throws: ConnectorSettingsError.self, "\(prefix)") {
        try CheckoutComWire.settings(.live(prefix: prefix), environment: "")
      }
    }
  }

  @Test func `keys must be of the environment`() throws {
    for (host, environment) in [
      (CheckoutComSettings.Host.live(prefix: "a"), "sbox_"), (.test(prefix: "a"), ""), (.simulated(origin: "x"), ""),
    ] {
      #expect(throws: ConnectorSettingsError.self) { try CheckoutComWire.settings(host, environment: environment) }
    }
    let key = String(repeating: "a", count: 27)
    for text in [
      "", "sk_" + key.dropLast(), "sk_sbox_" + key + "a", "pk_" + key, "sk_test_" + key, "sk_" + key.uppercased(),
    ] {
      #expect(CheckoutComSecretKey(text) == nil, "\(text)")
    }
    #expect(CheckoutComPublicKey("sk_" + key) == nil && CheckoutComPublicKey("pk_" + key.dropLast() + "#") != nil)
    #expect(throws: ConnectorSettingsError.self) { try CheckoutComWire.settings(channels: []) }
    #expect(throws: ConnectorSettingsError.self) { try CheckoutComWire.settings(channels: ["ovo75"]) }
    let printed = "\(try CheckoutComWire.settings())"
    #expect(printed.contains("•••") && !printed.contains("sk_") && !printed.contains("pk_"))
  }

  @Test func `an approval is an approval`() async throws {
    #expect(
      try await answer(201, approval)
        == .approved(
          Approval(
            acquirerReference: "pay_y3oqhf46pyzuxjbcn2giaqnb44", authorizationCode: "643381",
            networkTransactionID: "489341065491658")))
  }

  @Test(arguments: [
    ("\"R1\"", "\"R2\""), ("1250", "1251"), ("1250", "500"), ("1250", "\"1250\""), ("1250", "1250.0"),
    ("1250", "-1250"), ("EUR", "USD"), ("EUR", "eur"), ("true", "false"), ("true", "\"true\""),
    ("Authorized", "authorized"), ("Authorized", "Captured"), ("Authorized", "Card Verified"), ("10000", "20005"),
    ("pay_y3oqhf46pyzuxjbcn2giaqnb44", ""), ("pay_y3oqhf46pyzuxjbcn2giaqnb44", "../payments"),
    (#","reference":"R1""#, ""), ("}", "}}"), ("{", "["), ("}", ",}"), (#"{"id""#, #"{"status":"Declined","id""#),
  ])
  func `an approval with one thing wrong is none`(right: String, wrong: String) async throws {
    let parts = approval.split(separator: right, maxSplits: 1, omittingEmptySubsequences: false)
    let broken = parts.joined(separator: wrong)
    guard case .unknown = try await answer(201, broken) else {
      Issue.record("\(broken)")
      return
    }
  }

  @Test(arguments: ["<html>Please try again.</html>", "", #"{"id":"pay_y3oqhf46py"#, "null", "{}", "[]"])
  func `what is no answer of Checkout.com's leaves the outcome unknown`(body: String) async throws {
    for status in [200, 201, 202, 422] {
      #expect(try await answer(status, body).isUnknown)
      #expect(try await capture(status, body).isUnknown)
    }
  }

  @Test(arguments: [100, 200, 202, 204, 301, 302, 307, 400, 409, 500, 502, 503, 504])
  func `an approval under another status than 201 is none`(status: Int) async throws {
    let answer = try await answer(status, approval, [HTTPField("Location", "https://x.example/")])
    #expect(answer.isUnknown && wire.requests.count == 1)
  }

  @Test func `202 is pending, unless it waits for the shopper`() async throws {
    let pending = #"{"id":"pay_a2","status":"Pending","reference":"R1","_links":{"self":{"href":"x"}}}"#
    #expect(try await answer(202, pending) == .pending(Pending(acquirerReference: "pay_a2")))
    let redirect = pending.replacing(#""self""#, with: #""redirect""#)
    #expect(
      try await answer(202, redirect) == .declined(Decline(reason: .authenticationRequired, code: "redirect")))
    #expect(try await answer(202, pending.replacing("R1", with: "R2")).isUnknown)
    #expect(try await answer(202, pending.replacing("Pending", with: "Authorized")).isUnknown)
  }

  @Test(arguments: [
    ("C1.capture", "C2.capture"), ("C1.capture", "C1.refund"), ("pay_y3oqhf46pyzuxjbcn2giaqnb44", "pay_a2"),
    ("act_b3", "/"), ("act_b3", ""), (#""action_id":"act_b3","#, ""),
    (
      #","reference":"C1.capture","_links":{"payment":{"href":"https://api.sandbox.checkout.com/payments/pay_y3oqhf46pyzuxjbcn2giaqnb44"}}"#,
      ""
    ),
  ])
  func `an acceptance with one thing wrong is none`(right: String, wrong: String) async throws {
    #expect(try await capture(202, accepted) == .pending(Pending(acquirerReference: "act_b3")))
    #expect(try await capture(202, accepted.replacing(right, with: wrong)).isUnknown)
    #expect(try await capture(200, accepted).isUnknown)
  }

  @Test(arguments: [
    ("20005", DeclineReason.doNotHonor), ("20051", .insufficientFunds), ("20054", .expiredCard),
    ("20014", .invalidCard), ("20057", .notPermitted), ("20061", .limitExceeded), ("20063", .cryptogramInvalid),
    ("20154", .authenticationRequired), ("20068", .issuerUnavailable), ("20091", .issuerUnavailable),
    ("20096", .issuerUnavailable), ("20999", .doNotHonor), ("30004", .lostOrStolen), ("30034", .suspectedFraud),
    ("40101", .suspectedFraud), ("99999", .other),
  ])
  func `a response code decides the reason, and an unknown code is a refusal too`(
    code: String, reason: DeclineReason
  ) async throws {
    let body = approval.replacing("true", with: "false").replacing("Authorized", with: "Declined")
      .replacing("10000", with: code)
    #expect(try await answer(201, body) == .declined(Decline(reason: reason, code: code)))
    #expect((reason.declineClass == .retriable) == ["20068", "20091", "20096"].contains(code))
  }

  @Test(arguments: [
    (["processing_channel_id_required"], DeclineReason.configuration, "processing_channel_id_required"),
    (["request_invalid", "token_used"], .cryptogramInvalid, "token_used"),
    (["card_expired"], .expiredCard, "card_expired"),
    (["processing_error"], .issuerUnavailable, "processing_error"), (["<script>"], .configuration, "no error code"),
  ])
  func `a request that Checkout.com did not accept did nothing`(
    codes: [String], reason: DeclineReason, shown: String
  ) async throws {
    let error: JSONValue = [
      "request_id": "0HL80RJLS76I7", "error_type": "request_invalid",
      "error_codes": .array(codes.map(JSONValue.string)),
    ]
    let body = String(decoding: error.serialized(), as: UTF8.self)
    #expect(try await answer(422, body) == .declined(Decline(reason: reason, code: shown)))
    for status in [401, 403, 404] {
      #expect(try await answer(status, "") == .declined(Decline(reason: .configuration, code: "HTTP \(status)")))
    }
    guard case .notSent = try await answer(429, "") else { throw TransportError.timedOut }
  }

  @Test func `only what provably never left was not sent`() async throws {
    wire.answers(.failure(.notSent("connection refused")))
    #expect(try await authorize() == .notSent("connection refused"))
    for error in [TransportError.timedOut, .interrupted("reset"), .responseTooLarge] {
      wire.answers(.failure(error))
      #expect(try await authorize().isUnknown)
    }
  }

  @Test func `nothing is sent without time, to another channel, or under a name that is none`() async throws {
    let late = try wire.acquirer()
    guard case .notSent = await late.capture(followUp, .after(.zero)) else { throw TransportError.timedOut }
    #expect(try await authorize(sale: SaleDetails(merchantAccount: "pc_other")) == .notTaken("other_account"))
    let bad = FollowUpRequest(reference: AttemptReference("C1"), authorization: "../tokens", amount: .eur(500))
    #expect(await late.refund(bad, deadline) == .notTaken("bad_reference"))
    let query = AttemptReference("R1&x=1")
    let void = FollowUpRequest(reference: query, authorization: "pay_a2", amount: .eur(500))
    #expect(await late.void(void, deadline) == .notTaken("bad_reference"))
    #expect(await late.inquire(InquiryRequest(reference: query, amount: .eur(1250)), deadline) == .notFound)
    #expect(wire.requests.isEmpty)
  }

  @Test func `it states what Checkout.com can do`() throws {
    let capabilities = try wire.acquirer().capabilities
    #expect(capabilities.route == "checkout-com/eu" && capabilities.instruments == [.network, .sealed, .stored])
    #expect(
      capabilities.parts == [.capture, .furtherCaptures, .refund] && capabilities.preparedInstruments == [.sealed])
    #expect(capabilities.inquiry && !capabilities.reversal && !capabilities.repeatsAuthorizations)
  }
}

/// The network's place in these tests: it answers as told, and keeps what was sent.
private final class CheckoutComWire: Sendable {
  private struct State {
    var answer: Result<InboundResponse, TransportError> = .failure(.timedOut)
    var requests: [OutboundRequest] = []
  }

  private let state = Mutex(State())

  func answers(_ answer: Result<InboundResponse, TransportError>) { state.withLock { $0.answer = answer } }
  var requests: [OutboundRequest] { state.withLock { $0.requests } }

  /// - Parameter environment: what stands behind `sk_` and `pk_`.
  static func settings(
    _ host: CheckoutComSettings.Host = .test(prefix: "vkuhvk4v"), environment: String = "sbox_",
    channels: [String] = [CheckoutComVisit.account.processingChannel]
  ) throws -> CheckoutComSettings {
    let account = CheckoutComVisit.account
    return try CheckoutComSettings(
      host: host, account: "eu",
      secretKey: try #require(CheckoutComSecretKey("sk_" + environment + account.secretKey.dropFirst(8))),
      publicKey: try #require(CheckoutComPublicKey("pk_" + environment + account.publicKey.dropFirst(8))),
      workflow: try #require(CheckoutComWorkflow(signatureKeys: ["signature"])), processingChannels: channels,
      descriptorCity: "London")
  }

  func acquirer(_ settings: CheckoutComSettings? = nil) throws -> Acquirer {
    .checkoutCom(
      try settings ?? Self.settings(),
      http: HTTPSender { request, _ throws(TransportError) in
        try self.state.withLock { state in
          state.requests.append(request)
          return state.answer
        }.get()
      })
  }
}
