/// The invariants of all records, once the faults have stopped and every outcome had time to be resolved.
package enum Invariant: String, Sendable, Hashable, CaseIterable {
  case noDoubleCharge = "I1"
  case noLostAuthorization = "I2"
  case noPhantom = "I3"
  case withinBounds = "I4"
  case tokenOnce = "I5"
  case onePaymentPerOrder = "I6"
  case acknowledgedIsDurable = "I7"
  case sameAnswer = "I8"
  case webhooksArrive = "I9"
  case everythingIsResolved = "I10"
  case historyFollowsTable = "I11"
  case secrecy = "I12"
  case sums = "I13"
  case immediateCaptureEnds = "I14"
  case ownAcquirer = "asked"
  case holdsLast = "holds"
  case failureIsNotCharged = "reported"
  case lessIsUndone = "less"
  case oneRoute = "route"
  case personIsCalled = "called"
  case ownEvents = "events"
  case periodOnce = "period"
  case endedIsOver = "ended"
  case retriesAreFew = "retries"
  case unlinkedIsOver = "unlinked"

  package var sentence: String {
    switch self {
    case .noDoubleCharge: "an order has at most one approved authorization that was not reversed"
    case .noLostAuthorization: "every hold and capture at the acquirer belongs to a live payment in the journal"
    case .noPhantom: "every hold, capture and refund in the journal is at the acquirer, to the minor unit"
    case .withinBounds: "0 ≤ refunded + charged back ≤ captured ≤ authorized ≤ amount, the sums of the operations"
    case .tokenOnce: "a payment token was approved at most once"
    case .onePaymentPerOrder: "an order has at most one live payment, of its own amount"
    case .acknowledgedIsDurable: "everything that a client was notified of is in the journal"
    case .sameAnswer: "one key has one answer and one operation"
    case .webhooksArrive: "every event arrived, in order, authentic, and as it was written"
    case .everythingIsResolved: "nothing is open, reserved or owed"
    case .historyFollowsTable: "the audit chain is intact and every change follows the table"
    case .secrecy: "no record holds a secret of the run"
    case .sums: "in each currency both sides captured and refunded the same amount"
    case .immediateCaptureEnds: "an order with immediate capture ends captured, voided on purpose, or alarmed"
    case .ownAcquirer: "an acquirer is asked about its own payments only"
    case .holdsLast: "no hold is released before its end unless it was asked for"
    case .failureIsNotCharged:
      "no client is charged, and no payment moved, where failure, or nothing done, was reported"
    case .lessIsUndone: "an authorization that was approved for less is reversed, and pays nothing"
    case .oneRoute: "a payment is approved at one route at most, and what follows goes through the stored route"
    case .personIsCalled: "what only a person can find out has an alarm"
    case .ownEvents: "no event is believed that came through another route"
    case .periodOnce: "an agreement is charged at most once for a period"
    case .endedIsOver: "an agreement is not charged after its end"
    case .retriesAreFew: "a card is not tried more often after a decline than the schemes allow"
    case .unlinkedIsOver: "what Apple unlinked is charged no more"
    }
  }
}

package struct Violation: Sendable, Hashable, CustomStringConvertible {
  package let invariant: Invariant
  package let detail: String
  package var description: String { "\(invariant.rawValue) \(invariant.sentence): \(detail)" }
}

