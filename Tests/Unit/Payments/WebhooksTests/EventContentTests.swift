import DirectWire
import Ledger
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import Webhooks

/// Types, members and statuses: Worldline Direct, *Webhooks* and *Statuses*, and the models of its SDKs.
@Suite struct `An event` {
  /// A payment of 12.50 EUR, what is done to it, and the bodies of its events.
  private struct Scene {
    let post: Post
    private let attempt: Attempt

    init() async throws {
      post = try await Post(
        orders: OrderReader { _, _, _ in
          NotifiedOrder(DirectReferences(merchantReference: "HK-1", merchantParameters: "p=8"))
        })
      guard
        case .new(let attempt) = try await post.journal.claim(.sample("order-1"), spending: .sample(1), card: .sample)
      else { throw Unexpected() }
      self.attempt = attempt
    }

    func answers(_ answer: AcquirerAnswer) async throws { _ = try await post.journal.record(answer, for: attempt) }

    func isHeld() async throws {
      try await answers(.approved(Approval(acquirerReference: "A", authorizationCode: "A1")))
    }

    func does(_ kind: OperationKind, _ amount: Amount? = nil, _ answer: AcquirerAnswer = approval) async throws {
      let attempt = try await post.journal.reserve(kind, amount, of: attempt.payment)
      _ = try await post.journal.record(answer, for: attempt)
    }

    /// As if the payment had begun it.
    func agreement() async throws -> AgreementID {
      let terms = AgreementTerms(paymentDescription: "Box", managementURL: "https://shop.example/box")
      let new = NewAgreement(
        terms: .automaticReload(
          AutomaticReload(terms: terms, label: "Box", amount: .eur(1_250), threshold: .eur(100))),
        timeZone: "UTC", merchantReference: "R-1")
      return try await post.journal.database.write { [journal = post.journal, attempt] in
        try journal.begin(new, with: attempt, in: $0)
      }
    }

    func end(_ agreement: AgreementID) async throws {
      _ = try await post.journal.database.write { [journal = post.journal] in
        try journal.change(agreement, of: "shop", by: .ended, .merchant, in: $0)
      }
    }

    func last() async throws -> JSONValue {
      try await post.dispatcher.round()
      return try #require(post.server.bodies.last)
    }

    static let approval = AcquirerAnswer.approved(Approval(acquirerReference: "B"))
    static let refusal = AcquirerAnswer.declined(Decline(reason: .doNotHonor, code: "05"))
  }

  /// `type: status code category`, of the member that is named.
  private func words(_ body: JSONValue, _ member: String = "payment") throws -> String {
    #expect(body[member == "payment" ? "refund" : "payment"] == nil, "\(body)")
    let (object, type) = (try #require(body[member]), try #require(body["type"]?.text))
    let output = try #require(object["statusOutput"])
    let (code, category) = (try #require(output["statusCode"]?.whole), try #require(output["statusCategory"]?.text))
    return "\(type): \(object["status"]?.text ?? "") \(code) \(category)"
  }

  @Test func `of an authorization has the payment's state`() async throws {
    let scene = try await Scene()
    #expect(try await words(scene.last()) == "payment.created: CREATED 0 CREATED")
    let pending = "payment.authorization_requested: AUTHORIZATION_REQUESTED"
    try await scene.answers(.pending(Pending(acquirerReference: "A")))
    #expect(try await words(scene.last()) == "\(pending) 51 PENDING_CONNECT_OR_3RD_PARTY")
    try await scene.isHeld()
    #expect(try await words(scene.last()) == "payment.pending_capture: PENDING_CAPTURE 5 PENDING_MERCHANT")
    let other = try await Scene()
    try await other.answers(.unknown(Interruption(.timeout)))
    #expect(try await words(other.last()) == "\(pending) 52 PENDING_CONNECT_OR_3RD_PARTY")
    try await other.answers(Scene.refusal)
    let body = try await other.last()
    #expect(try words(body) == "payment.rejected: REJECTED 2 UNSUCCESSFUL")
    #expect(body["payment"]?["statusOutput"]?["errors"]?.first?["errorCode"] == "30051001")
  }

  @Test func `of an agreement's end has its first payment, and the agreement's name`() async throws {
    let scene = try await Scene()
    try await scene.isHeld()
    let agreement = try await scene.agreement()
    try await scene.end(agreement)
    let body = try await scene.last()
    #expect(try words(body) == "agreement.ended: PENDING_CAPTURE 5 PENDING_MERCHANT")
    #expect(body["tender"]?["agreementId"]?.text == agreement.rawValue)
  }

  @Test func `of a capture or a cancel has its state, its number and its amount`() async throws {
    let scene = try await Scene()
    try await scene.isHeld()
    for (kind, amount, answer, said, own) in [
      (OperationKind.capture, 500, Scene.approval, "payment.captured: CAPTURED 9 COMPLETED", "CAPTURED"),
      (
        .capture, 300, Scene.refusal, "payment.rejected_capture: REJECTED_CAPTURE 93 UNSUCCESSFUL", "REJECTED_CAPTURE"
      ), (.void, 250, Scene.approval, "payment.cancelled: CANCELLED 6 UNSUCCESSFUL", "CANCELLED"),
      // Nothing has changed but that it was refused.
      (.void, 100, Scene.refusal, "payment.captured: CAPTURED 9 COMPLETED", "REJECTED"),
    ] as [(OperationKind, Int64, AcquirerAnswer, String, String)] {
      try await scene.does(kind, .eur(amount), answer)
      let body = try await scene.last()
      #expect(try words(body) == said)
      let operation = body["payment"]?["operationOutput"]
      #expect(operation?["id"] == body["payment"]?["id"] && operation?["status"]?.text == own, "\(body)")
      #expect(operation?["amountOfMoney"]?["amount"]?.whole == amount)
    }
  }

  @Test func `of a refund has the refund, and leaves a payment that is refunded in part captured`() async throws {
    let scene = try await Scene()
    try await scene.isHeld()
    try await scene.does(.capture, .eur(1000))
    try await scene.does(.refund, .eur(300))
    let body = try await scene.last()
    #expect(try words(body, "refund") == "payment.refunded: REFUNDED 8 REFUNDED")
    let refund = body["refund"]
    #expect(refund?["id"]?.text?.hasSuffix("_2") == true)
    let output = refund?["refundOutput"]
    #expect(output?["amountOfMoney"] == ["amount": 300, "currencyCode": "EUR"])
    #expect(output?["references"] == ["merchantParameters": "p=8", "merchantReference": "HK-1"])
    #expect(output?["mobileRefundMethodSpecificOutput"]?["totalAmountRefunded"] == 300)
    try await scene.does(.refund, .eur(200), Scene.refusal)
    #expect(try await words(scene.last(), "refund") == "refund.rejected: REJECTED 83 UNSUCCESSFUL")
    try await scene.does(.capture, .eur(250))
    let after = try await scene.last()
    #expect(try words(after) == "payment.captured: CAPTURED 9 COMPLETED")
    #expect(after["payment"]?["statusOutput"]?["isRefundable"] == true)
  }
}

extension JSONValue {
  fileprivate var first: JSONValue? { if case .array(let elements) = self { elements.first } else { nil } }
}
