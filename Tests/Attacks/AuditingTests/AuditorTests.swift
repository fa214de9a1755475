import Auditing
import Testing

/// Two paid orders and a declined one, on which journal, acquirer and client agree. Each test damages one thing.
private enum Sound {
  static var evidence: Evidence {
    var evidence = Evidence()
    evidence.orders = [
      PlannedOrder(id: "o1", amount: 1000, currency: "EUR"), PlannedOrder(id: "o2", amount: 500, currency: "JPY"),
      PlannedOrder(id: "o3", amount: 700, currency: "EUR"),
    ]
    evidence.payments = [
      payment("p1", "o1", "partially_refunded", 1000, [1000, 800, 300]),
      payment("p2", "o2", "authorized", 500, [500, 0, 0], currency: "JPY"),
      payment("p3", "o3", "declined", 700, [0, 0, 0]),
    ]
    for index in evidence.payments.indices { evidence.payments[index].connector = "sandbox" }
    evidence.payments[0].capturesAtOnce = true
    evidence.questions = Set(
      ["a1", "c1", "r1", "a2", "a3"].map { AcquirerQuestion(connector: "sandbox", reference: $0) })
    evidence.operations = [
      JournalOperation(reference: "a1", payment: "p1", kind: "authorize", state: "approved", amount: 1000),
      JournalOperation(reference: "c1", payment: "p1", kind: "capture", state: "approved", amount: 800),
      JournalOperation(reference: "r1", payment: "p1", kind: "refund", state: "approved", amount: 300),
      JournalOperation(reference: "a2", payment: "p2", kind: "authorize", state: "approved", amount: 500),
      JournalOperation(reference: "a3", payment: "p3", kind: "authorize", state: "declined", amount: 700),
    ]
    evidence.outbox = [
      BookedEvent(payment: "p1", sequence: 1, news: .init("authorizing")),
      BookedEvent(payment: "p1", sequence: 2, news: .init("authorized")),
      BookedEvent(payment: "p3", sequence: 1, news: .init("declined")),
    ]
    evidence.holds = [
      hold("a1", "o1", "t1", 1000, [1000, 800, 300]), hold("a2", "o2", "t2", 500, [500, 0, 0], currency: "JPY"),
      AcquirerHold(
        reference: "a3", order: "o3", token: "t3", amount: 700, currency: "EUR", wasApproved: false, authorized: 0,
        captured: 0, refunded: 0),
    ]
    evidence.calls = [
      ClientCall(order: "o1", key: "t1", outcome: .asked, payment: nil),
      ClientCall(order: "o1", key: "t1", outcome: .pending, payment: "p1"),
      ClientCall(order: "o1", key: "t1", outcome: .success, payment: "p1"),
      ClientCall(order: "o1", key: "k1", outcome: .success, payment: "p1", captured: 800),
      ClientCall(order: "o3", key: "t3", outcome: .failure, payment: "p3"),
    ]
    evidence.keyed = [
      KeyedCall(key: "k2", payment: "p1", kind: "refund"), KeyedCall(key: "k2", payment: "p1", kind: "refund"),
      refund(answer: "unknown", isFinal: false), refund(answer: "approved"), refund(answer: "approved"),
    ]
    evidence.followUps = [
      FollowUpCall(name: "k1", payment: "p1", kind: "capture", outcome: .asked),
      FollowUpCall(name: "k2", payment: "p1", kind: "refund", outcome: .asked),
      FollowUpCall(name: "k2", payment: "p1", kind: "refund", outcome: .asked), nothing("k2", "refund"),
      FollowUpCall(name: "k3", payment: "p1", kind: "refund", outcome: .asked), nothing("k3", "refund"),
    ]
    evidence.deliveries = evidence.outbox.map {
      SinkDelivery(
        payment: $0.payment, sequence: $0.sequence, news: $0.news, id: "\($0.payment)/\($0.sequence)",
        isAuthentic: true)
    }
    return evidence
  }

