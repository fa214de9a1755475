import Acquiring
import Connectors
import DirectWire
import HTTPTransport
import TenderPayments
import TenderTesting
import Testing

/// What the connector makes of Worldline Direct's webhooks.
@Suite struct `Worldline Direct's events` {
  private static let time = Timestamp(seconds: 1_700_000_000)

  private func event(
    _ payment: DirectPayment, type: String = "payment.pending_capture", merchant: String = "Shop"
  ) -> DirectEvent {
    var event = DirectEvent(id: "e1", type, of: merchant, at: Self.time)
    event.payment = payment
    return event
  }

  private func payment(
    _ status: DirectStatus, operation: Int = 0, reference: String? = "R1", own: String? = nil, part: Int64 = 500
  ) -> DirectPayment {
    let name = DirectPaymentID(payment: "3254564310", operation: operation)
    let output = DirectPaymentOutput(
      amountOfMoney: .eur(1250), references: DirectReferences(merchantReference: reference))
    let operation = DirectOperation(
      id: name, .eur(part), DirectStatusOutput(status),
      references: own.map { DirectReferences(merchantReference: $0) }, at: Self.time)
    return DirectPayment(
      id: name, statusOutput: DirectStatusOutput(status), paymentOutput: output,
      operationOutput: name.operation == 0 ? nil : operation)
  }

  private func read(
    _ body: [UInt8], keyID: String = "HOOK1", secret: String = "secret-webhook-key", more: [HTTPField] = [],
    settings: WorldlineDirectSettings? = nil
  ) throws -> [AcquirerEvent] {
    try batch(body, keyID: keyID, secret: secret, more: more, settings: settings).events
  }

  private func batch(
    _ body: [UInt8], keyID: String = "HOOK1", secret: String = "secret-webhook-key", more: [HTTPField] = [],
    settings: WorldlineDirectSettings? = nil
  ) throws -> EventBatch {
    let headers = [
      HTTPField("x-gcs-keyid", keyID),
      HTTPField("x-gcs-signature", WebhookSignature(secret: secret).signature(of: body)),
    ]
    let acquirer = Acquirer.worldlineDirect(
      try settings ?? WorldlineDirectVisit.settings(.test),
      http: HTTPSender { _, _ throws(TransportError) in throw .timedOut })
    return try acquirer.readEvents(InboundEvent(headers: headers + more, body: body, arrivedAt: Self.time))
  }

  private func read(_ event: DirectEvent) throws -> [AcquirerEvent] { try read(try DirectJSON.bytes(event)) }

  private let approved = AcquirerEvent.Content.answer(.approved(Approval(acquirerReference: "3254564310_1")))

  @Test func `about the authorization names our reference`() throws {
    let event = try #require(try read(event(payment(.pendingCapture))).first)
    #expect(event.subject == .operation(AttemptReference("R1")) && event.amount == .eur(1250) && event.id == "e1")
    #expect(event.content == .answer(.approved(Approval(acquirerReference: "3254564310_0"))))
  }

