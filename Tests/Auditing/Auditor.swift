/// What must be true of all that was written down, once the faults have stopped and everything had time to settle.
public enum Invariant: String, Sendable, Hashable, CaseIterable {
  case noDoubleCharge = "I1"
  case noLostAuthorization = "I2"
  case noPhantom = "I3"
  case withinBounds = "I4"
  case tokenOnce = "I5"
  case onePaymentPerOrder = "I6"
  case acknowledgedIsDurable = "I7"
  case sameAnswer = "I8"
  case webhooksArrive = "I9"
  case everythingSettles = "I10"
  case historyFollowsTable = "I11"
  case secrecy = "I12"
  case sums = "I13"
  case failureIsNotCharged = "told"

  public var sentence: String {
    switch self {
    case .noDoubleCharge: "at most one approved authorization that was not undone stands for an order"
    case .noLostAuthorization: "whatever stands at the acquirer is a live payment in the journal"
    case .noPhantom: "whatever the journal holds, has taken or given back is so at the acquirer, to the minor unit"
    case .withinBounds: "0 ≤ refunded ≤ captured ≤ authorized ≤ amount, on both sides"
    case .tokenOnce: "a payment token was approved at most once"
    case .onePaymentPerOrder: "an order has at most one live payment, of its own amount"
    case .acknowledgedIsDurable: "whatever a client was told has happened is in the journal"
    case .sameAnswer: "one key has one answer and one operation"
    case .webhooksArrive: "every event arrived, in order, authentic, and as it was written"
    case .everythingSettles: "nothing is open, reserved or owed"
    case .historyFollowsTable: "the audit chain is intact and every change follows the table"
    case .secrecy: "no secret of the run stands where it must not"
    case .sums: "by currency, both sides took and gave back the same"
    case .failureIsNotCharged: "nobody who was told failure was charged"
    }
  }
}

public struct Violation: Sendable, Hashable, CustomStringConvertible {
  public let invariant: Invariant
  public let detail: String
  public var description: String { "\(invariant.rawValue) \(invariant.sentence): \(detail)" }
}

/// Reads the evidence of all parties and knows nothing of the code that made it.
public struct Auditor: Sendable {
  private let evidence: Evidence
  private let holds: [String: AcquirerHold]
  private let payments: [String: BookedPayment]
  /// The authorization of each payment.
  private let authorizations: [String: BookedMove]

  public init(_ evidence: Evidence) {
    self.evidence = evidence
    holds = Dictionary(evidence.holds.map { ($0.reference, $0) }) { first, _ in first }
    payments = Dictionary(evidence.payments.map { ($0.id, $0) }) { first, _ in first }
    authorizations = Dictionary(
      evidence.operations.filter { $0.kind == "authorize" }.map { ($0.payment, $0) }
    ) { first, _ in first }
  }

  public var violations: [Violation] {
    Invariant.allCases.flatMap { invariant in
      details(invariant).sorted().map { Violation(invariant: invariant, detail: $0) }
    }
  }

  private func details(_ invariant: Invariant) -> [String] {
    switch invariant {
    case .noDoubleCharge: doubles
    case .noLostAuthorization: lost
    case .noPhantom: phantoms
    case .withinBounds: outOfBounds
    case .tokenOnce: repeated(evidence.holds.filter(\.wasApproved).map(\.token))
    case .onePaymentPerOrder: crowded
    case .acknowledgedIsDurable: forgotten + forgottenOperations
    case .sameAnswer: contradictions + keysWithTwoAnswers + callsWithoutKey
    case .webhooksArrive: silences
    case .everythingSettles: unsettled + keysWithoutAnswer
    case .historyFollowsTable: evidence.chain
    case .secrecy: evidence.leaks
    case .sums: sums
    case .failureIsNotCharged: wronged
    }
  }
}

extension Auditor {
  private func repeated(_ names: [String]) -> [String] {
    Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.map { "\($0.key), \($0.value.count) times" }
  }

  private var doubles: [String] { repeated(evidence.holds.filter(\.stands).map(\.order)) }

  private var lost: [String] {
    let known = Set(authorizations.values.filter { payments[$0.payment]?.isLive == true }.map(\.reference))
    return evidence.holds.filter { $0.stands && !known.contains($0.reference) }.map { "hold \($0.reference)" }
  }

  private var phantoms: [String] {
    evidence.payments.filter { $0.authorized > 0 || $0.captured > 0 || $0.refunded > 0 }.compactMap { payment in
      guard let reference = authorizations[payment.id]?.reference, let hold = holds[reference] else {
        return "payment \(payment.id) has no hold"
      }
      let ours = [payment.authorized, payment.captured, payment.refunded]
      let theirs = [hold.authorized, hold.captured, hold.refunded]
      guard ours != theirs || payment.currency != hold.currency else { return nil }
      return "payment \(payment.id): \(ours) \(payment.currency) here, \(theirs) \(hold.currency) there"
    }
  }

  private var outOfBounds: [String] {
    evidence.payments.filter {
      !(0 <= $0.refunded && $0.refunded <= $0.captured && $0.captured <= $0.authorized && $0.authorized <= $0.amount)
    }.map { "payment \($0.id)" }
      + evidence.holds.filter {
        !(0 <= $0.refunded && $0.refunded <= $0.captured && $0.captured <= $0.authorized && $0.authorized <= $0.amount)
      }.map { "hold \($0.reference)" }
  }