/// Reads the evidence of all parties and knows nothing of the code that made it.
package struct Auditor: Sendable {
  private let evidence: Evidence
  private let holds: [String: AcquirerHold]
  private let payments: [String: JournalPayment]
  /// The authorization of each payment.
  private let authorizations: [String: JournalOperation]

  package init(_ evidence: Evidence) {
    self.evidence = evidence
    holds = Dictionary(evidence.holds.map { ($0.reference, $0) }) { first, _ in first }
    payments = Dictionary(evidence.payments.map { ($0.id, $0) }) { first, _ in first }
    let routes = payments.mapValues(\.connector)
    authorizations = Dictionary(
      evidence.operations.filter {
        $0.kind == "authorize" && ($0.route.isEmpty || $0.route == routes[$0.payment])
      }.map { ($0.payment, $0) }
    ) { first, _ in first }
  }

  package var violations: [Violation] {
    Invariant.allCases.flatMap { invariant in
      details(invariant).sorted().map { Violation(invariant: invariant, detail: $0) }
    }
  }

  private func details(_ invariant: Invariant) -> [String] {
    switch invariant {
    case .noDoubleCharge: doubles
    case .noLostAuthorization: lost + evidence.heldForNothing.map { "hold \($0), until it expired" }
    case .noPhantom: phantoms
    case .withinBounds: outOfBounds
    case .tokenOnce: repeated(evidence.holds.filter(\.wasApproved).map(\.token))
    case .onePaymentPerOrder: ordersWithSeveralPayments
    case .acknowledgedIsDurable: forgotten + forgottenOperations
    case .sameAnswer: contradictions + keysWithTwoAnswers + callsWithoutKey
    case .webhooksArrive: silences
    case .everythingIsResolved: unresolved + keysWithoutAnswer
    case .historyFollowsTable: evidence.chain + evidence.impossibleChanges.map { "an event asked for a \($0)" }
    case .secrecy: evidence.leaks
    case .sums: sums
    case .immediateCaptureEnds: untaken
    case .ownAcquirer: misdirected
    case .holdsLast: hasty
    case .failureIsNotCharged: wronged + chargedForNothing + doneForNothing
    case .lessIsUndone: adoptedForLess
    case .oneRoute: strays
    case .personIsCalled: uncalled
    case .ownEvents: evidence.believedEvents.intersection(evidence.foreignEvents).map { "event \($0)" }
    case .periodOnce: chargedTwice
    case .endedIsOver: holds(of: evidence.charges.filter(\.isAfterEnd))
    case .retriesAreFew: holds(of: evidence.charges.filter(\.isAfterStop)) + retriedTooOften
    case .unlinkedIsOver: holds(of: evidence.charges.filter(\.isAfterUnlink))
    }
  }
}

// Which alarm excuses which finding: a person was called to exactly this. An alarm that is not in the list excuses
// nothing.
extension Auditor {
  static let excuses: [String: Set<Invariant>] = [
    // The acquirer took the money back after the merchant was notified.
    "capture_returned": [.acknowledgedIsDurable, .immediateCaptureEnds],
    // An operator was wrong about what the acquirer did.
    "resolved_otherwise": [.acknowledgedIsDurable, .immediateCaptureEnds],
    "refund_returned": [.acknowledgedIsDurable],
    // The money of an order with immediate capture was not taken, or its hold has ended.
    "capture_declined": [.immediateCaptureEnds],
    // Also of a capture whose first answer was lost: nothing more is known until the account is corrected.
    "capture_misconfigured": [.immediateCaptureEnds, .everythingIsResolved, .noPhantom],
    "capture_overdue": [.immediateCaptureEnds],
    "uncaptured_hold_ended": [.immediateCaptureEnds],
    // An acquirer that answers no inquiry, and refuses every repeat: only a person can find out.
    "capture_unknown": [.everythingIsResolved, .immediateCaptureEnds, .noPhantom, .sums],
    // The acquirer did late what the balances do not have room for any more; the payment may have ended meanwhile.
    "capture_approved_late": [.noPhantom, .sums, .noLostAuthorization],
    "refund_approved_late": [.noPhantom, .sums],
    "void_approved_late": [.noPhantom],
    "increment_approved_late": [.noPhantom],
    // A person moved money in the acquirer's dashboard, or the acquirer did.
    "moved_elsewhere": [.noPhantom, .sums],
  ]

  /// The same at an acquirer that can be asked about nothing: only its event, or a person, can tell the outcome.
  static let excusesWithoutInquiry: [String: Set<Invariant>] = [
    "authorize_unknown": [.everythingIsResolved, .noLostAuthorization, .failureIsNotCharged, .lessIsUndone],
    // The money was to go back and not to be captured.
    "reverse_unknown": [
      .everythingIsResolved, .noLostAuthorization, .noDoubleCharge, .failureIsNotCharged, .lessIsUndone,
      .immediateCaptureEnds,
    ],
    "reversal_refused": [
      .everythingIsResolved, .noLostAuthorization, .noDoubleCharge, .failureIsNotCharged, .lessIsUndone,
      .immediateCaptureEnds,
    ],
    "capture_unknown": [.everythingIsResolved, .noPhantom, .sums, .immediateCaptureEnds],
    "void_unknown": [.everythingIsResolved, .noPhantom, .immediateCaptureEnds],
    "refund_unknown": [.everythingIsResolved, .noPhantom, .sums],
  ]

  private func isExcused(_ payment: String, from invariant: Invariant) -> Bool {
    guard let payment = payments[payment] else { return false }
    let isUnaskable = evidence.unaskable.contains(payment.connector)
    return payment.alarms.contains {
      Self.excuses[$0]?.contains(invariant) == true
        || isUnaskable && Self.excusesWithoutInquiry[$0]?.contains(invariant) == true
    }
  }