  /// A merchant's call about the first payment was told that nothing was done.
  static func nothing(_ name: String, _ kind: String) -> FollowUpCall {
    FollowUpCall(name: name, payment: "p1", kind: kind, outcome: .nothing)
  }

  /// A hold that came to its end and was let go.
  static func expire(_ payment: String, _ evidence: inout Evidence) {
    evidence.payments[1].status = "voided"
    (evidence.payments[1].isLive, evidence.payments[1].authorized, evidence.holds[1].authorized) = (false, 0, 0)
    evidence.operations.append(
      JournalOperation(reference: "v2", payment: payment, kind: "void", state: "approved", amount: 500, cause: "expiry")
    )
  }

  /// An answer to the refund under the key `k2`.
  static func refund(answer body: String, isFinal: Bool = true, operation: String = "r1") -> KeyedCall {
    KeyedCall(
      key: "k2", payment: "p1", kind: "refund",
      reply: .init(operation: operation, body: body, isFinal: isFinal))
  }

  static func payment(
    _ id: String, _ order: String, _ status: String, _ amount: Int64, _ balances: [Int64], currency: String = "EUR"
  ) -> JournalPayment {
    JournalPayment(
      id: id, order: order, status: status, isLive: status != "declined", amount: amount, currency: currency,
      authorized: balances[0], captured: balances[1], refunded: balances[2])
  }

  static func hold(
    _ reference: String, _ order: String, _ token: String, _ amount: Int64, _ balances: [Int64],
    currency: String = "EUR"
  ) -> AcquirerHold {
    AcquirerHold(
      reference: reference, order: order, token: token, amount: amount, currency: currency, wasApproved: true,
      authorized: balances[0], captured: balances[1], refunded: balances[2])
  }
}

