import Acquiring
import Synchronization
import TenderPayments

/// A defect that is planted between the engine and its store or its wire, to see that somebody notices. Mutants live
/// in this target alone, which no product contains: there is no switch in the engine that could be left on.
public struct Mutant: Sendable {
  public let name: String
  /// What the engine's SQL becomes.
  let dialect: @Sendable (String) -> String
  /// What the engine's acquirer becomes.
  let wiring: @Sendable (Acquirer) -> Acquirer
  /// Whether commits are acknowledged that the disk does not have yet.
  let forgets: Bool
  /// Nil where the defect is no text that must be found.
  private let planting: Planting?

  /// Whether the defect found its place. SQL that was rewritten since leaves a mutant that is none.
  public var isPlanted: Bool { planting?.isDone ?? true }

  /// Notes that a defect found its place.
  private final class Planting: Sendable {
    private let done = Mutex(false)
    var isDone: Bool { done.withLock { $0 } }
    func note() { done.withLock { $0 = true } }
  }

  init(
    _ name: String, forgets: Bool = false, dialect: @escaping @Sendable (String) -> String = { $0 },
    wiring: @escaping @Sendable (Acquirer) -> Acquirer = { $0 }
  ) {
    self.name = name
    self.forgets = forgets
    self.dialect = dialect
    self.wiring = wiring
    planting = nil
  }

  private init(_ name: String, replacing text: String, with other: String) {
    let planting = Planting()
    self.name = name
    self.planting = planting
    forgets = false
    wiring = { $0 }
    dialect = { sql in
      let changed = sql.replacing(text, with: other)
      if changed != sql { planting.note() }
      return changed
    }
  }

  private static func replacing(_ name: String, _ text: String, _ other: String) -> Mutant {
    Mutant(name, replacing: text, with: other)
  }

  public static let all: [Mutant] = inTheStore + onTheWire
}

extension Mutant {
  private static let inTheStore: [Mutant] = [
    Mutant("a commit is acknowledged before it is on the disk", forgets: true),
    replacing("the fence is ignored", "AND fence = $2", "AND $2 IS NOT NULL"),
    replacing(
      "an order may have two live payments", "CREATE UNIQUE INDEX payments_one_live_per_order",
      "CREATE INDEX payments_one_live_per_order"),
    replacing(
      "a payment token is remembered for one payment only", "VALUES ($1, $2, $3, $4)",
      "VALUES ($1 || $3, $2 || $3, $3, $4)"),
    replacing("what the shopper was told is not kept", "told = $14", "told = SUBSTR($14, 1, 0) || NULL"),
    replacing(
      "a webhook counts as delivered before it is sent", "UPDATE webhook_deliveries SET lease_until = $4",
      "UPDATE webhook_deliveries SET state = 'delivered', lease_until = $4"),
    replacing("webhooks of a payment overtake one another", "AND earlier.seq < due.seq", "AND earlier.seq < 0"),
    replacing(
      "the audit chain does not link", "DO UPDATE SET seq = $2, hash = $3", "DO UPDATE SET seq = $2, hash = $1"),
    replacing("a capture in flight is not reserved", "reserved_capture = $8", "reserved_capture = 0 * $8"),
    replacing("a refund in flight is not reserved", "reserved_refund = $10", "reserved_refund = 0 * $10"),
    replacing(
      "nobody minds that an undoing is under way", "kind = 'reverse' AND (state", "kind = 'none' AND (state"),
    Mutant(
      "a void is not remembered until it is answered",
      dialect: {
        $0.replacing("sent_until = $8", with: "sent_until = NULL")
          .replacing("SET sent_until = $2", with: "SET sent_until = NULL * $2")
      }),
    Mutant(
      "an idempotency key is forgotten",
      dialect: {
        $0.replacing("FROM idempotency WHERE", with: "FROM idempotency WHERE 1 = 0 AND")
          .replacing(
            "'running', $7, $8, $9) ON CONFLICT DO NOTHING",
            with: "'running', $7, $8, $9) ON CONFLICT (merchant, call, key) DO UPDATE SET operation = $6")
      }),
    replacing(
      "the answer of a key is not kept", "UPDATE idempotency SET state = 'done'",
      "UPDATE idempotency SET state = 'running'"),
    replacing(
      "recovery finds nothing that is open",
      "('sending', 'pending', 'unknown') AND next_try <= $1 AND lease_until <= $1",
      "('sending', 'pending', 'unknown') AND next_try <= $1 AND lease_until < 0 * $1"),
  ]

  private static let onTheWire: [Mutant] = [
    Mutant("a timeout is a decline", wiring: { $0.mutated(authorize: { _, answer in answer.orDeclined }) }),
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
  ]
}

extension Acquirer {
  /// The same acquirer with something changed on the way.
  fileprivate func mutated(
    before: @escaping @Sendable (AuthorizationRequest) -> AuthorizationRequest = { $0 },
    authorize change: @escaping @Sendable (AuthorizationRequest, AcquirerAnswer) async -> AcquirerAnswer = { $1 },
    inquire found: @escaping @Sendable (Inquiry) -> Inquiry = { $0 }, reversal: Reversal? = nil
  ) -> Acquirer {
    Acquirer(
      capabilities: capabilities,
      authorize: { await change($0, authorize(before($0), $1)) }, capture: capture, void: void, refund: refund,
      inquire: { found(await inquire($0, $1)) },
      reverse: { request, deadline in
        if let reversal { return reversal }
        return await reverse(request, deadline)
      })
  }
}

extension AcquirerAnswer {
  fileprivate static let refusal = AcquirerAnswer.declined(Decline(reason: .other, code: "05"))

  fileprivate var orDeclined: AcquirerAnswer { if case .unknown = self { .refusal } else { self } }

  fileprivate var orApproved: AcquirerAnswer {
    if case .pending(let pending) = self {
      .approved(Approval(acquirerReference: pending.acquirerReference))
    } else {
      self
    }
  }
}

extension Inquiry {
  fileprivate var orDeclined: Inquiry { if case .unavailable = self { .answer(.refusal) } else { self } }
  fileprivate var foundOrDeclined: Inquiry { if case .notFound = self { .answer(.refusal) } else { self } }
}
