import AcquirerSandbox
import Acquiring
import Connectors
import Crypto
import HTTPTransport
import ProviderEmulators
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// Events of Checkout.com's workflow, as the connector reads them.
@Suite struct `Checkout.com's events` {
  private static let now = Timestamp(seconds: 1_800_000_000)
  private static let data: JSONObject = [
    "id": "pay_a2", "action_id": "act_b3", "reference": "C1.capture", "amount": 500, "currency": "EUR",
    "response_code": "10000",
  ]

  private static func event(_ type: String, _ changes: [String: JSONValue?] = [:]) -> JSONValue {
    var data = data
    for (name, value) in changes { data[name] = value }
    return ["id": "evt_c4", "type": .string(type), "version": "1.0.1", "data": .object(data)]
  }

  private static func read(
    _ body: [UInt8], _ headers: [HTTPField], keys: [String] = ["key"], authorizations: [String] = []
  ) throws -> EventBatch {
    let settings = try CheckoutComSettings(
      host: .test(prefix: "vkuhvk4v"),
      secretKey: try #require(CheckoutComSecretKey(CheckoutComVisit.account.secretKey)),
      publicKey: try #require(CheckoutComPublicKey(CheckoutComVisit.account.publicKey)),
      workflow: try #require(CheckoutComWorkflow(signatureKeys: keys, authorizations: authorizations)),
      processingChannels: ["pc_a2"])
    let sender = HTTPSender { _, _ throws(TransportError) in throw .timedOut }
    return try Acquirer.checkoutCom(settings, http: sender).readEvents(
      InboundEvent(headers: headers, body: body, arrivedAt: now))
  }

