import Acquiring
import Foundation
import Storage
import Synchronization
import TenderPayments

/// A defect between the engine and its store or its network, which an invariant must detect. Mutants are in this target
/// alone, which no product contains: the engine has no switch that could be left on.
package struct Mutant: Sendable {
  package let name: String
  /// What the engine's SQL becomes.
  let dialect: @Sendable (String) -> String
  /// What the engine's acquirer becomes.
  let wiring: @Sendable (Acquirer) -> Acquirer
  /// What becomes of the acquirers of several routes, in the order of the configuration.
  let routing: @Sendable ([Acquirer]) -> [Acquirer]
  /// What becomes of the row lock of a statement, where several processes share the store.
  let locking: @Sendable (RowLock, String) -> RowLock
  /// What is wrong around the engine; nil where the defect lies in a text or an answer.
  let defect: Defect?
  /// Nil where the defect is no text that must be found.
  private let injection: Injection?

  /// Whether the defect was injected. SQL that was rewritten since no longer matches the mutant's text.
  package var isInjected: Bool { injection?.isDone ?? true }

  enum Defect: Sendable {
    /// Commits are acknowledged that the disk does not have yet.
    case forgetsCommits
    /// An approval that comes as an event is dropped.
    case dropsApprovals
    /// The time that only counts follows the wall clock.
    case believesWallClock
    /// No alarm is raised about an outcome that stays open.
    case callsNobody
    /// An event counts as one of the route that its operation has.
    case believesAnyRoute
    /// Reads are answered by a standby that lags behind.
    case believesStandby
    /// A commit whose outcome is unknown counts as done.
    case believesCommits
    /// A commit whose outcome is unknown counts as not done.
    case believesLosses
  }

  /// Notes that a defect was injected.
  private final class Injection: Sendable {
    private let done = Mutex(false)
    var isDone: Bool { done.withLock { $0 } }
    func note() { done.withLock { $0 = true } }
  }

  init(
    _ name: String, _ defect: Defect? = nil, dialect: @escaping @Sendable (String) -> String = { $0 },
    wiring: @escaping @Sendable (Acquirer) -> Acquirer = { $0 },
    routing: @escaping @Sendable ([Acquirer]) -> [Acquirer] = { $0 },
    locking: @escaping @Sendable (RowLock, String) -> RowLock = { lock, _ in lock }
  ) {
    self.name = name
    self.routing = routing
    self.locking = locking
    self.defect = defect
    self.dialect = dialect
    self.wiring = wiring
    injection = nil
  }

  private init(_ name: String, replacing text: String, with other: String) {
    let injection = Injection()
    self.name = name
    self.injection = injection
    defect = nil
    wiring = { $0 }
    routing = { $0 }
    locking = { lock, _ in lock }
    dialect = { sql in
      let changed = Self.replacing(text, with: other, in: sql)
      if changed != sql { injection.note() }
      return changed
    }
  }

  /// Replaces a text. Each `$#` in it stands for any one parameter; `$#1` in what takes its place is the first of them.
  /// So a mutant still finds its place when a column is added.
  private static func replacing(_ text: String, with other: String, in sql: String) -> String {
    let parts = text.components(separatedBy: "$#")
    var (done, rest) = ("", Substring(sql))
    while let place = rest.firstRange(of: parts[0]) {
      done += rest[..<place.lowerBound]
      guard let (parameters, tail) = match(parts.dropFirst(), rest[place.upperBound...]) else {
        done += rest[place]
        rest = rest[place.upperBound...]
        continue
      }
      done += parameters.enumerated().reduce(other) { $0.replacing("$#\($1.offset + 1)", with: $1.element) }
      rest = tail
    }
    return done + rest
  }

  /// The parameters that stand before each of the texts, and what comes after the last.
  private static func match(_ parts: ArraySlice<String>, _ text: Substring) -> ([String], Substring)? {
    var (found, rest): ([String], Substring) = ([], text)
    for part in parts {
      let number = rest.dropFirst().prefix { $0.isNumber }
      guard rest.first == "$", !number.isEmpty else { return nil }
      let tail = rest[number.endIndex...]
      guard tail.hasPrefix(part) else { return nil }
      found.append("$\(number)")
      rest = tail.dropFirst(part.count)
    }
    return (found, rest)
  }

  private static func replacing(_ name: String, _ text: String, _ other: String) -> Mutant {
    Mutant(name, replacing: text, with: other)
  }

  package static let all: [Mutant] = inTheStore + aroundCommits + onTheWire + aroundTheEngine + betweenNodes

  /// Whether only several processes on one store show it.
  package var needsNodes: Bool { Self.betweenNodes.contains { $0.name == name } }
}