  @Test func `about an operation of ours names it by our reference`() throws {
    let event = try #require(
      try read(event(payment(.captured, operation: 1, own: "C1.capture"), type: "payment.captured")).first)
    #expect(event.subject == .operation(AttemptReference("C1")) && event.amount == .eur(500))
    #expect(event.content == approved)
  }

  @Test(arguments: [
    (DirectStatus.captured, MoneyMovement.capture), (.refunded, .refund), (.cancelled, .void),
  ])
  func `about an operation without our reference names it as Worldline does`(
    status: DirectStatus, movement: MoneyMovement
  ) throws {
    for own in [nil, "in the portal"] as [String?] {
      let event = try #require(try read(event(payment(status, operation: 1, own: own))).first)
      #expect(
        event.subject == .operationOfAnyone(called: "3254564310_1", of: "3254564310_0", moving: movement))
      #expect(event.content == approved && event.amount == .eur(500))
    }
    let refused = try #require(try read(event(payment(.captureRefused, operation: 1))).first)
    #expect(refused.subject == .acquirerOperation("3254564310_1"))
  }

  @Test func `about an operation without the operation's amount says nothing: an inquiry tells`() throws {
    var old = payment(.captured, operation: 1, own: "C1.capture")
    old.operationOutput = nil
    #expect(try read(event(old, type: "payment.captured")).isEmpty)
  }

  @Test(arguments: ["payment.refunded", "refund.refunded"])
  func `about a refund has the refund's own amount and reference, whatever its type begins with`(type: String) throws {
    var said = DirectEvent(id: "e1", type, of: "Shop", at: Self.time)
    let output = DirectPaymentOutput(
      amountOfMoney: .eur(300), operationReferences: DirectReferences(merchantReference: "F1.refund"))
    said.refund = DirectRefund(
      id: DirectPaymentID(payment: "3254564310", operation: 2), DirectStatusOutput(.refunded), output)
    let event = try #require(try read(said).first)
    #expect(event.subject == .operation(AttemptReference("F1")) && event.amount == .eur(300))
    said.refund?.status = "REFUND_REQUESTED"
    said.refund?.statusOutput = DirectStatusOutput(.refundRequested)
    #expect(try read(said).isEmpty)
  }

  @Test func `that the payment was cancelled as a whole is a void by somebody else`() throws {
    let event = try #require(try read(event(payment(.cancelled), type: "payment.cancelled")).first)
    #expect(event.subject == .authorization("3254564310_0") && event.content == .movement(.void))
  }

  @Test(arguments: [
    DirectStatus.authorizationWaiting, .authorizationUnknown, .created, .redirected, .cancelWaiting,
  ])
  func `about what still waits says nothing`(status: DirectStatus) throws {
    #expect(try read(event(payment(status))).isEmpty)
    #expect(try read(event(payment(.captureRequested, operation: 1))).isEmpty)
  }

  @Test func `of a kind that is not about money is received and says nothing`() throws {
    #expect(try read(DirectEvent(id: "e1", "payment.test", of: "Shop", at: Self.time)).isEmpty)
    #expect(try read(event(payment(.pendingCapture), type: "paymentlink.paid")).isEmpty)
    #expect(try read(event(payment(.pendingCapture), type: "payout.created")).isEmpty)
  }

  @Test func `is believed under any of our keys, by the key's id, and under no other`() throws {
    let body = try DirectJSON.bytes(event(payment(.pendingCapture)))
    let both = try WorldlineDirectVisit.settings(.test, webhookKeys: [("OLD", "old-secret"), ("NEW", "new-secret")])
    #expect(try read(body, keyID: "OLD", secret: "old-secret", settings: both).count == 1)
    #expect(try read(body, keyID: "NEW", secret: "new-secret", settings: both).count == 1)
    for (id, secret) in [("OLD", "new-secret"), ("OTHER", "old-secret"), ("OLD", ""), ("", "old-secret")] {
      #expect(throws: EventRefusal.notAuthentic) { try read(body, keyID: id, secret: secret, settings: both) }
    }
  }

  @Test func `with a header twice, without one, altered or of another merchant is not authentic`() throws {
    let body = try DirectJSON.bytes(event(payment(.pendingCapture)))
    let signature = WebhookSignature(secret: "secret-webhook-key").signature(of: body)
    for header in [HTTPField("X-GCS-KeyId", "HOOK1"), HTTPField("X-GCS-Signature", signature)] {
      #expect(throws: EventRefusal.notAuthentic) { try read(body, more: [header]) }
    }
    let acquirer = Acquirer.worldlineDirect(
      try WorldlineDirectVisit.settings(.test), http: HTTPSender { _, _ throws(TransportError) in throw .timedOut })
    for headers in [[], [HTTPField("X-GCS-Signature", signature)], [HTTPField("X-GCS-KeyId", "HOOK1")]] {
      #expect(throws: EventRefusal.notAuthentic) {
        try acquirer.readEvents(InboundEvent(headers: headers, body: body, arrivedAt: Self.time))
      }
    }
    let altered = [HTTPField("X-GCS-KeyId", "HOOK1"), HTTPField("X-GCS-Signature", signature)]
    #expect(throws: EventRefusal.notAuthentic) {
      try acquirer.readEvents(InboundEvent(headers: altered, body: body + [0x20], arrivedAt: Self.time))
    }
  }

  @Test func `of another merchant is not the route's`() throws {
    #expect(try batch(DirectJSON.bytes(event(payment(.pendingCapture), merchant: "Other"))) == .of("Other"))
  }

  @Test(arguments: ["payment.test", "payout.created", "token.created", "paymentlink.paid"])
  func `of a kind that is not about money is passed over, whatever its members are`(type: String) throws {
    let text = #"{"apiVersion":"v1","id":"e1","merchantId":"Shop","type":"\#(type)","payment":"none"}"#
    #expect(try batch(Array(text.utf8)) == .nothing)
  }

  @Test(arguments: ["payment.captured", "refund.refund_requested"])
  func `about money without its payment or refund is refused`(type: String) throws {
    #expect(throws: EventRefusal.unintelligible) { try read(DirectEvent(id: "e1", type, of: "Shop", at: Self.time)) }
  }

  @Test func `that is authentic and cannot be read is unintelligible`() throws {
    var other = event(payment(.pendingCapture))
    other.apiVersion = "v2"
    var nameless = payment(.pendingCapture, reference: nil)
    nameless.id = "1_2_3"
    for body in [
      Array("[]".utf8), Array("{}".utf8), try DirectJSON.bytes(other),
      try DirectJSON.bytes(event(payment(.pendingCapture, reference: nil))), try DirectJSON.bytes(event(nameless)),
    ] {
      #expect(throws: EventRefusal.unintelligible) { try read(body) }
    }
  }
}
