import AcquirerSandbox
import Acquiring
import Connectors
import Crypto
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// Calls of Stripe's webhook, as the connector reads them.
@Suite struct `Stripe's events` {
  private static let now: Int64 = 1_800_000_000

  private static let intent: JSONObject = [
    "id": "pi_1", "object": "payment_intent", "amount": 1250, "amount_capturable": 1250, "amount_received": 0,
    "created": 1_799_999_990, "currency": "eur", "livemode": false, "latest_charge": "ch_1",
    "metadata": ["tender_reference": "R1"], "status": "requires_capture",
  ]

  private static func intent(_ changes: [String: JSONValue]) -> JSONValue {
    var intent = intent
    for (name, value) in changes { intent[name] = value }
    return .object(intent)
  }

  private static func event(
    _ type: String, _ object: JSONValue, key: String? = nil, more: [String: JSONValue] = [:]
  ) -> JSONValue {
    var event: JSONObject = [
      "id": "evt_1", "object": "event", "livemode": false, "type": .string(type), "data": ["object": object],
      "request": ["id": "req_1", "idempotency_key": key.map(JSONValue.string) ?? .null],
    ]
    for (name, value) in more { event[name] = value }
    return .object(event)
  }

  private static func code(_ body: [UInt8], _ secret: String, at time: Int64 = now) -> String {
    let key = SymmetricKey(data: Array(secret.utf8))
    return Hex.encode(Array(HMAC<SHA256>.authenticationCode(for: Array("\(time).".utf8) + body, using: key)))
  }