extension Mutant {
  private static let inTheStore: [Mutant] = [
    Mutant("a commit is acknowledged before it is on the disk", .forgetsCommits),
    replacing(
      "an order may have two live payments", "CREATE UNIQUE INDEX payments_one_live_per_order",
      "CREATE INDEX payments_one_live_per_order"),
    replacing(
      "a payment token is remembered for one payment only", "payload_hash, payment, used_at) SELECT $#, $#, $#, $#",
      "payload_hash, payment, used_at) SELECT $#1 || $#3, $#2 || $#3, $#3, $#4"),
    replacing(
      "the reported outcome is not kept", "reported_outcome = $#",
      "reported_outcome = SUBSTR($#1, 1, 0) || NULL"),
    replacing(
      "a webhook counts as delivered before it is sent", "UPDATE webhook_deliveries SET lease_until = $#",
      "UPDATE webhook_deliveries SET state = 'delivered', lease_until = $#1"),
    replacing("webhooks of a payment overtake one another", "AND earlier.seq < due.seq", "AND earlier.seq < 0"),
    replacing(
      "the audit chain does not link", "hash = $#", "hash = SUBSTR($#1, 1, 0) || 'none'"),
    replacing("a capture in flight is not reserved", "reserved_capture = $#", "reserved_capture = 0 * $#1"),
    replacing("a refund in flight is not reserved", "reserved_refund = $#", "reserved_refund = 0 * $#1"),
    replacing(
      "a reversal under way is ignored", "kind = 'reverse' AND (state", "kind = 'none' AND (state"),
    replacing("a void is not remembered until it is answered", "sent_until = $#", "sent_until = NULL * $#1"),
    Mutant(
      "an idempotency key is forgotten",
      dialect: {
        replacing(
          "lease_until, created_at, expires_at) VALUES ($#, $#, $#, $#, $#, $#, $#, $#, $#) ON CONFLICT DO NOTHING",
          with: """
            lease_until, created_at, expires_at) VALUES ($#1, $#2, $#3, $#4, $#5, $#6, $#7, $#8, $#9)
            ON CONFLICT (merchant, call, key) DO UPDATE SET operation = excluded.operation
            """, in: $0.replacing("FROM idempotency WHERE", with: "FROM idempotency WHERE 1 = 0 AND"))
      }),
    replacing(
      "an authorization is sent before the name of its token is stored", "prepared_reference = $#",
      "prepared_reference = SUBSTR($#1, 1, 0) || NULL"),
    replacing("a refused immediate capture is forgotten", "capture_due = $#", "capture_due = NULL * $#1"),
    replacing(
      "a repeat is answered as the payment stands now", "FROM audit WHERE payment = $# ORDER BY version, seq",
      "FROM audit WHERE payment = $#1 ORDER BY version DESC, seq DESC"),
    Mutant(
      "a period of an agreement gets another order with each charge",
      dialect: {
        replacing(
          "due_at, created_at) VALUES ($#, $#, $#, $#, $#)\nON CONFLICT DO NOTHING",
          with: """
            due_at, created_at) VALUES ($#1, $#2, $#3, $#4, $#5)
            ON CONFLICT (agreement, period) DO UPDATE SET order_id = excluded.order_id
            """, in: $0.replacing("basket TEXT NOT NULL UNIQUE", with: "basket TEXT NOT NULL"))
      }),
    replacing(
      "the end of an agreement is not kept", "UPDATE agreements SET status = $#",
      "UPDATE agreements SET status = CASE WHEN $#1 = 'ended' THEN 'active' ELSE $#1 END"),
    replacing(
      "the agreements of an unlinked merchant token are not found", "merchant = $# AND merchant_token = $# ORDER BY id",
      "merchant = $#1 AND merchant_token = $#2 || 'x' ORDER BY id"),
    replacing(
      "the declines of an agreement are forgotten", "operations.state IN ('declined', 'sending', 'pending', 'unknown')",
      "operations.state IN ('none')"),
    replacing(
      "recovery finds nothing that is open",
      "('sending', 'pending', 'unknown') AND next_try <= $# AND lease_until <= $#",
      "('sending', 'pending', 'unknown') AND next_try <= $#1 AND lease_until < 0 * $#2"),
  ]