/// One injected damage, and the invariant that must detect it.
private struct Damage: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let invariant: Invariant
  let inject: @Sendable (inout Evidence) -> Void

  init(_ name: String, _ invariant: Invariant, _ inject: @escaping @Sendable (inout Evidence) -> Void) {
    (testDescription, self.invariant, self.inject) = (name, invariant, inject)
  }

  static let all: [Damage] = [
    Damage("a second hold for an order", .noDoubleCharge) {
      $0.holds.append(Sound.hold("a9", "o1", "t9", 1000, [1000, 0, 0]))
    },
    Damage("a hold that the journal does not know", .noLostAuthorization) {
      $0.holds.append(Sound.hold("a9", "o9", "t9", 1000, [1000, 0, 0]))
    },
    Damage("a hold that stood for nothing until it expired", .noLostAuthorization) {
      $0.heldForNothing.insert("a9")
    },
    Damage("a hold whose payment was given up", .noLostAuthorization) { $0.payments[0].isLive = false },
    Damage("a payment whose hold the acquirer lost", .noPhantom) { $0.holds.remove(at: 0) },
    Damage("a capture that only we know", .noPhantom) { $0.holds[0].captured = 0 },
    Damage("a hold in another currency", .noPhantom) { $0.holds[0].currency = "USD" },
    Damage("more taken than held, here", .withinBounds) { $0.payments[0].captured = 1001 },
    Damage("more given back than taken, there", .withinBounds) { $0.holds[0].refunded = 801 },
    Damage("a negative balance", .withinBounds) { $0.holds[1].refunded = -1 },
    Damage("more charged back than is left of the capture", .withinBounds) {
      $0.payments[0].chargedBack = 501
      $0.operations.append(
        JournalOperation(
          reference: "b1", payment: "p1", kind: "chargeback", state: "approved", amount: 501, cause: "provider"))
    },
    Damage("a balance that no operation moved", .withinBounds) { $0.payments[0].chargedBack = 100 },
    Damage("a movement of the provider's that the balances do not follow", .withinBounds) {
      $0.operations.append(
        JournalOperation(
          reference: "r9", payment: "p1", kind: "refund", state: "approved", amount: 100, cause: "provider"))
    },
    Damage("a token that was approved twice", .tokenOnce) { $0.holds[1].token = "t1" },
    Damage("two live payments of an order", .onePaymentPerOrder) {
      $0.payments.append(Sound.payment("p9", "o1", "authorized", 1000, [0, 0, 0]))
    },
    Damage("a payment of another amount than its order", .onePaymentPerOrder) { $0.payments[0].amount = 999 },
    Damage("a success that is gone", .acknowledgedIsDurable) {
      $0.calls.append(ClientCall(order: "o9", key: "t9", outcome: .success, payment: "p9"))
    },
    Damage("a success that became a decline", .acknowledgedIsDurable) { $0.payments[0].status = "declined" },
    Damage("a capture that a client was notified of and is not posted", .acknowledgedIsDurable) {
      $0.calls[3].captured = 900
    },
    Damage("two answers for one key", .sameAnswer) {
      $0.calls.append(ClientCall(order: "o1", key: "t1", outcome: .failure, payment: "p1"))
    },
    Damage("two payments for one key", .sameAnswer) {
      $0.calls.append(ClientCall(order: "o1", key: "t1", outcome: .success, payment: "p2"))
    },
    Damage("other bytes for a key that had its answer", .sameAnswer) {
      $0.keyed.append(Sound.refund(answer: "approved a second time"))
    },
    Damage("two operations for a key", .sameAnswer) {
      $0.keyed.insert(Sound.refund(answer: "unknown", isFinal: false, operation: "a1"), at: 2)
    },
    Damage("a refund that no key asked for", .sameAnswer) {
      $0.operations.append(
        JournalOperation(reference: "r2", payment: "p1", kind: "refund", state: "declined", amount: 1))
    },
    Damage("an operation that a client was notified of and is gone", .acknowledgedIsDurable) {
      $0.operations.remove(at: 2)
    },
    Damage("a key that never had an answer for good", .everythingIsResolved) { $0.keyed.removeLast(2) },
    Damage("a webhook that never came", .webhooksArrive) { $0.deliveries.remove(at: 1) },
    Damage("webhooks in the wrong order", .webhooksArrive) { $0.deliveries.swapAt(0, 1) },
    Damage("a webhook whose body changed", .webhooksArrive) { $0.deliveries[0].news.status = "captured" },
    Damage("a webhook with another amount", .webhooksArrive) { $0.deliveries[0].news.captured += 1 },
    Damage("a webhook without a valid signature", .webhooksArrive) { $0.deliveries[0].isAuthentic = false },
    Damage("one event under two ids", .webhooksArrive) {
      var copy = $0.deliveries[0]
      copy.id = "another"
      $0.deliveries.append(copy)
    },
    Damage("a gap in the outbox", .webhooksArrive) { $0.outbox[1].sequence = 3 },
    Damage("a payment that stays unknown", .everythingIsResolved) { $0.payments[0].status = "unknown" },
    Damage("an operation without an answer", .everythingIsResolved) { $0.operations[1].state = "sending" },
    Damage("a reservation that was not released", .everythingIsResolved) { $0.payments[1].reserved = 1 },
    Damage("a capture that is still owed", .everythingIsResolved) { $0.payments[1].isCaptureDue = true },
    Damage("a broken chain", .historyFollowsTable) { $0.chain = ["main 7: the hash does not fit"] },
    Damage("a card number on the disk", .secrecy) { $0.leaks = ["a device account number in store.db"] },
    Damage("a refund that only the acquirer made", .sums) { $0.holds[0].refunded = 400 },
    Damage("an immediate capture that was forgotten", .immediateCaptureEnds) { $0.payments[1].capturesAtOnce = true },
    Damage("an immediate capture whose hold came to its end", .immediateCaptureEnds) {
      Sound.expire("p2", &$0)
      $0.payments[1].capturesAtOnce = true
    },
    Damage("an immediate capture behind an alarm about something else", .immediateCaptureEnds) {
      $0.payments[1].capturesAtOnce = true
      $0.payments[1].alarms = ["refund_returned"]
    },
    Damage(
      "a capture that a client was notified of and is not posted, behind an alarm about something else",
      .acknowledgedIsDurable
    ) {
      $0.calls[3].captured = 900
      $0.payments[0].alarms = ["void_refused"]
    },
    Damage("an acquirer that was asked about another one's payment", .ownAcquirer) {
      $0.questions.insert(AcquirerQuestion(connector: "other", reference: "c1"))
    },
    Damage("a hold that was let go by itself before its end", .holdsLast) {
      Sound.expire("p2", &$0)
      $0.earlyVoids = ["v2"]
    },
    Damage("a hold of a client whose every answer was that nothing was done", .failureIsNotCharged) {
      $0.holds.append(Sound.hold("a8", "o8", "t8", 1000, [1000, 0, 0]))
      $0.calls.append(ClientCall(order: "o8", key: "t8", outcome: .asked, payment: nil))
      $0.calls.append(ClientCall(order: "o8", key: "t8", outcome: .nothing, payment: nil))
    },
    Damage("a refund of a merchant whose every answer was that nothing was done", .failureIsNotCharged) {
      $0.followUps.append(Sound.nothing("k2", "refund"))
    },
    Damage("a capture of which nothing was done, said the only answer", .failureIsNotCharged) {
      $0.followUps.append(Sound.nothing("k1", "capture"))
    },
    Damage("a hold although failure was reported", .failureIsNotCharged) {
      ($0.holds[2].wasApproved, $0.holds[2].authorized) = (true, 700)
    },
    Damage("a hold for less that was not reversed", .lessIsUndone) {
      ($0.holds[2].isForLess, $0.holds[2].wasApproved, $0.holds[2].authorized) = (true, true, 350)
    },
    Damage("a payment that a hold for less counts as", .lessIsUndone) {
      ($0.holds[1].isForLess, $0.holds[1].authorized) = (true, 0)
    },
    Damage("an authorization that two routes approved", .oneRoute) {
      $0.operations.append(
        JournalOperation(
          reference: "a4", payment: "p1", kind: "authorize", state: "failed", amount: 1000, route: "other"))
      $0.holds.append(Sound.hold("a4", "o1", "t4", 1000, [0, 0, 0]))
    },
    Damage("a capture at another route", .oneRoute) { $0.operations[1].route = "other" },
    Damage("an outcome that only a person can find out, and no alarm", .personIsCalled) {
      $0.unaskable = ["sandbox"]
      $0.operations[1].state = "unknown"
    },
    Damage("an operation that is open although its event was acknowledged", .personIsCalled) {
      $0.operations[1].state = "pending"
      $0.reported = ["c1"]
    },
    Damage("an event that is believed through another route", .ownEvents) {
      $0.foreignEvents = ["e1"]
      $0.believedEvents = ["e1"]
    },
    Damage("a period that was charged twice", .periodOnce) {
      $0.charges = ["o1", "o2"].map { ChargeCall(order: $0, agreement: "g1", period: 3) }
    },
    Damage("a charge after the agreement's end", .endedIsOver) {
      $0.charges = [ChargeCall(order: "o3", agreement: "g1", period: 3, isAfterEnd: true)]
    },
    Damage("a charge after a decline for good", .retriesAreFew) {
      $0.charges = [ChargeCall(order: "o3", agreement: "g1", period: 3, isAfterStop: true)]
    },
    Damage("a charge after Apple unlinked the card", .unlinkedIsOver) {
      $0.charges = [ChargeCall(order: "o3", agreement: "g1", period: 3, isAfterUnlink: true)]
    },
    Damage("a charge more than the schemes allow", .retriesAreFew) {
      for number in 1...16 {
        $0.charges.append(ChargeCall(order: "o3-\(number)", agreement: "g1", period: 3))
        var hold = Sound.hold("a3-\(number)", "o3-\(number)", "t3-\(number)", 700, [0, 0, 0])
        hold.wasApproved = false
        $0.holds.append(hold)
      }
    },
    Damage("a failure that only the journal remembers", .failureIsNotCharged) {
      $0.payments[1].reportedOutcome = "failure"
    },
  ]
}