  private static func read(
    _ body: [UInt8], _ header: String?, secrets: [String] = ["whsec_one"], connected: [String] = []
  ) throws -> EventBatch {
    let settings = try StripeSettings(
      host: .test, secretKey: try #require(StripeSecretKey("sk_test_one")),
      signingSecrets: try secrets.map { try #require(StripeSigningSecret($0)) }, connectedAccounts: connected)
    let sender = HTTPSender { _, _ throws(TransportError) in throw .timedOut }
    return try Acquirer.stripe(settings, http: sender).readEvents(
      InboundEvent(
        headers: header.map { [HTTPField("stripe-signature", $0)] } ?? [], body: body,
        arrivedAt: Timestamp(seconds: now)))
  }

  private static func read(_ event: JSONValue, connected: [String] = []) throws -> [AcquirerEvent] {
    try batch(event, connected: connected).events
  }

  private static func batch(_ event: JSONValue, connected: [String] = []) throws -> EventBatch {
    let body = event.serialized()
    return try read(body, "t=\(now),v1=\(code(body, "whsec_one"))", connected: connected)
  }

  @Test func `an authorization's event is its answer, by our reference`() throws {
    let events = try Self.read(
      Self.event("payment_intent.amount_capturable_updated", .object(Self.intent), key: "R1.authorize"))
    #expect(events.count == 1 && events[0].id == "authorized:pi_1" && events[0].amount == .eur(1250))
    #expect(events[0].subject == .operation(AttemptReference("R1")))
    #expect(events[0].content == .answer(.approved(Approval(acquirerReference: "pi_1"))))
  }

  @Test func `what was captured is ours by the metadata, and the rest somebody else took`() throws {
    let object = Self.intent([
      "status": "succeeded", "amount_capturable": 0, "amount_received": 1250,
      "metadata": ["tender_reference": "R1", "capture_C1": "500", "capture_C2": "250", "shop": "7"],
    ])
    let events = try Self.read(Self.event("payment_intent.succeeded", object))
    #expect(events.map(\.id) == ["authorized:pi_1", "captured:C1", "captured:C2", "capture:pi_1:1250"])
    #expect(events.map(\.amount) == [.eur(1250), .eur(500), .eur(250), .eur(500)])
    #expect(events.last?.content == .movement(.capture) && events.last?.subject == .authorization("pi_1"))
  }

  @Test(arguments: ["amount", "amount_capturable", "amount_received"])
  func `an event with an amount of more than twelve digits is not read`(_ member: String) {
    for units in [Int64.max, .min, 1_000_000_000_000] {
      let object = Self.intent(["status": "succeeded", member: .integer(units)])
      #expect(throws: EventRefusal.self) { try Self.read(Self.event("payment_intent.succeeded", object)) }
    }
  }

  @Test func `numbers that somebody wrote into the metadata or the times stop nothing`() throws {
    let object = Self.intent([
      "status": "succeeded", "amount_capturable": 0, "amount_received": 1250, "created": .integer(.max),
      "canceled_at": .integer(.min),
      "metadata": [
        "tender_reference": "R1", "capture_C1": "9223372036854775807", "capture_C2": "9223372036854775807",
        "capture_C3": "-9223372036854775808", "capture_C4": "250",
      ],
    ])
    let events = try Self.read(Self.event("payment_intent.succeeded", object))
    #expect(events.map(\.amount) == [.eur(1250), .eur(250), .eur(1000)])
  }

  @Test func `a cancel is our void by its key, a person's, or the time's`() throws {
    func events(_ changes: [String: JSONValue], key: String?) throws -> [AcquirerEvent] {
      let object = Self.intent(["status": "canceled", "amount_capturable": 0].merging(changes) { $1 })
      return try Self.read(Self.event("payment_intent.canceled", object, key: key))
    }
    let ours = try events([:], key: "V1.void")
    #expect(ours.map(\.subject) == [.operation(AttemptReference("V1"))] && ours[0].amount == .eur(1250))
    let persons = try events([:], key: "8d1c5a3e-dashboard")
    #expect(persons.map(\.content) == [.movement(.void)] && persons[0].subject == .authorization("pi_1"))
    #expect(try events(["cancellation_reason": "automatic"], key: nil).map(\.content) == [.movement(.holdExpired)])
    #expect(try events([:], key: "R1.abandon").map(\.subject) == [.operation(AttemptReference("R1"))])
    // It was declined before and held nothing.
    let error: JSONValue = ["code": "card_declined", "decline_code": "lost_card"]
    #expect(try events(["last_payment_error": error], key: nil).isEmpty)
  }

  @Test func `a refund is ours by the metadata, a person's, or no refund at all`() throws {
    func events(_ changes: [String: JSONValue], _ type: String = "refund.updated") throws -> [AcquirerEvent] {
      var refund: JSONObject = [
        "id": "re_1", "object": "refund", "amount": 300, "balance_transaction": "txn_1", "created": 1_799_999_990,
        "currency": "eur", "metadata": [:], "payment_intent": "pi_1", "status": "succeeded",
      ]
      for (name, value) in changes { refund[name] = value }
      return try Self.read(Self.event(type, .object(refund)))
    }
    let ours: JSONValue = ["tender_reference": "F1"]
    #expect(try events(["metadata": ours]).map(\.subject) == [.operation(AttemptReference("F1"))])
    #expect(try events(["metadata": ours, "status": "pending"]).isEmpty)
    let failed = try events(["metadata": ours, "status": "failed", "failure_reason": "lost_or_stolen_card"])
    #expect(
      failed.map(\.content) == [.returned(Decline(reason: .other, code: "lost_or_stolen_card"))])
    let persons = try events([:], "refund.created")
    #expect(persons.map(\.content) == [.movement(.refund)] && persons[0].name == "re_1")
    #expect(try events(["status": "failed"]).map(\.content) == [.movement(.refundReturned)])
    // What is released of a hold is a refund too, which no balance has felt.
    #expect(try events(["balance_transaction": .null], "refund.created").isEmpty)
    #expect(try events(["payment_intent": .null]).isEmpty)
  }

  @Test func `a dispute moves money when it is withdrawn and when it comes back`() throws {
    let dispute: JSONValue = [
      "id": "dp_1", "object": "dispute", "amount": 1250, "currency": "eur", "payment_intent": "pi_1",
    ]
    let kinds = [
      ("charge.dispute.funds_withdrawn", MoneyMovement.chargeback),
      ("charge.dispute.funds_reinstated", .chargebackReversed),
    ]
    for (type, kind) in kinds {
      let events = try Self.read(Self.event(type, dispute))
      #expect(events.map(\.content) == [.movement(kind)] && events[0].name == "dp_1")
      #expect(events[0].id == "\(kind.rawValue):dp_1" && events[0].subject == .authorization("pi_1"))
    }
    for type in ["charge.dispute.created", "charge.dispute.closed", "customer.created"] {
      #expect(try Self.read(Self.event(type, dispute)).isEmpty)
    }
  }

  @Test func `an intent of another program on the same account says nothing`() throws {
    let foreign = Self.intent(["metadata": ["order_id": "7"], "currency": "usdc"])
    for type in ["payment_intent.succeeded", "payment_intent.canceled", "payment_intent.payment_failed"] {
      #expect(try Self.read(Self.event(type, foreign)).isEmpty)
    }
  }

  @Test(arguments: [
    nil, "", "t=1800000000", "v1=00", "t=1800000000,v0={}", "t=1800000000,v1=00", "t=x,v1={}",
    "t=1800000000,t=1800000000,v1={}", "t=1799999699,v1={old}", "t=1800000301,v1={new}", "t=1800000000,v1={other}",
  ])
  func `a call that is unsigned, signed by another or stale is not authentic`(header: String?) throws {
    let body = Self.event("payment_intent.succeeded", .object(Self.intent)).serialized()
    let text = header?.replacing("{}", with: Self.code(body, "whsec_one"))
      .replacing("{old}", with: Self.code(body, "whsec_one", at: Self.now - 301))
      .replacing("{new}", with: Self.code(body, "whsec_one", at: Self.now + 301))
      .replacing("{other}", with: Self.code(body, "whsec_two"))
    #expect(throws: EventRefusal.notAuthentic) { _ = try Self.read(body, text) }
  }

  @Test func `one signature of several is enough while the secret is rolled, on either side`() throws {
    let body = Self.event("payment_intent.succeeded", .object(Self.intent)).serialized()
    let both = "t=\(Self.now),v1=\(Self.code(body, "whsec_new")),v1=\(Self.code(body, "whsec_old")),v0=aa"
    for secrets in [["whsec_old"], ["whsec_new"], ["whsec_new", "whsec_old"]] {
      #expect(try Self.read(body, both, secrets: secrets).events.isEmpty == false)
    }
    #expect(throws: EventRefusal.notAuthentic) { _ = try Self.read(body + [0x20], both, secrets: ["whsec_old"]) }
  }

  @Test func `an event of live mode or of another account is not the route's`() throws {
    let object = JSONValue.object(Self.intent)
    func batch(_ more: [String: JSONValue], connected: [String] = []) throws -> EventBatch {
      try Self.batch(Self.event("payment_intent.succeeded", object, more: more), connected: connected)
    }
    #expect(try batch(["livemode": true]) == .nothing)
    #expect(try batch(["account": "acct_foreign"]) == .of("acct_foreign"))
    #expect(try batch(["account": "acct_one"], connected: ["acct_one"]).events.count == 1)
    #expect(try batch([:], connected: ["acct_one"]) == .of(""))
  }

  @Test(arguments: ["v2.core.event_destination.ping", "v1.billing.meter.no_meter_found"])
  func `a ping and a thin event about no money are acknowledged`(type: String) throws {
    let event: JSONValue = [
      "id": "evt_test_1", "object": "v2.core.event", "type": .string(type), "created": "2026-11-23T08:00:00.000Z",
      "livemode": false, "related_object": .null, "reason": .null, "context": .null,
    ]
    #expect(try Self.batch(event) == .nothing)
  }

  /// The destination sends snapshots of other kinds: Tender does not ask for what a thin event names.
  @Test func `a thin event about a payment's money is refused`() throws {
    let event: JSONValue = [
      "id": "evt_test_1", "object": "v2.core.event", "type": "v1.payment_intent.succeeded", "livemode": false,
      "related_object": ["id": "pi_1", "type": "payment_intent", "url": "/v1/payment_intents/pi_1"],
    ]
    #expect(throws: EventRefusal.unintelligible) { try Self.batch(event) }
  }

  /// As in versions of the API before 2017-05-25. Whether a cancel is ours it does not say.
  @Test func `an event whose request is a text is read, where the request does not matter`() throws {
    let held = Self.event(
      "payment_intent.amount_capturable_updated", .object(Self.intent), more: ["request": "req_1"])
    #expect(try Self.read(held).map(\.id) == ["authorized:pi_1"])
    #expect(try Self.batch(Self.event("customer.created", [:], more: ["request": "req_1"])) == .nothing)
    let canceled = Self.event(
      "payment_intent.canceled", Self.intent(["status": "canceled"]), more: ["request": "req_1"])
    #expect(throws: EventRefusal.unintelligible) { try Self.batch(canceled) }
  }

  @Test func `a refund of ours in no currency is refused, another program's says nothing`() throws {
    func refund(_ metadata: JSONValue) -> JSONValue {
      Self.event(
        "refund.updated",
        [
          "id": "re_1", "object": "refund", "amount": 300, "created": 1_799_999_990, "currency": "usdc",
          "metadata": metadata, "payment_intent": "pi_1", "status": "succeeded",
        ])
    }
    #expect(throws: EventRefusal.unintelligible) { try Self.batch(refund(["tender_reference": "F1"])) }
    #expect(try Self.batch(refund([:])) == .nothing)
  }

  @Test(arguments: [
    "[]", "ping", #"{"livemode":false}"#, #"{"object":"event","livemode":false,"type":"payment_intent.succeeded"}"#,
    #"{"object":"event","type":"payment_intent.succeeded","data":{"object":{}}}"#,
  ])
  func `an authentic call that is no event is not understood`(text: String) throws {
    let body = Array(text.utf8)
    #expect(throws: EventRefusal.unintelligible) {
      _ = try Self.read(body, "t=\(Self.now),v1=\(Self.code(body, "whsec_one"))")
    }
  }
}

