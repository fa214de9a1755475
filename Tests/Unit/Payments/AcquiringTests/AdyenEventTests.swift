import Acquiring
import Connectors
import Crypto
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// Calls of Adyen's webhook, as the connector reads them.
@Suite struct `Adyen's events` {
  private static let item: JSONObject = [
    "additionalData": ["authCode": "B2C3D4"], "amount": ["currency": "EUR", "value": 1250],
    "eventCode": "AUTHORISATION", "eventDate": "2026-11-23T08:00:00+01:00", "merchantAccountCode": "Shop",
    "merchantReference": "R1", "pspReference": "NC6HT9CRT65ZGN82", "reason": "B2C3D4:0012:12/2031", "success": "true",
  ]

  private static func read(
    _ items: [JSONObject], live: JSONValue = "false", key: String = AdyenVisit.hmacKey,
    keys: [String] = [AdyenVisit.hmacKey]
  ) throws -> EventBatch {
    let wrapped = try items.map { ["NotificationRequestItem": .object(try signed($0, key))] as JSONValue }
    return try read(["live": live, "notificationItems": .array(wrapped)], keys: keys)
  }

  private static func read(_ body: JSONValue, keys: [String] = [AdyenVisit.hmacKey]) throws -> EventBatch {
    let settings = try AdyenSettings(
      host: .test, apiKey: try #require(AdyenAPIKey("secret-key")),
      hmacKeys: try keys.map { try #require(AdyenHMACKey(hex: $0)) }, merchantAccounts: ["Shop"],
      returnURL: "https://shop.example/")
    let sender = HTTPSender { _, _ throws(TransportError) in throw .timedOut }
    return try Acquirer.adyen(settings, http: sender).readEvents(
      InboundEvent(headers: [], body: body.serialized(), arrivedAt: Timestamp(seconds: 1_800_000_000)))
  }

  /// Adyen's algorithm, written again.
  private static func signed(_ item: JSONObject, _ key: String) throws -> JSONObject {
    func text(_ value: JSONValue?) -> String {
      switch value {
      case .string(let text): text
      case .integer(let number): "\(number)"
      default: ""
      }
    }
    let parts = ["pspReference", "originalReference", "merchantAccountCode", "merchantReference"].map { text(item[$0]) }
    let amount = [text(item["amount"]?["value"]), text(item["amount"]?["currency"])]
    let signedText = (parts + amount + [text(item["eventCode"]), text(item["success"])]).joined(separator: ":")
    let code = HMAC<SHA256>.authenticationCode(
      for: Array(signedText.utf8), using: SymmetricKey(data: try #require(Hex.decode(key))))
    var (signed, data) = (item, JSONObject())
    if case .object(let known) = item["additionalData"] { data = known }
    data["hmacSignature"] = .string(Base64.encode(Array(code)))
    signed["additionalData"] = .object(data)
    return signed
  }

  private static func item(_ changes: [String: JSONValue?]) -> JSONObject {
    var item = item
    for (name, value) in changes { item[name] = value }
    return item
  }

  @Test func `an authorization's event is its answer, by our reference`() throws {
    let event = try #require(try Self.read([Self.item]).events.first)
    #expect(event.id == "AUTHORISATION:NC6HT9CRT65ZGN82:true" && event.amount == .eur(1250))
    #expect(event.subject == .operation(AttemptReference("R1")))
    let approval = Approval(acquirerReference: "NC6HT9CRT65ZGN82", authorizationCode: "B2C3D4")
    #expect(event.content == .answer(.approved(approval)))
  }

  @Test(arguments: [("Expired Card", DeclineReason.expiredCard), ("FRAUD", .suspectedFraud), ("something", .other)])
  func `a refusal's event names the reason in words`(words: String, reason: DeclineReason) throws {
    let events = try Self.read([Self.item(["success": "false", "reason": .string(words)])]).events
    guard case .answer(.declined(let decline)) = events.first?.content else {
      Issue.record("\(events)")
      return
    }
    #expect(decline.reason == reason)
  }

  @Test(
    arguments: [
      ("pspReference", "NC6HT9CRT65ZGN83"), ("merchantReference", "R2"), ("eventCode", "CAPTURE"), ("success", "false"),
      ("originalReference", "NC6HT9CRT65ZGN82"), ("amount", ["currency": "EUR", "value": 1251]),
      ("amount", ["currency": "USD", "value": 1250]),
    ] as [(String, JSONValue)])
  func `an item that was changed after it was signed is not authentic`(name: String, value: JSONValue) throws {
    var item = try Self.signed(Self.item, AdyenVisit.hmacKey)
    item[name] = value
    let body: JSONValue = ["live": "false", "notificationItems": [["NotificationRequestItem": .object(item)]]]
    #expect(throws: EventRefusal.notAuthentic) { try Self.read(body) }
  }

  @Test func `an item that is unsigned, signed by a stranger, or no item is not authentic`() throws {
    let other = String(repeating: "0C", count: 32)
    #expect(throws: EventRefusal.notAuthentic) { try Self.read([Self.item], key: other) }
    #expect(try Self.read([Self.item], key: other, keys: [AdyenVisit.hmacKey, other]).events.count == 1)
    let unsigned: JSONValue = ["NotificationRequestItem": .object(Self.item)]
    for items in [[unsigned], [], [["NotificationRequestItem": []]], [["Item": .object(Self.item)]]] as [JSONValue] {
      #expect(throws: EventRefusal.notAuthentic) { try Self.read(["live": "false", "notificationItems": items]) }
    }
    #expect(throws: EventRefusal.notAuthentic) { try Self.read("[accepted]") }
  }

  @Test func `an event of the live platform or of another merchant account is not the route's`() throws {
    for live in ["", true] as [JSONValue] {
      #expect(throws: EventRefusal.notAuthentic) { try Self.read([Self.item], live: live) }
    }
    let live = try Self.read([Self.item, Self.item], live: "true")
    #expect(live.events.isEmpty && live.passedOver == 2)
    let batch = try Self.read([Self.item(["merchantAccountCode": "AnotherShop"]), Self.item])
    #expect(batch.events.count == 1 && batch.otherAccounts == ["AnotherShop"] && batch.passedOver == 0)
    let other = String(repeating: "0C", count: 32)
    #expect(throws: EventRefusal.notAuthentic) {
      try Self.read([Self.item(["merchantAccountCode": "AnotherShop"])], key: other)
    }
  }

  /// As the webhook's page sends it.
  @Test(arguments: ["test_AUTHORISATION_1", "test_CAPTURE_1", "test_REFUND_1"])
  func `a test of the webhook is acknowledged and says nothing`(name: String) throws {
    let test = Self.item(["pspReference": .string(name), "originalReference": "test_AUTHORISATION_1"])
    let batch = try Self.read([test])
    #expect(batch.events.isEmpty && batch.passedOver == 1 && batch.acknowledgement.body == "[accepted]")
    #expect(throws: EventRefusal.notAuthentic) { try Self.read([test], key: String(repeating: "0C", count: 32)) }
  }

  @Test func `an item that cannot be read keeps none of the others back, and the call is refused`() throws {
    let unread = Self.item(["merchantReference": "", "pspReference": "QFQTPCQ8HXSKGK82"])
    let report = Self.item(["eventCode": "REPORT_AVAILABLE"])
    for items in [[unread, Self.item, report], [Self.item, report, unread]] {
      let batch = try Self.read(items)
      #expect(batch.events.map(\.id) == ["AUTHORISATION:NC6HT9CRT65ZGN82:true"])
      #expect(batch.passedOver == 1 && batch.refusal == .unintelligible)
    }
  }

  @Test func `an item without an amount says nothing of money, or is refused`() throws {
    #expect(try Self.read([Self.item(["amount": nil, "eventCode": "REPORT_AVAILABLE"])]).passedOver == 1)
    #expect(throws: EventRefusal.unintelligible) { try Self.read([Self.item(["amount": nil])]) }
  }

  @Test func `one item that is not authentic spoils the batch`() throws {
    let good: JSONValue = ["NotificationRequestItem": .object(try Self.signed(Self.item, AdyenVisit.hmacKey))]
    let bad: JSONValue = ["NotificationRequestItem": .object(Self.item)]
    let body: JSONValue = ["live": "false", "notificationItems": [good, bad]]
    #expect(throws: EventRefusal.notAuthentic) { try Self.read(body) }
    let twice: JSONValue = ["live": "false", "notificationItems": [good, good]]
    #expect(try Set(Self.read(twice).events).count == 1)
  }

  @Test(arguments: [
    ("CAPTURE", ".capture", "true", true), ("CANCELLATION", ".void", "true", true),
    ("REFUND", ".refund", "false", false),
  ])
  func `an event about an operation of ours is its answer`(
    code: String, suffix: String, success: String, isDone: Bool
  ) throws {
    let item = Self.item([
      "eventCode": .string(code), "merchantReference": .string("R2\(suffix)"), "success": .string(success),
      "originalReference": "PPPPPPPPPPPPPPPP",
    ])
    let event = try #require(try Self.read([item]).events.first)
    #expect(event.outcome.map { $0 == ("R2", isDone) } == true)
    #expect(event.id == "\(code):NC6HT9CRT65ZGN82:\(success)")
  }

  @Test(arguments: [("CAPTURE_FAILED", ".capture"), ("REFUND_FAILED", ".refund"), ("REFUNDED_REVERSED", ".refund")])
  func `an event that an operation of ours failed afterwards says that it came back`(
    code: String, suffix: String
  ) throws {
    let item = Self.item([
      "eventCode": .string(code), "merchantReference": .string("R2\(suffix)"), "success": "true",
      "originalReference": "PPPPPPPPPPPPPPPP",
    ])
    let event = try #require(try Self.read([item]).events.first)
    #expect(event.subject == .operation(AttemptReference("R2")))
    guard case .returned = event.content else { throw Unreturned() }
  }

  private struct Unreturned: Error {}

  @Test(arguments: [
    ("CAPTURE", MoneyMovement.capture), ("CANCELLATION", .void), ("REFUND", .refund),
    ("REFUND_FAILED", .refundReturned),
    ("REFUNDED_REVERSED", .refundReturned), ("CHARGEBACK", .chargeback), ("SECOND_CHARGEBACK", .chargeback),
    ("CHARGEBACK_REVERSED", .chargebackReversed), ("EXPIRE", .holdExpired),
  ])
  func `an event about the payment alone is a movement, if money moved`(code: String, movement: MoneyMovement) throws {
    let changes: [String: JSONValue?] = ["eventCode": .string(code), "originalReference": "PPPPPPPPPPPPPPPP"]
    let event = try #require(try Self.read([Self.item(changes)]).events.first)
    #expect(event.content == .movement(movement) && event.subject == .authorization("PPPPPPPPPPPPPPPP"))
    let failed = changes.merging(["success": "false"]) { $1 }
    #expect(try Self.read([Self.item(failed)]).events.isEmpty)
  }

  @Test func `an expiry is named by the payment itself, and a dispute without a payment by our reference`() throws {
    let expiry = try Self.read([Self.item(["eventCode": "EXPIRE"])]).events.first
    #expect(expiry?.subject == .authorization("NC6HT9CRT65ZGN82"))
    let dispute = try Self.read([Self.item(["eventCode": "CHARGEBACK_REVERSED"])]).events.first
    #expect(dispute?.subject == .operation(AttemptReference("R1")))
  }

  @Test func `a reversal in the dashboard is a void or a refund, as Adyen says`() throws {
    func event(_ action: JSONValue?) throws -> AcquirerEvent? {
      var data = JSONObject()
      data["modification.action"] = action
      return try Self.read([
        Self.item([
          "eventCode": "CANCEL_OR_REFUND", "originalReference": "PPPPPPPPPPPPPPPP", "additionalData": .object(data),
        ])
      ]).events.first
    }
    #expect(try event("cancel")?.content == .movement(.void))
    #expect(try event("refund")?.content == .movement(.refund))
    #expect(throws: EventRefusal.unintelligible) { try event(nil) }
  }

  @Test(arguments: ["REPORT_AVAILABLE", "NOTIFICATION_OF_CHARGEBACK", "NOTIFICATION_OF_FRAUD", "TOMORROWS_EVENT"])
  func `an event about no money is acknowledged and says nothing`(code: String) throws {
    let batch = try Self.read([Self.item(["eventCode": .string(code)])])
    #expect(batch.events.isEmpty && batch.passedOver == 1 && batch.acknowledgement.body == "[accepted]")
  }

  @Test(
    arguments: [
      ("merchantReference", ""), ("pspReference", "../x"), ("amount", ["currency": "XXX", "value": 1250]),
      ("amount", ["currency": "EUR", "value": -1]),
    ] as [(String, JSONValue)])
  func `an authentic event that makes no sense is unintelligible`(name: String, value: JSONValue) throws {
    #expect(throws: EventRefusal.unintelligible) { try Self.read([Self.item([name: value])]) }
  }
}