@Suite struct `The auditor` {
  @Test func `a key whose payment was voided may get the payment of another key`() {
    var evidence = Sound.evidence
    evidence.payments.append(Sound.payment("p9", "o2", "authorized", 500, [500, 0, 0], currency: "JPY"))
    for payment in ["p2", "p9"] {
      evidence.calls.append(ClientCall(order: "o2", key: "t2", outcome: .success, payment: payment))
    }
    #expect(Auditor(evidence).violations.contains { $0.invariant == .sameAnswer })
    Sound.expire("p2", &evidence)
    #expect(!Auditor(evidence).violations.contains { $0.invariant == .sameAnswer })
  }

  @Test func `finds nothing where all records agree`() {
    #expect(Auditor(Sound.evidence).violations.isEmpty)
  }

  @Test(arguments: Damage.all) private func `notices`(_ damage: Damage) {
    var evidence = Sound.evidence
    damage.inject(&evidence)
    let found = Auditor(evidence).violations.map(\.invariant)
    #expect(found.contains(damage.invariant), "\(found)")
  }

  @Test func `excuses what the alarm of a payment is about, and a dead letter that comes late`() {
    var evidence = Sound.evidence
    evidence.calls[3].captured = 900
    evidence.payments[0].alarms = ["capture_returned"]
    evidence.deliveries.append(evidence.deliveries.remove(at: 0))
    evidence.deadLetters = [DeadLetter(payment: "p1", sequence: 1)]
    #expect(Auditor(evidence).violations.isEmpty)
  }