  private var crowded: [String] {
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
      guard call.heard == .success || call.heard == .failure, let id = call.payment else { return nil }
      guard let payment = payments[id] else { return "payment \(id) is gone" }
      let failed = ["declined", "failed"].contains(payment.status)
      if call.heard == .success, failed || ["authorizing", "pending", "unknown"].contains(payment.status) {
        return "payment \(id) was told as a success and is \(payment.status)"
      }
      let isAlarmed = payment.alarm != nil
      guard isAlarmed || payment.captured >= call.captured && payment.refunded >= call.refunded else {
        return "payment \(id) has moved less money than was told"
      }
      return nil
    }
  }

  private var contradictions: [String] {
    let definite = evidence.calls.filter { $0.heard == .success || $0.heard == .failure }
    return Dictionary(grouping: definite) { "\($0.order), \($0.key)" }.compactMap { key, calls in
      let failed = Set(calls.filter { $0.heard == .failure }.map(\.payment))
      let paid = Set(calls.filter { $0.heard == .success }.map(\.payment))
      // Of a key that failed one may hear that the order is paid with another, for as long as it is.
      return failed.count > 1 || paid.count > 1 || !failed.isDisjoint(with: paid) ? key : nil
    }
  }

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
    for delivery in came where !first.contains(delivery.sequence) { first.append(delivery.sequence) }
    if first != first.sorted() { found.append("\(payment): came as \(first)") }
    for event in events {
      let copies = came.filter { $0.sequence == event.sequence }
      if copies.isEmpty { found.append("\(payment) \(event.sequence) never came") }
      if Set(copies.map(\.id)).count > 1 { found.append("\(payment) \(event.sequence) came under two ids") }
      if copies.contains(where: { $0.news != event.news }) { found.append("\(payment) \(event.sequence) changed") }
    }
    return found
  }

  private var unsettled: [String] {
    evidence.operations.filter(\.isOpen).map { "\($0.kind) \($0.reference) is \($0.state)" }
      + evidence.payments.filter { ["authorizing", "pending", "unknown"].contains($0.status) }
      .map { "payment \($0.id) is \($0.status)" }
      + evidence.payments.filter { $0.reserved != 0 }.map { "payment \($0.id) has \($0.reserved) reserved" }
      + evidence.payments.filter { $0.isCaptureDue && $0.status == "authorized" }
      .map { "payment \($0.id) owes a capture" }
  }

  private var sums: [String] {
    let here = Dictionary(grouping: evidence.payments, by: \.currency).mapValues { rows in
      rows.reduce(Int64(0)) { $0 + $1.captured - $1.refunded }
    }
    let there = Dictionary(grouping: evidence.holds, by: \.currency).mapValues { rows in
      rows.reduce(Int64(0)) { $0 + $1.captured - $1.refunded }
    }
    return Set(here.keys).union(there.keys).filter { here[$0] ?? 0 != there[$0] ?? 0 }
      .map { "\($0): \(here[$0] ?? 0) here, \(there[$0] ?? 0) there" }
  }

  /// Somebody was told failure of a payment, and something stands of it.
  private var wronged: [String] {
    let told = Set(
      evidence.calls.filter { $0.heard == .failure }.compactMap(\.payment)
        + evidence.payments.filter { $0.told == "failure" }.map(\.id))
    return told.compactMap { payment in
      guard let reference = authorizations[payment]?.reference, let hold = holds[reference] else { return nil }
      return hold.stands || hold.captured > hold.refunded ? "payment \(payment)" : nil
    }
  }
}

// Idempotency keys.
extension Auditor {
  private var replies: [String: [KeyedCall.Reply]] {
    Dictionary(grouping: evidence.keyed, by: \.key).mapValues { $0.compactMap(\.reply) }
  }

  private var forgottenOperations: [String] {
    let known = Set(evidence.operations.map(\.reference))
    return Set(evidence.keyed.compactMap { $0.reply?.operation }).subtracting(known).map { "operation \($0) is gone" }
  }

  /// Before its answer for good a key that pays may have told of the payment that held the order until then.
  private var keysWithTwoAnswers: [String] {
    let paying = Set(evidence.keyed.filter { $0.kind == "authorize" }.map(\.key))
    return replies.filter { key, replies in
      Set(replies.filter(\.isFinal).map(\.body)).count > 1
        || !paying.contains(key) && Set(replies.map(\.operation)).count > 1
    }.map { "key \($0.key)" }
  }

  /// Where a merchant uses keys, nothing is done that no key asked for, and nothing twice.
  private var callsWithoutKey: [String] {
    Dictionary(grouping: evidence.keyed) { [$0.payment, $0.kind] }.compactMap { subject, calls in
      let done = evidence.operations.filter {
        $0.payment == subject[0] && $0.kind == subject[1] && $0.cause == "merchant"
      }
      let keys = Set(calls.map(\.key))
      return done.count > keys.count ? "\(done.count) × \(subject[1]) of \(subject[0]), \(keys.count) keys" : nil
    }
  }

  private var keysWithoutAnswer: [String] {
    replies.filter { $0.value.last?.isFinal == false }.map { "key \($0.key) has no answer for good" }
  }
}