  private func isExcused(_ hold: AcquirerHold, from invariant: Invariant) -> Bool {
    payment(of: hold.reference).map { isExcused($0, from: invariant) } ?? false
  }

  private func payment(of reference: String) -> String? {
    evidence.operations.first { $0.reference == reference }?.payment
  }
}

extension Auditor {
  private func repeated(_ names: [String]) -> [String] {
    Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.map { "\($0.key), \($0.value.count) times" }
  }

  private var doubles: [String] {
    repeated(evidence.holds.filter { $0.stands && !isExcused($0, from: .noDoubleCharge) }.map(\.order))
  }

  private var lost: [String] {
    let known = Set(authorizations.values.filter { payments[$0.payment]?.isLive == true }.map(\.reference))
    return evidence.holds.filter {
      $0.stands && !known.contains($0.reference) && !isExcused($0, from: .noLostAuthorization)
    }.map { "hold \($0.reference)" }
  }

  /// Holds that belong to no live payment, and of which no operation is open. When the holds have expired nothing shows
  /// them any more.
  package var heldForNothing: Set<String> {
    let open = Set(evidence.operations.filter(\.isOpen).map(\.payment))
    let known = authorizations.values.filter { payments[$0.payment]?.isLive == true || open.contains($0.payment) }
    return Set(
      evidence.holds.filter { $0.stands && !isExcused($0, from: .noLostAuthorization) }.map(\.reference)
    ).subtracting(known.map(\.reference))
  }

  private var phantoms: [String] {
    evidence.payments.filter { $0.authorized > 0 || $0.captured > 0 || $0.refunded > 0 }.compactMap { payment in
      guard let reference = authorizations[payment.id]?.reference, let hold = holds[reference] else {
        return "payment \(payment.id) has no hold"
      }
      let ours = [payment.authorized, payment.captured, payment.refunded]
      let rest = hold.keepsRest && payment.captured > 0 ? max(0, hold.authorized - payment.authorized) : 0
      let theirs = [hold.authorized - rest, hold.captured, hold.refunded]
      guard ours != theirs || payment.currency != hold.currency, !isExcused(payment.id, from: .noPhantom) else {
        return nil
      }
      return "payment \(payment.id): \(ours) \(payment.currency) here, \(theirs) \(hold.currency) there"
    }
  }

  private var outOfBounds: [String] {
    evidence.payments.filter {
      !(0 <= $0.refunded && 0 <= $0.chargedBack && $0.refunded + $0.chargedBack <= $0.captured
        && $0.captured <= $0.authorized && $0.authorized <= $0.amount + incremented($0.id))
    }.map { "payment \($0.id)" } + unfolded
      + evidence.holds.filter {
        !(0 <= $0.refunded && $0.refunded <= $0.captured && $0.captured <= $0.authorized && $0.authorized <= $0.amount)
      }.map { "hold \($0.reference)" }
  }

  /// What approved increments added to a payment's amount.
  private func incremented(_ payment: String) -> Int64 {
    evidence.operations.filter { $0.payment == payment && $0.kind == "increment" && $0.state == "approved" }
      .reduce(0) { $0 + $1.amount }
  }

  /// Payments whose balances are not the sum of their approved operations, those of a provider among them.
  private var unfolded: [String] {
    let approved = Dictionary(grouping: evidence.operations.filter { $0.state == "approved" }, by: \.payment)
    return evidence.payments.filter { payment in
      let sum = { (kind: String) in
        (approved[payment.id] ?? []).reduce(Int64(0)) { $0 + ($1.kind == kind ? $1.amount : 0) }
      }
      return payment.captured != sum("capture") || payment.refunded != sum("refund")
        || payment.chargedBack != sum("chargeback") - sum("chargeback_reversal")
    }.map { "payment \($0.id) is not the sum of its operations" }
  }

  private var ordersWithSeveralPayments: [String] {
    let live = evidence.payments.filter(\.isLive)
    let wrong = live.filter { payment in
      !evidence.orders.contains {
        $0.id == payment.order && $0.amount == payment.amount && $0.currency == payment.currency
      }
    }
    return repeated(live.map(\.order)) + wrong.map { "payment \($0.id) is not for what its order says" }
  }