  @Test func `excuses an open outcome behind its alarm only where the acquirer cannot be asked`() {
    var evidence = Sound.evidence
    evidence.operations.append(
      JournalOperation(reference: "c9", payment: "p1", kind: "capture", state: "unknown", amount: 100))
    evidence.payments[0].alarms = ["refund_unknown"]
    #expect(Auditor(evidence).violations.map(\.invariant) == [.everythingIsResolved])
    evidence.unaskable = ["sandbox"]
    evidence.payments[0].alarms = ["capture_unknown"]
    #expect(Auditor(evidence).violations.isEmpty)
  }

  @Test func `takes the refunds of several captures under one key for one request`() {
    var evidence = Sound.evidence
    let part = JournalOperation(
      reference: "r2", payment: "p1", kind: "refund", state: "declined", amount: 1, partOf: "r1")
    evidence.operations.append(part)
    #expect(Auditor(evidence).violations.isEmpty)
  }

  @Test(arguments: [true, false])
  func `bears what a final capture leaves held only at an acquirer that keeps it until the hold expires`(
    keepsRest: Bool
  ) throws {
    var evidence = Sound.evidence
    evidence.payments[0].authorized = 800
    let hold = try #require(evidence.holds.firstIndex { $0.reference == "a1" })
    evidence.holds[hold].keepsRest = keepsRest
    #expect(Auditor(evidence).violations.map(\.invariant) == (keepsRest ? [] : [.noPhantom]))
  }

  @Test func `takes an authorization that was not sent for no second route`() {
    var evidence = Sound.evidence
    evidence.operations.append(
      JournalOperation(
        reference: "a4", payment: "p1", kind: "authorize", state: "failed", amount: 1000, route: "other"))
    #expect(Auditor(evidence).violations.isEmpty)
  }

  @Test func `has an injected damage for every invariant`() {
    #expect(Set(Damage.all.map(\.invariant)) == Set(Invariant.allCases))
  }
}