  /// In what the group commit runs around the writes that share one.
  private static let aroundCommits: [Mutant] = [
    replacing("a refused write keeps what it wrote beside others", "ROLLBACK TO job", "SELECT 1"),
    Mutant(
      "a refused write takes those before it in its commit along",
      dialect: {
        switch $0 {
        case "BEGIN IMMEDIATE": "SAVEPOINT batch"
        case "ROLLBACK TO job": "ROLLBACK TO batch"
        // The savepoint of that name is gone then.
        case "RELEASE job": "SAVEPOINT rest"
        default: $0
        }
      }),
  ]

  private static let aroundTheEngine: [Mutant] = [
    Mutant("an approval that comes late is dropped", .dropsApprovals),
    Mutant("a clock that was set is believed", .believesWallClock),
    Mutant("no alarm is raised about an open outcome", .callsNobody),
    Mutant("an event is believed whatever its route", .believesAnyRoute),
  ]

  private static let onTheWire: [Mutant] = [
    Mutant("the acquirer that is configured is asked, whatever is stored", wiring: { $0.named("simulated") }),
    Mutant("a refused void counts as done", wiring: { $0.mutated(void: { $0.orHoldEnded }) }),
    Mutant("a timeout is a decline", wiring: { $0.mutated(authorize: { _, answer in answer.orDeclined }) }),
    Mutant(
      "an approval for less is an approval of the whole",
      wiring: { $0.mutated(authorize: { _, answer in answer.ofTheWhole }, inquire: { $0.ofTheWhole }) }),
    Mutant("an inquiry without an answer is a decline", wiring: { $0.mutated(inquire: { $0.orDeclined }) }),
    Mutant("not found is believed at once", wiring: { $0.mutated(inquire: { $0.foundOrDeclined }) }),
    Mutant(
      "an authorization is sent again under another reference",
      wiring: { acquirer in
        acquirer.mutated(authorize: { request, answer in
          guard case .unknown = answer else { return answer }
          let again = AuthorizationRequest(
            reference: AttemptReference("\(request.reference)-2"), merchantReference: request.merchantReference,
            amount: request.amount, instrument: request.instrument)
          return await acquirer.authorize(again, .after(.seconds(5)))
        })
      }),
    Mutant(
      "yen have two decimals",
      wiring: { acquirer in
        acquirer.mutated(before: { request in
          guard request.amount.currency.code == "JPY" else { return request }
          return AuthorizationRequest(
            reference: request.reference, merchantReference: request.merchantReference,
            amount: Amount(minorUnits: request.amount.minorUnits * 100, currency: request.amount.currency),
            instrument: request.instrument)
        })
      }),
    Mutant("pending is an approval", wiring: { $0.mutated(authorize: { _, answer in answer.orApproved }) }),
    Mutant("a reversal is believed and not sent", wiring: { $0.mutated(reversal: .reversed) }),
    Mutant(
      "a payment fails over after a timeout",
      routing: { acquirers in
        guard acquirers.count > 1 else { return acquirers }
        return acquirers.map { $0.mutated(authorize: { _, answer in answer.orNotSent }) }
      }),
    Mutant(
      "a capture, void or refund takes the first route",
      routing: { acquirers in acquirers.map { $0.followedUp(by: acquirers[0]) } }),
    Mutant(
      "an authorization is repeated where the acquirer has no idempotency key",
      wiring: { $0.stating(at: "braintree") { $0.authorizationIdempotency = .reference(window: .seconds(86_400)) } }),
    Mutant("an accepted reversal counts as done", wiring: { $0.mutated(reversed: { $0.orReversed }) }),
    Mutant(
      "an authorization is repeated under a key that was forgotten with its error",
      wiring: {
        $0.stating(at: "checkout-com") { $0.authorizationIdempotency = .reference(window: .seconds(86_400)) }
      }),
    Mutant(
      "a repeat counts as an inquiry when its key is forgotten",
      wiring: { $0.stating(at: "worldline-direct") { $0.idempotency = .reference(window: .seconds(86_400 * 365)) } }),
    Mutant(
      "an authorization that is not there yet counts as reversed",
      wiring: { acquirer in
        guard acquirer.capabilities.name == "worldline-acquiring" else { return acquirer }
        return acquirer.mutated(reversed: { $0 == .nothingFound ? .reversed : $0 })
      }),
    Mutant(
      "a pending refund counts as done",
      wiring: { $0.capabilities.name == "stripe" ? $0.mutated(refund: { $0.orApproved }) : $0 }),
  ]
}