  private var forgotten: [String] {
    evidence.calls.compactMap { call in
      guard call.outcome == .success || call.outcome == .failure, let id = call.payment else { return nil }
      guard let payment = payments[id] else { return "payment \(id) is gone" }
      let failed = ["declined", "failed"].contains(payment.status)
      if call.outcome == .success, failed || ["authorizing", "pending", "unknown"].contains(payment.status) {
        return "payment \(id) was reported as a success and is \(payment.status)"
      }
      let isExcused = isExcused(id, from: .acknowledgedIsDurable)
      guard isExcused || payment.captured >= call.captured && payment.refunded >= call.refunded else {
        return "payment \(id) has moved less money than was reported"
      }
      return nil
    }
  }

  private var contradictions: [String] {
    let definite = evidence.calls.filter { $0.outcome == .success || $0.outcome == .failure }
    return Dictionary(grouping: definite) { "\($0.order), \($0.key)" }.compactMap { key, calls in
      let failed = Set(calls.filter { $0.outcome == .failure }.map(\.payment))
      let paid = Set(calls.filter { $0.outcome == .success }.map(\.payment))
      // A key that failed, or whose payment was voided since, may get the answer that the order is paid with another key,
      // as long as that is so.
      let kept = paid.filter { !isVoided($0) }
      return failed.count > 1 || kept.count > 1 || !failed.isDisjoint(with: paid) ? key : nil
    }
  }

  private func isVoided(_ payment: String?) -> Bool { payment.flatMap { payments[$0] }?.status == "voided" }

  private var silences: [String] {
    let sent = Dictionary(grouping: evidence.outbox, by: \.payment)
    let came = Dictionary(grouping: evidence.deliveries, by: \.payment)
    return sent.flatMap { payment, events in
      silence(of: payment, events.sorted { $0.sequence < $1.sequence }, came[payment] ?? [])
    } + evidence.deliveries.filter { !$0.isAuthentic }.map { "\($0.payment) \($0.sequence) is not authentic" }
  }

  private func silence(of payment: String, _ events: [BookedEvent], _ came: [SinkDelivery]) -> [String] {
    var found: [String] = []
    if events.map(\.sequence) != Array(1...Int64(events.count)) { found.append("\(payment): a gap in the outbox") }
    var first: [Int64] = []
    for delivery in came where !first.contains(delivery.sequence) && !isDead(delivery) {
      first.append(delivery.sequence)
    }
    if first != first.sorted() { found.append("\(payment): came as \(first)") }
    for event in events {
      let copies = came.filter { $0.sequence == event.sequence }
      if copies.isEmpty { found.append("\(payment) \(event.sequence) never came") }
      if Set(copies.map(\.id)).count > 1 { found.append("\(payment) \(event.sequence) came under two ids") }
      if copies.contains(where: { $0.news != event.news }) { found.append("\(payment) \(event.sequence) changed") }
    }
    return found
  }

  private func isDead(_ delivery: SinkDelivery) -> Bool {
    evidence.deadLetters.contains(DeadLetter(payment: delivery.payment, sequence: delivery.sequence))
  }

  private var unresolved: [String] {
    let checked = evidence.payments.filter { !isExcused($0.id, from: .everythingIsResolved) }
    return evidence.operations.filter { $0.isOpen && !isExcused($0.payment, from: .everythingIsResolved) }.map {
      "\($0.kind) \($0.reference) is \($0.state)"
    }
      + checked.filter { ["authorizing", "pending", "unknown"].contains($0.status) }
      .map { "payment \($0.id) is \($0.status)" }
      + checked.filter { $0.reserved != 0 }.map { "payment \($0.id) has \($0.reserved) reserved" }
      + checked.filter {
        $0.isCaptureDue && $0.status == "authorized" && !isExcused($0.id, from: .immediateCaptureEnds)
      }
      .map { "payment \($0.id) owes a capture" }
  }

  private var sums: [String] {
    let checked = (
      here: evidence.payments.filter { !isExcused($0.id, from: .sums) },
      there: evidence.holds.filter { !isExcused($0, from: .sums) }
    )
    let here = Dictionary(grouping: checked.here, by: \.currency).mapValues { rows in
      rows.reduce(Int64(0)) { $0 + $1.captured - $1.refunded }
    }
    let there = Dictionary(grouping: checked.there, by: \.currency).mapValues { rows in
      rows.reduce(Int64(0)) { $0 + $1.captured - $1.refunded }
    }
    return Set(here.keys).union(there.keys).filter { here[$0] ?? 0 != there[$0] ?? 0 }
      .map { "\($0): \(here[$0] ?? 0) here, \(there[$0] ?? 0) there" }
  }