/// The events that the emulated Stripe sends, read by the connector.
@Suite struct `Events of a payment at Stripe` {
  @Test func `of a whole payment every result comes by event too, under one name each`() async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      _ = try await visit.capture("C1", name, 500, isFinal: true)
      _ = try await visit.refund("F1", name, 200)
      let events = try await visit.events()
      #expect(Set(events.compactMap(\.outcome?.0)) == ["R1", "C1", "F1"])
      #expect(!events.contains { if case .movement = $0.content { true } else { false } })
      for id in Set(events.map(\.id)) {
        #expect(Set(events.filter { $0.id == id }.map(\.amount)).count == 1)
      }
    }
  }

  @Test func `what a person or a cardholder does is a movement of the payment`() async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      _ = try await visit.events()
      try await visit.dashboard("captures", name, 700)
      #expect(try await visit.movements() == ["capture 700"])
      try await visit.dashboard("refunds", name, 300)
      #expect(try await visit.movements() == ["refund 300"])
      try await visit.dashboard("failures", name)
      let returned = try await visit.movements()
      #expect(Set(returned) == ["refund_returned 300"])
      try await visit.dashboard("disputes", name)
      #expect(try await visit.movements() == ["chargeback 700"])
      try await visit.dashboard("dispute-reversals", name)
      #expect(try await visit.movements() == ["chargeback_reversed 700"])
    }
  }

  @Test(arguments: ["700", "-300", "0"])
  func `a listing with captures that cannot be says none of them`(_ value: String) async throws {
    try await StripeVisit.run { visit async throws in
      let name = try await visit.held("R1")
      _ = try await visit.capture("C1", name, 300)
      let source = try #require(try visit.acquirer().report)
      let now = WallClock.system.now()
      let period = now.adding(.seconds(-3_600))..<now.adding(.seconds(3_600))
      func captures() async throws -> [String] {
        try await source(period, { _, _ in nil }, .after(TestRun.whole)).lines.filter { $0.operation == .capture }
          .map { "\($0.reference) \($0.amount.minorUnits)" }
      }
      #expect(try await captures() == ["C1 300"])
      let form = "amount_to_capture=100&final_capture=false&metadata[capture_C2]=\(value)"
      try await visit.form("/v1/payment_intents/\(name)/capture", form)
      #expect(try await captures() == ["\(name) 0"])
    }
  }

  @Test func `a hold that a person cancels or that expires is released, once`() async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.subscribe()
      let (first, second) = (try await visit.held("R1"), try await visit.held("R2"))
      _ = try await visit.events()
      try await visit.dashboard("cancels", first)
      #expect(try await visit.movements() == ["void 1250"])
      try await visit.dashboard("expiries", second)
      #expect(try await visit.movements() == ["hold_expired 1250"])
    }
  }

  @Test func `events that come twice, in the wrong order or under two secrets have the same names`() async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.subscribe(rolling: true)
      let name = try await visit.held("R1")
      try await visit.fault("event_twice")
      try await visit.fault("events_reversed")
      _ = try await visit.capture("C1", name, 1250, isWhole: true)
      let ids = try await visit.events().map(\.id)
      #expect(Set(ids) == ["authorized:\(name)", "captured:C1"] && ids.count > 3)
    }
  }

  @Test func `an event that is lost is missing, and the next one still comes`() async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.subscribe()
      _ = try await visit.held("R1")
      try await visit.fault("event_lost")
      #expect(try await visit.events().isEmpty)
      _ = try await visit.held("R2")
      #expect(try await visit.events().compactMap(\.outcome?.0) == ["R2"])
    }
  }
}

extension StripeVisit {
  /// The movements that the events which are due report.
  fileprivate func movements() async throws -> [String] {
    try await events().compactMap { event in
      guard case .movement(let movement) = event.content else { return nil }
      return "\(movement.rawValue) \(event.amount.minorUnits)"
    }
  }
}