extension Acquirer {
  /// The same acquirer with something changed on the way.
  fileprivate func mutated(
    before: @escaping @Sendable (AuthorizationRequest) -> AuthorizationRequest = { $0 },
    authorize change: @escaping @Sendable (AuthorizationRequest, AcquirerAnswer) async -> AcquirerAnswer = { $1 },
    void answer: @escaping @Sendable (AcquirerAnswer) -> AcquirerAnswer = { $0 },
    refund refunded: @escaping @Sendable (AcquirerAnswer) -> AcquirerAnswer = { $0 },
    inquire found: @escaping @Sendable (Inquiry) -> Inquiry = { $0 }, reversal: Reversal? = nil,
    reversed: @escaping @Sendable (Reversal) -> Reversal = { $0 }
  ) -> Acquirer {
    var mutated = self
    mutated.authorize = { [authorize] in await change($0, authorize(before($0), $1)) }
    mutated.void = { [void] in answer(await void($0, $1)) }
    mutated.refund = { [refund] in refunded(await refund($0, $1)) }
    mutated.inquire = { [inquire] in found(await inquire($0, $1)) }
    mutated.reverse = { [reverse] in reversed(await reverse($0, $1)) }
    if let reversal { mutated.reverse = { _, _ in reversal } }
    return mutated
  }

  /// The same acquirer, of which other capabilities are stated if it is this connector's.
  fileprivate func stating(
    at connector: String, _ change: (inout AcquirerCapabilities) -> Void
  ) -> Acquirer {
    guard capabilities.name == connector else { return self }
    var mutated = self
    change(&mutated.capabilities)
    return mutated
  }

  /// The same acquirer, whose authorizations are captured, voided and refunded by another.
  fileprivate func followedUp(by other: Acquirer) -> Acquirer {
    var mutated = self
    (mutated.capture, mutated.void, mutated.refund) = (other.capture, other.void, other.refund)
    return mutated
  }

  /// The same acquirer under another one's name.
  fileprivate func named(_ name: String) -> Acquirer {
    guard capabilities.name.hasPrefix(name) else { return self }
    var named = self
    named.capabilities = capabilities.called(name)
    return named
  }
}

extension AcquirerAnswer {
  fileprivate static let refusal = AcquirerAnswer.declined(Decline(reason: .other, code: "05"))

  fileprivate var orDeclined: AcquirerAnswer { if case .unknown = self { .refusal } else { self } }

  fileprivate var orNotSent: AcquirerAnswer { if case .unknown = self { .notSent("a timeout") } else { self } }

  /// Without the amount that was approved.
  fileprivate var ofTheWhole: AcquirerAnswer {
    guard case .approved(let approval) = self else { return self }
    return .approved(
      Approval(
        acquirerReference: approval.acquirerReference, authorizationCode: approval.authorizationCode,
        networkTransactionID: approval.networkTransactionID))
  }

  fileprivate var orHoldEnded: AcquirerAnswer {
    if case .declined = self { .declined(Decline(reason: .holdEnded, code: "25")) } else { self }
  }

  fileprivate var orApproved: AcquirerAnswer {
    if case .pending(let pending) = self {
      .approved(Approval(acquirerReference: pending.acquirerReference))
    } else {
      self
    }
  }
}

extension Reversal {
  fileprivate var orReversed: Reversal { if case .accepted = self { .reversed } else { self } }
}

extension Inquiry {
  fileprivate var ofTheWhole: Inquiry {
    if case .answer(let answer) = self { .answer(answer.ofTheWhole) } else { self }
  }

  fileprivate var orDeclined: Inquiry { if case .unavailable = self { .answer(.refusal) } else { self } }
  fileprivate var foundOrDeclined: Inquiry { if case .notFound = self { .answer(.refusal) } else { self } }
}