  /// Payments that were reported as failed, and of which money is held or was taken.
  private var wronged: [String] {
    let reportedAsFailed = Set(
      evidence.calls.filter { $0.outcome == .failure }.compactMap(\.payment)
        + evidence.payments.filter { $0.reportedOutcome == "failure" }.map(\.id))
    return reportedAsFailed.compactMap { payment in
      guard let reference = authorizations[payment]?.reference, let hold = holds[reference] else { return nil }
      guard hold.stands || hold.captured > hold.refunded, !isExcused(payment, from: .failureIsNotCharged) else {
        return nil
      }
      return "payment \(payment)"
    }
  }
}

extension Auditor {
  /// What the acquirer approved for less, and is still held, or was captured, or counts as paid.
  private var adoptedForLess: [String] {
    let less = evidence.holds.filter { $0.isForLess && $0.wasApproved }
    let paid = Set(evidence.calls.filter { $0.outcome == .success }.compactMap(\.payment))
    return less.compactMap { hold in
      let payment = payment(of: hold.reference).flatMap { payments[$0] }
      let isLive = payment?.isLive ?? false
      let wasReportedAsPaid = payment.map { paid.contains($0.id) || $0.reportedOutcome == "success" } ?? false
      guard !isExcused(hold, from: .lessIsUndone) || hold.captured > 0 || wasReportedAsPaid else { return nil }
      return hold.stands || hold.captured > 0 || isLive || wasReportedAsPaid ? "hold \(hold.reference)" : nil
    }
  }

  /// Every answer to a client was that nothing was done, and money is held or was taken.
  private var chargedForNothing: [String] {
    Dictionary(grouping: evidence.calls, by: \.order).compactMap { order, calls in
      let asked = calls.count { $0.outcome == .asked }
      guard asked > 0, calls.count == 2 * asked, calls.count(where: { $0.outcome == .nothing }) == asked else {
        return nil
      }
      return evidence.holds.contains { $0.order == order && $0.wasApproved }
        ? "order \(order): nothing was done, said every answer" : nil
    }
  }

  /// Calls of a merchant were told each time that nothing was done, and there are more operations than it made others. It
  /// repeats such a call, and both move money.
  private var doneForNothing: [String] {
    Dictionary(grouping: evidence.followUps) { [$0.payment, $0.kind] }.compactMap { subject, entries in
      let done = evidence.operations.count {
        $0.payment == subject[0] && $0.kind == subject[1] && $0.cause == "merchant" && $0.partOf == nil
      }
      let calls = Dictionary(grouping: entries, by: \.name).values
      let others = calls.count { entries in
        entries.count { $0.outcome == .nothing } < entries.count { $0.outcome == .asked }
      }
      return others < calls.count && others < done
        ? "\(done) × \(subject[1]) of \(subject[0]), and of all but \(others) calls nothing was done, said every answer"
        : nil
    }
  }

  /// What merchants let go on purpose, or a reversal undid, is not owed any more.
  private var untaken: [String] {
    let approved = evidence.operations.filter { $0.state == "approved" }
    return evidence.payments.filter { payment in
      guard payment.capturesAtOnce, payment.captured == 0, !isExcused(payment.id, from: .immediateCaptureEnds),
        approved.contains(where: { $0.payment == payment.id && $0.kind == "authorize" })
      else { return false }
      let voided = approved.filter {
        $0.payment == payment.id && $0.kind == "void" && ["merchant", "provider"].contains($0.cause)
      }
      return voided.reduce(0) { $0 + $1.amount } < payment.amount
    }.map { "payment \($0.id) is \($0.status), and nothing of it was captured" }
  }

  private var misdirected: [String] {
    let own = Dictionary(
      evidence.operations.map { ($0.reference, $0.route.isEmpty ? payments[$0.payment]?.connector : $0.route) }
    ) { first, _ in first }
    return evidence.questions.filter { question in
      guard let connector = own[question.reference] else { return false }
      return connector != question.connector
    }.map { "\($0.connector) was asked about \($0.reference)" }
  }

  private var hasty: [String] {
    evidence.operations.filter {
      $0.kind == "void" && $0.cause == "expiry" && evidence.earlyVoids.contains($0.reference)
    }.map { "void \($0.reference) of payment \($0.payment)" }
  }
}

