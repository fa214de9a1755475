import Acquiring
import Connectors
import Crypto
import HTTPTransport
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Braintree's webhooks` {
  private let acquirer = Acquirer.braintree(Self.settings, http: .unreachable)

  private static let settings: BraintreeSettings = {
    var settings = BraintreeSettings.visit("http://localhost")
    (settings.merchantID, settings.publicKey, settings.privateKey) = ("m1", "pub", BraintreePrivateKey("priv"))
    return settings
  }()

  private func batch(_ body: String) throws(EventRefusal) -> EventBatch {
    try acquirer.readEvents(InboundEvent(headers: [], body: Array(body.utf8), arrivedAt: Timestamp(seconds: 0)))
  }

  private func read(_ body: String) throws(EventRefusal) -> [AcquirerEvent] { try batch(body).events }

  private func read(_ signature: String, _ payload: String) throws(EventRefusal) -> [AcquirerEvent] {
    try read(Self.form(signature, payload))
  }

  private static func form(_ signature: String, _ payload: String) -> String {
    "bt_signature=\(escaped(signature))&bt_payload=\(escaped(payload))"
  }

  /// Signs as Braintree does.
  private func receive(_ notification: String, key: String = "priv") throws(EventRefusal) -> [AcquirerEvent] {
    try batch(of: notification, key: key).events
  }

  private func batch(of notification: String, key: String = "priv") throws(EventRefusal) -> EventBatch {
    let payload = Base64.encode(Array(notification.utf8)) + "\n"
    return try batch(Self.form("pub|" + Self.signature(payload, key), payload))
  }

  private static func signature(_ text: String, _ key: String) -> String {
    let key = SymmetricKey(data: Array(Insecure.SHA1.hash(data: Array(key.utf8))))
    return Hex.encode(Array(HMAC<Insecure.SHA1>.authenticationCode(for: Array(text.utf8), using: key)))
  }

  private static func escaped(_ text: String) -> String { text.utf8.map { "%" + Hex.encode([$0]) }.joined() }

  private func notification(_ kind: String, _ subject: String, merchant: String = "m1") -> String {
    """
    <notification><timestamp type="datetime">2026-11-23T08:00:00Z</timestamp><kind>\(kind)</kind>\
    <source-merchant-id>\(merchant)</source-merchant-id><subject>\(subject)</subject></notification>
    """
  }

  @Test func `a sample that Braintree's own library signed is read`() throws {
    let events = try read(recordedSignature, recordedPayload + "\n")
    let amount = Amount(minorUnits: 10_000, currency: try #require(Currency(code: "USD")))
    #expect(
      events == [
        AcquirerEvent(
          id: "transaction_settled:my_id", subject: .acquirerOperation("my_id"), amount: amount,
          content: .answer(.approved(Approval(acquirerReference: "my_id"))), name: "my_id")
      ])
    // The line break at the end may be missing, and the signature may stand among others.
    #expect(try read(recordedSignature, recordedPayload) == events)
    #expect(try read("other|00&" + recordedSignature, recordedPayload) == events)
  }

  @Test(arguments: ["", "pub", "pub|", "pub|59f2", "other|SIGNATURE", "pub|CHANGED", "pub|SIGNATURE|x"])
  func `a signature that is not ours is not believed`(text: String) throws {
    let right = recordedSignature.dropFirst(4)
    let signature = text.replacing("SIGNATURE", with: right).replacing("CHANGED", with: "00" + right.dropFirst(2))
    #expect(throws: EventRefusal.notAuthentic) { try read(signature, recordedPayload) }
  }

  @Test func `a payload that somebody changed is not believed`() throws {
    let changed = recordedPayload.replacing("CiAg", with: "CiAh", maxReplacements: 1)
    #expect(throws: EventRefusal.notAuthentic) { try read(recordedSignature, changed) }
    #expect(throws: EventRefusal.notAuthentic) { try read(recordedSignature, recordedPayload + " ") }
    #expect(throws: EventRefusal.notAuthentic) { try receive(notification("check", ""), key: "another key") }
  }

  @Test func `a form without its fields, or with one of them twice, is not believed`() throws {
    let (signature, payload) = (Self.escaped(recordedSignature), Self.escaped(recordedPayload))
    for body in [
      "", "bt_payload=a", "bt_signature=a", "bt_signature=a&bt_payload=%zz", "{}",
      "bt_signature=\(signature)&bt_payload=\(payload)&bt_payload=\(payload)",
    ] {
      #expect(throws: EventRefusal.notAuthentic) { try read(body) }
    }
  }

  @Test(arguments: ["check", "disbursement", "transaction_disbursed", "dispute_disputed", "something_new"])
  func `a kind that says nothing of a payment's money is acknowledged`(kind: String) throws {
    #expect(try batch(of: notification(kind, "<x/>")) == .nothing)
  }

  @Test func `a notification of another merchant is not the route's`() throws {
    let settled = notification("transaction_settled", transaction(), merchant: "m2")
    #expect(try batch(of: settled) == .of("m2"))
  }

  @Test func `what is authentic and not of Braintree's form is not understood`() throws {
    for text in [
      notification("transaction_settled", ""), notification("transaction_settled", "<transaction/>"),
      "<notification/>", "not XML",
      notification("transaction_settled", transaction().replacing("30.00", with: "-30.00")),
      notification("transaction_settled", transaction().replacing("EUR", with: "XXX")),
      notification("transaction_settled", transaction(status: "authorized")),
    ] {
      #expect(throws: EventRefusal.unintelligible, "\(text)") { try receive(text) }
    }
  }

  private func transaction(_ more: String = "", type: String = "sale", status: String = "settled") -> String {
    """
    <transaction><id>abc</id><type>\(type)</type><status>\(status)</status><amount>30.00</amount>\
    <currency-iso-code>EUR</currency-iso-code><order-id>C1</order-id>\(more)</transaction>
    """
  }

  private func event(_ text: String) throws -> AcquirerEvent {
    let events = try receive(text)
    try #require(events.count == 1)
    return events[0]
  }

  @Test func `a part is ours by its order id, a whole capture by its transaction`() throws {
    let part = try event(
      notification(
        "transaction_settled", transaction("<authorized-transaction-id>sale1</authorized-transaction-id>")))
    #expect(part.subject == .operation(AttemptReference("C1")))
    #expect(part.amount == .eur(3000))
    let whole = try event(notification("transaction_settled", transaction()))
    #expect(whole.subject == .acquirerOperation("abc"))
  }

  @Test func `money whose settlement is declined comes back`() throws {
    let event = try event(
      notification(
        "transaction_settlement_declined",
        transaction("<processor-response-code>4001</processor-response-code>", status: "settlement_declined")))
    #expect(event.content == .returned(Decline(reason: .other, code: "4001")))
  }

  @Test func `what a person did in the control panel is money that no operation asked for`() throws {
    let history = """
      <status-history type="array"><status-event><status>submitted_for_settlement</status><amount>30.00</amount>\
      <transaction-source>control_panel</transaction-source></status-event></status-history>
      """
    let refunded = "<refunded-transaction-id>sale1</refunded-transaction-id>"
    let refund = try event(notification("transaction_settled", transaction(refunded + history, type: "credit")))
    #expect(refund.subject == .authorization("sale1") && refund.content == .movement(.refund))
    let capture = try event(notification("transaction_settled", transaction(history)))
    #expect(capture.subject == .authorization("abc") && capture.content == .movement(.capture))
    let failed = try event(
      notification("refund_failed", transaction(refunded, type: "credit", status: "processor_declined")))
    #expect(failed.subject == .authorization("sale1") && failed.content == .movement(.refundReturned))
  }

  private func dispute(kind: String = "chargeback") -> String {
    """
    <dispute><id>d1</id><amount>30.00</amount><amount-disputed>20.00</amount-disputed><amount-won>15.00</amount-won>\
    <currency-iso-code>EUR</currency-iso-code><kind>\(kind)</kind><transaction><id>abc</id></transaction></dispute>
    """
  }

  @Test(arguments: [
    "dispute_opened", "dispute_lost", "dispute_accepted", "dispute_auto_accepted", "dispute_expired",
  ])
  func `the money of a dispute is gone once, whichever kind says so first`(kind: String) throws {
    let event = try event(notification(kind, dispute()))
    #expect(event.id == "chargeback:d1" && event.subject == .authorization("abc"))
    #expect(event.amount == .eur(2000) && event.content == .movement(.chargeback))
  }

  @Test func `a dispute that is won returns what was won, and a retrieval moves nothing`() throws {
    let event = try event(notification("dispute_won", dispute()))
    #expect(event.amount == .eur(1500) && event.content == .movement(.chargebackReversed))
    #expect(try receive(notification("dispute_opened", dispute(kind: "retrieval"))) == [])
  }

  /// The answer is the one of Braintree's own library.
  @Test func `the challenge of the inbox's address is answered, and nothing else is`() {
    let answer = acquirer.answerChallenge("bt_challenge=20f9f8ed05f77439fe955c977e4c8a53")
    #expect(answer?.body == "pub|5d50acea216b983cf6c6d424dbaa95d601aed729")
    #expect(answer?.contentType == "text/plain")
    for query in [
      "", "bt_challenge=", "bt_challenge=20f9", "bt_challenge=20f9f8ed05f77439fe955c977e4c8a5g",
      "bt_challenge=20F9F8ED05F77439FE955C977E4C8A53", "challenge=20f9f8ed05f77439fe955c977e4c8a53",
      "bt_challenge=20f9f8ed05f77439fe955c977e4c8a53aa",
    ] {
      #expect(acquirer.answerChallenge(query) == nil, "\(query)")
    }
  }

  @Test func `the emulator's webhooks say what happened, and come until they are acknowledged`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let sale = try await visit.held("R1", 1000)
      let part = try #require(await visit.capture("C1", sale, 600).name)
      try await visit.settle(part)
      let settled = try await visit.events()
      #expect(settled.map(\.id) == ["transaction_settled:\(part)"])
      #expect(settled.map(\.subject) == [.operation(AttemptReference("C1"))])
      for status in ["opened", "won"] {
        let body = #"{"transaction":"\#(part)","status":"\#(status)"}"#
        #expect(try await visit.call("POST", "/braintree/disputes", body).status == 200)
      }
      #expect(try await visit.events().map(\.content) == [.movement(.chargeback), .movement(.chargebackReversed)])
      #expect(try await visit.events().isEmpty)
    }
  }
}