  private static func signature(_ body: [UInt8], _ key: String = "key") -> HTTPField {
    let code = HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Array(key.utf8)))
    return HTTPField("cko-signature", Hex.encode(code))
  }

  private static func read(_ event: JSONValue) throws -> [AcquirerEvent] {
    let body = event.serialized()
    return try read(body, [signature(body)]).events
  }

  @Test func `an event is authentic under any of the keys, over its bytes as they arrived`() throws {
    let body = Array(#"{ "id":"evt_c4", "type":"payment_pending" , "data":{"amount":1.50}}"#.utf8)
    #expect(try Self.read(body, [Self.signature(body)]).events.isEmpty)
    #expect(try Self.read(body, [Self.signature(body, "new")], keys: ["key", "new"]).events.isEmpty)
    let plain = try JSONReader.read(body).serialized()
    for (bytes, headers) in [
      (body, []), (body, [Self.signature(body, "other")]), (plain, [Self.signature(body)]),
      (body, [HTTPField("Cko-Signature", "")]), (body, [HTTPField("Cko-Signature", "no hex")]),
      (body + [0x20], [Self.signature(body)]),
    ] {
      #expect(throws: EventRefusal.notAuthentic) { try Self.read(bytes, headers) }
    }
  }

  @Test func `where the workflow sends an authorization, that must fit too`() throws {
    let body = Self.event("payment_pending").serialized()
    let right = HTTPField("authorization", "let me in")
    #expect(try Self.read(body, [right], keys: [], authorizations: ["old", "let me in"]).events.isEmpty)
    #expect(try Self.read(body, [Self.signature(body), right], authorizations: ["let me in"]).events.isEmpty)
    for headers in [[Self.signature(body)], [right], [Self.signature(body), HTTPField("Authorization", "let me i")]] {
      #expect(throws: EventRefusal.notAuthentic) { try Self.read(body, headers, authorizations: ["let me in"]) }
    }
    #expect(CheckoutComWorkflow(signatureKeys: []) == nil && CheckoutComWorkflow(signatureKeys: [""]) == nil)
  }

  @Test(arguments: [
    ("payment_captured", "C1.capture", true), ("payment_capture_declined", "C1.capture", false),
    ("payment_voided", "C1.void", true), ("payment_void_declined", "C1.void", false),
    ("payment_refunded", "C1.refund", true), ("payment_refund_declined", "C1.refund", false),
  ])
  func `the result of an operation of ours is its answer`(type: String, reference: String, isDone: Bool) throws {
    let code: JSONValue = isDone ? "10000" : "20051"
    let event = try #require(
      try Self.read(Self.event(type, ["reference": .string(reference), "response_code": code])).first)
    let answer: AcquirerAnswer =
      isDone
      ? .approved(Approval(acquirerReference: "act_b3"))
      : .declined(Decline(reason: .insufficientFunds, code: "20051"))
    #expect(
      event == AcquirerEvent(id: "evt_c4", reference: AttemptReference("C1"), amount: .eur(500), answer: answer))
  }

  @Test(
    arguments: [
      ("payment_captured", MoneyMovement.capture, "payment_capture_declined"),
      ("payment_voided", .void, "payment_void_declined"), ("payment_refunded", .refund, "payment_refund_declined"),
    ] as [(String, MoneyMovement, String)])
  func `what a person did is a movement, and what a person tried in vain is nothing`(
    type: String, movement: MoneyMovement, failed: String
  ) throws {
    for reference in [JSONValue.null, "R1", "C1.other"] {
      let event = try #require(try Self.read(Self.event(type, ["reference": reference])).first)
      #expect(event.subject == .authorization("pay_a2") && event.content == .movement(movement))
      #expect(event.name == "act_b3" && event.amount == .eur(500))
    }
    #expect(try Self.read(Self.event(failed, ["reference": "R1"])).isEmpty)
  }

  @Test func `an operation of ours is known by its metadata too`() throws {
    let changes: [String: JSONValue?] = ["reference": "R1", "metadata": ["operation": "C1.capture"]]
    let event = try #require(try Self.read(Self.event("payment_captured", changes)).first)
    #expect(event.subject == .operation(AttemptReference("C1")))
    // Of another kind it is none of ours.
    #expect(try Self.read(Self.event("payment_refunded", changes)).first?.subject == .authorization("pay_a2"))
  }

  @Test func `an authorization's result names the payment`() throws {
    let approved = Self.event(
      "payment_approved", ["reference": "R1", "auth_code": "643381", "scheme_id": "489341065491658"])
    let event = try #require(try Self.read(approved).first)
    #expect(
      event.content
        == .answer(
          .approved(
            Approval(
              acquirerReference: "pay_a2", authorizationCode: "643381", networkTransactionID: "489341065491658"))))
    #expect(event.subject == .operation(AttemptReference("R1")))
    let declined = Self.event("payment_declined", ["reference": "R1", "response_code": "30034"])
    #expect(
      try Self.read(declined).first?.content == .answer(.declined(Decline(reason: .suspectedFraud, code: "30034"))))
  }

  @Test func `a dispute takes the money once, by whichever of its events comes first, and gives it back`() throws {
    let changes: [String: JSONValue?] = ["id": "dsp_d5", "payment_id": "pay_a2"]
    let lost = ["dispute_received", "dispute_evidence_required", "dispute_expired", "dispute_lost"]
    let events = try lost.flatMap { try Self.read(Self.event($0, changes)) }
    #expect(events.count == 4 && Set(events).count == 1)
    #expect(events.first?.content == .movement(.chargeback) && events.first?.subject == .authorization("pay_a2"))
    for type in ["dispute_won", "dispute_canceled", "dispute_resolved"] {
      let event = try #require(try Self.read(Self.event(type, changes)).first)
      #expect(event.content == .movement(.chargebackReversed) && event.id != events.first?.id)
    }
  }

  @Test(
    arguments: [
      ("payment_captured", ["amount": "500"]), ("payment_captured", ["amount": .number("5.00")]),
      ("payment_captured", ["amount": -1]), ("payment_captured", ["currency": "EURO"]),
      ("payment_captured", ["currency": "KWD", "amount": 5001]), ("payment_captured", ["action_id": "../x"]),
      ("payment_approved", ["reference": .null]), ("payment_refunded", ["id": .null, "reference": "R1"]),
      ("dispute_received", ["payment_id": .null]),
    ] as [(String, [String: JSONValue])])
  func `an event that does not say what it must is not understood`(type: String, changes: [String: JSONValue]) throws {
    let body = Self.event(type, changes.mapValues { $0 }).serialized()
    #expect(throws: EventRefusal.unintelligible) { try Self.read(body, [Self.signature(body)]) }
    #expect(throws: EventRefusal.unintelligible) { try Self.read(Array("{".utf8), [Self.signature(Array("{".utf8))]) }
  }

  @Test(arguments: ["payment_pending", "payment_capture_pending", "card_verified", "payout_paid", "something_new"])
  func `an event that says nothing of money is acknowledged and left`(type: String) throws {
    #expect(try Self.read(Self.event(type)).isEmpty)
    #expect(try Self.read(Self.event(type, ["id": "evt_#1", "reference": .null])).isEmpty)
    let body = Array("{\"type\":\"\(type)\"}".utf8)
    #expect(try Self.read(body, [Self.signature(body)]) == .nothing)
  }

  @Test func `events come lost, twice and out of order, altered ones come again`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      try await visit.fault("event_lost")
      #expect(try await visit.events().isEmpty)
      _ = try await visit.capture("C1", name, 100)
      #expect(try await visit.events { $0 + [0x20] }.isEmpty)
      visit.clock.advance(.seconds(60))
      try await visit.fault("event_twice")
      let twice = try await visit.events()
      #expect(twice.count == 2 && Set(twice).count == 1)
      for reference in ["C2", "C3"] { _ = try await visit.capture(reference, name, 100) }
      try await visit.fault("events_reversed")
      let outcomes = `Paying through Checkout.com`.outcomes(try await visit.events())
      #expect(Set(outcomes) == ["C2 true", "C3 true"])
    }
  }

  @Test(
    arguments: [
      ("captures", MoneyMovement.capture, 400), ("voids", .void, 1250), ("expiries", .holdExpired, 1250),
    ] as [(String, MoneyMovement, Int64)])
  func `what a person or the time does to a hold is a movement`(
    act: String, movement: MoneyMovement, units: Int64
  ) async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      try await visit.dashboard(act, name, act == "captures" ? units : nil)
      let event = try #require(try await visit.events().last)
      #expect(event.content == .movement(movement) && event.subject == .authorization(name))
      #expect(event.amount == .eur(units))
    }
  }

  @Test func `a refund in the dashboard and a dispute are movements of captured money`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      _ = try await visit.capture("C1", name, 1250)
      _ = try await visit.events()
      for (act, movement) in [
        ("refunds", MoneyMovement.refund), ("disputes", .chargeback), ("disputes-won", .chargebackReversed),
      ] {
        try await visit.dashboard(act, name, 300)
        let event = try #require(try await visit.events().last)
        #expect(event.content == .movement(movement) && event.amount == .eur(300))
      }
    }
  }

  @Test func `the report has every operation, ours by our names`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let name = try await visit.held("R1")
      _ = try await visit.capture("C1", name, 500)
      try await visit.process()
      _ = try await visit.refund("F1", name, 200)
      _ = try await visit.void("V1", name, 750)
      try await visit.dashboard("refunds", name, 100)
      try await visit.process()
      _ = try await visit.authorize("R2", card: "visa-lost")
      let report = try #require(try visit.acquirer().report)
      let day = visit.clock.now.adding(.seconds(-60))..<visit.clock.now.adding(.seconds(60))
      let found = try await report(day, { _, _ in nil }, .after(TestRun.whole))
      let lines = found.lines.map { "\($0.reference) \($0.operation) \($0.amount.minorUnits) \($0.result)" }
      let dashboard = try #require(lines.first { $0.hasPrefix("act_") })
      #expect(dashboard.hasSuffix(" refund 100 approved"))
      #expect(
        Set(lines) == [
          "R1 authorize 1250 approved", "C1 capture 500 approved", "F1 refund 200 approved", "V1 void 750 approved",
          "R2 authorize 1250 declined", dashboard,
        ])
      // A void that undid an authorization is reported under the authorization's name.
      let undone = try await report(
        day, { kind, _ in kind == .reverse ? AttemptReference("V1") : nil }, .after(TestRun.whole))
      #expect(undone.lines.contains { $0.operation == .reverse && $0.reference == AttemptReference("R1") })
    }
  }
}