// Routes, and acquirers that cannot be asked.
extension Auditor {
  /// Authorizations of a payment that several routes approved, whatever became of them, and operations at another route
  /// than the payment's. An authorization of which nothing was sent ends as failed before the payment takes the next.
  private var strays: [String] {
    let approved = evidence.holds.filter(\.wasApproved).compactMap { payment(of: $0.reference) }
    let elsewhere = evidence.operations.filter { operation in
      guard let payment = payments[operation.payment], !operation.route.isEmpty else { return false }
      return operation.route != payment.connector && !(operation.kind == "authorize" && operation.state == "failed")
    }
    return repeated(approved).map { "payment \($0)" }
      + elsewhere.map { "\($0.kind) \($0.reference) through \($0.route)" }
  }

  /// What is open for longer than a day, or has had its event, at an acquirer that cannot be asked.
  private var uncalled: [String] {
    evidence.operations.filter { operation in
      guard operation.isOpen, let payment = payments[operation.payment], evidence.unaskable.contains(payment.connector)
      else { return false }
      // An authorization that is being reversed is the reversal's to end.
      let reversed = operation.kind == "authorize" ? ["reverse_unknown"] : []
      return payment.alarms.isDisjoint(
        with: reversed + [
          "\(operation.kind)_unknown", "capture_misconfigured", "reversal_refused", "acquirer_not_configured",
        ])
    }.map { "\($0.kind) \($0.reference) is \($0.state), and no person was called" }
      + evidence.operations.filter { $0.isOpen && evidence.reported.contains($0.reference) }
      .map { "\($0.kind) \($0.reference) is \($0.state), and its event was acknowledged" }
  }
}

// Agreements.
extension Auditor {
  /// Periods of which more than one hold stands.
  private var chargedTwice: [String] {
    let periods = Dictionary(evidence.charges.map { ($0.order, "period \($0.period) of \($0.agreement)") }) {
      first, _ in
      first
    }
    return repeated(
      evidence.holds.filter { $0.stands && !isExcused($0, from: .noDoubleCharge) }.compactMap { periods[$0.order] })
  }

  /// What the acquirer was asked for by these calls.
  private func holds(of calls: [ChargeCall]) -> [String] {
    let names = Set(calls.map(\.order))
    return evidence.holds.filter { names.contains($0.order) }.map { "hold \($0.reference) of \($0.order)" }
  }

  /// Visa's limit in thirty days. No history is longer.
  private static let mostDeclines = 15

  private var retriedTooOften: [String] {
    let agreements = Dictionary(evidence.charges.map { ($0.order, $0.agreement) }) { first, _ in first }
    let declined = evidence.holds.filter { !$0.wasApproved }.compactMap { agreements[$0.order] }
    return Dictionary(grouping: declined) { $0 }.filter { $0.value.count > Self.mostDeclines }
      .map { "\($0.value.count) declines of \($0.key)" }
  }
}

// Idempotency keys.
extension Auditor {
  private var replies: [String: [KeyedCall.Reply]] {
    Dictionary(grouping: evidence.keyed, by: \.key).mapValues { $0.compactMap(\.reply) }
  }

  private var forgottenOperations: [String] {
    let known = Set(evidence.operations.flatMap { [$0.reference, $0.name] } + [""])
    return Set(evidence.keyed.compactMap { $0.reply?.operation }).subtracting(known).map { "operation \($0) is gone" }
  }

  private var keysWithTwoAnswers: [String] {
    replies.filter { _, replies in
      [true, false].contains { waits in Set(replies.filter { $0.isFinal && $0.waits == waits }.map(\.body)).count > 1 }
        || Set(replies.map(\.operation)).subtracting([""]).count > 1
    }.map { "key \($0.key)" }
  }

  /// Where a merchant uses keys, nothing is done that no key asked for, and nothing twice.
  private var callsWithoutKey: [String] {
    Dictionary(grouping: evidence.keyed) { [$0.payment, $0.kind] }.compactMap { subject, calls in
      let done = evidence.operations.filter {
        $0.payment == subject[0] && $0.kind == subject[1] && $0.cause == "merchant" && $0.partOf == nil
      }
      let keys = Set(calls.map(\.key))
      return done.count > keys.count ? "\(done.count) × \(subject[1]) of \(subject[0]), \(keys.count) keys" : nil
    }
  }

  private var keysWithoutAnswer: [String] {
    replies.filter { $0.value.last?.isFinal == false && !evidence.outlivedKeys.contains($0.key) }.map {
      "key \($0.key) has no answer for good"
    }
  }
}