extension HTTPSender {
  fileprivate static let unreachable = HTTPSender { _, _ throws(TransportError) in throw .notSent("no network") }
}

private let recordedSignature = "pub|59f2bf2a6606a500d1fb3cb497882a89c0d8bb7f"

private let recordedPayload = """
  CiAgICAgICAgICAgIDxub3RpZmljYXRpb24+CiAgICAgICAgICAgICAgICA8dGltZXN0YW1wIHR5
  cGU9ImRhdGV0aW1lIj4yMDI2LTExLTIzVDA4OjEwOjM1WjwvdGltZXN0YW1wPgogICAgICAgICAg
  ICAgICAgPGtpbmQ+dHJhbnNhY3Rpb25fc2V0dGxlZDwva2luZD4KICAgICAgICAgICAgICAgIAog
  ICAgICAgICAgICAgICAgPHN1YmplY3Q+CiAgICAgICAgICAgIDx0cmFuc2FjdGlvbj4KICAgICAg
  ICAgICAgICA8aWQ+bXlfaWQ8L2lkPgogICAgICAgICAgICAgIDxzdGF0dXM+c2V0dGxlZDwvc3Rh
  dHVzPgogICAgICAgICAgICAgIDx0eXBlPnNhbGU8L3R5cGU+CiAgICAgICAgICAgICAgPGN1cnJl
  bmN5LWlzby1jb2RlPlVTRDwvY3VycmVuY3ktaXNvLWNvZGU+CiAgICAgICAgICAgICAgPGFtb3Vu
  dD4xMDAuMDA8L2Ftb3VudD4KICAgICAgICAgICAgICA8bWVyY2hhbnQtYWNjb3VudC1pZD5vZ2Fv
  dGtpdmVqcGZheXFmZWFpbXVrdHR5PC9tZXJjaGFudC1hY2NvdW50LWlkPgogICAgICAgICAgICAg
  IDxwYXltZW50LWluc3RydW1lbnQtdHlwZT51c19iYW5rX2FjY291bnQ8L3BheW1lbnQtaW5zdHJ1
  bWVudC10eXBlPgogICAgICAgICAgICAgIDx1cy1iYW5rLWFjY291bnQ+CiAgICAgICAgICAgICAg
  ICA8cm91dGluZy1udW1iZXI+MTIzNDU2Nzg5PC9yb3V0aW5nLW51bWJlcj4KICAgICAgICAgICAg
  ICAgIDxsYXN0LTQ+MTIzNDwvbGFzdC00PgogICAgICAgICAgICAgICAgPGFjY291bnQtdHlwZT5j
  aGVja2luZzwvYWNjb3VudC10eXBlPgogICAgICAgICAgICAgICAgPGFjY291bnQtaG9sZGVyLW5h
  bWU+RGFuIFNjaHVsbWFuPC9hY2NvdW50LWhvbGRlci1uYW1lPgogICAgICAgICAgICAgIDwvdXMt
  YmFuay1hY2NvdW50PgogICAgICAgICAgICAgIDx0YXgtYW1vdW50PjA8L3RheC1hbW91bnQ+CiAg
  ICAgICAgICAgIDwvdHJhbnNhY3Rpb24+CiAgICAgICAgPC9zdWJqZWN0PgogICAgICAgICAgICA8
  L25vdGlmaWNhdGlvbj4KICAgICAgICA=
  """
