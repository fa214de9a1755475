package import TenderPayments

/// What an acquirer's answer means to an operation, without its details.
package enum Outcome: String, Sendable, Hashable, CaseIterable {
  case approved, declined, pending, unknown
  /// Provably nothing happened: it never left, never arrived, or there was nothing to undo.
  case nothing
  /// Approved before, and taken back now.
  case returned

  package init(_ answer: AcquirerAnswer) {
    switch answer {
    case .approved: self = .approved
    case .declined: self = .declined
    case .pending: self = .pending
    case .unknown: self = .unknown
    case .notSent: self = .nothing
    }
  }
}

/// Everything that can happen to a payment after it was made.
package enum PaymentEvent: Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// An operation begins.
  case begins(OperationKind)
  /// The acquirer's word on it.
  case meets(OperationKind, Outcome)
  /// An operator's decision.
  case resolved(Resolution)

  package static let allCases: [PaymentEvent] =
    OperationKind.allCases.flatMap { kind in [.begins(kind)] + Outcome.allCases.map { .meets(kind, $0) } }
    + Resolution.allCases.map { .resolved($0) }

  /// As the audit chain writes it: `capture begins`, `capture approved`, `resolved voided`.
  package var description: String {
    switch self {
    case .begins(let kind): "\(kind.rawValue) begins"
    case .meets(let kind, let outcome): "\(kind.rawValue) \(outcome.rawValue)"
    case .resolved(let resolution): "resolved \(resolution.rawValue)"
    }
  }
}

/// Which events a payment may meet in which status, and where they lead: a table, and nothing else.
///
/// A pair of status and event that is not in it is refused, and the payment stays as it is.
package enum PaymentState {
  /// Where a payment goes.
  package enum Destination: Sendable, Hashable {
    case becomes(PaymentStatus)
    /// The status that the balances imply after the posting.
    case followsBalances
    case stays
  }

  package static func destination(from status: PaymentStatus, _ event: PaymentEvent) -> Destination? {
    table[status]?[event]
  }

  /// Whether the operation may be begun at all.
  package static func allows(_ kind: OperationKind, in status: PaymentStatus) -> Bool {
    destination(from: status, .begins(kind)) != nil
  }

  /// What a merchant may ask for in a status; for a refusal's text.
  package static func allowed(in status: PaymentStatus) -> [OperationKind] {
    [.capture, .void, .refund].filter { allows($0, in: status) }
  }

  package static let table: [PaymentStatus: [PaymentEvent: Destination]] = rows.reduce(into: [:]) { table, row in
    for status in row.from {
      for event in row.events { table[status, default: [:]][event] = row.to }
    }
  }

  private typealias Rule = (from: [PaymentStatus], events: [PaymentEvent], to: Destination)

  private static let rows: [Rule] =
    authorizing + reversing
    + [
      (open, [.resolved(.voided)], .becomes(.voided)), (open, [.resolved(.failed)], .becomes(.failed)),
      (held, [.begins(.capture), .begins(.void)], .stays),
      (held, [.meets(.capture, .approved), .meets(.void, .approved)], .followsBalances),
      (held, open(.capture) + open(.void), .stays),
      ([.authorized], [.begins(.increment)], .stays),
      (held + [.captured], [.meets(.increment, .approved)], .followsBalances),
      (held + [.captured], others(.increment), .stays),
      // Beside a final capture, what is refused is not free again: it is released.
      (held, refused(.capture) + refused(.void), .followsBalances),
      (taken, [.begins(.refund)], .stays),
      (taken, [.meets(.refund, .approved)], .followsBalances),
      (taken, others(.refund), .stays),
      // The acquirer returns an operation, perhaps days later.
      (taken, [.meets(.capture, .returned)], .followsBalances),
      ([.partiallyRefunded, .refunded], [.meets(.refund, .returned)], .followsBalances),
      // A dispute moves a balance of its own.
      (disputable, [.begins(.chargeback), .meets(.chargeback, .approved)], .stays),
      (disputable, [.begins(.chargebackReversal), .meets(.chargebackReversal, .approved)], .stays),
      // An operator has found out that the acquirer did what is open, or recorded as declined or failed, perhaps after
      // the hold was released here; or that it did not do what is open.
      (held + [.captured, .voided], [.resolved(.approved)], .followsBalances),
      (held + [.captured], [.resolved(.failed)], .followsBalances),
      // A void that an operator took for done was not: the money is held again.
      (held + [.captured, .voided], [.meets(.void, .returned)], .followsBalances),
    ]

  private static let authorizing: [Rule] = [
    (open, [.meets(.authorize, .approved)], .followsBalances),
    (open, [.meets(.authorize, .declined)], .becomes(.declined)),
    (open, [.meets(.authorize, .pending)], .becomes(.pending)),
    ([.authorizing, .unknown], [.meets(.authorize, .unknown)], .becomes(.unknown)),
    ([.pending], [.meets(.authorize, .unknown)], .stays),
    ([.authorizing, .unknown], [.meets(.authorize, .nothing)], .becomes(.failed)),
  ]

  /// A reversal ends an open payment as *voided* or *failed*. A payment that was reported as *failure*, and is found to
  /// be held after all, keeps its status.
  private static let reversing: [Rule] = [
    (open + over, [.begins(.reverse)], .stays),
    (open, [.meets(.reverse, .approved)], .becomes(.voided)),
    (open, [.meets(.reverse, .nothing)], .becomes(.failed)),
    (open, [.meets(.reverse, .declined), .meets(.reverse, .pending), .meets(.reverse, .unknown)], .stays),
    (over, [.meets(.reverse, .approved)] + others(.reverse), .stays),
  ]

  private static let open: [PaymentStatus] = [.authorizing, .pending, .unknown]
  private static let over: [PaymentStatus] = [.declined, .failed, .voided]
  /// Money may still be held. A part may have been captured and refunded while the rest is still held.
  private static let held: [PaymentStatus] = [.authorized, .partiallyCaptured, .partiallyRefunded, .refunded]
  private static let taken: [PaymentStatus] = [.captured, .partiallyCaptured, .partiallyRefunded]

  private static let disputable: [PaymentStatus] = taken + [.refunded]

  /// Every answer but an approval: the reservation is freed or kept.
  private static func others(_ kind: OperationKind) -> [PaymentEvent] { refused(kind) + open(kind) }

  private static func refused(_ kind: OperationKind) -> [PaymentEvent] {
    [Outcome.declined, .nothing].map { .meets(kind, $0) }
  }

  private static func open(_ kind: OperationKind) -> [PaymentEvent] {
    [Outcome.pending, .unknown].map { .meets(kind, $0) }
  }
}
