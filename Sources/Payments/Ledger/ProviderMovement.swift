import Storage
package import TenderPayments

/// Money of a payment that moved without an operation of ours, as an event reports it.
struct ProviderMovement {
  let kind: MoneyMovement
  let amount: Amount
  /// The provider's name of what moved it; the event's where it gives none.
  let name: String
  /// The operation that the event names.
  let subject: Attempt

  /// The whole of what is left ended: a hold that expired, or was released.
  var endsHold: Bool { kind == .void || kind == .holdExpired }

  var operation: OperationKind {
    switch kind {
    case .capture: .capture
    case .void, .holdExpired: .void
    case .refund, .refundReturned: .refund
    case .chargeback: .chargeback
    case .chargebackReversed: .chargebackReversal
    }
  }
}

extension ProviderMovement {
  init?(_ event: ProviderEvent, _ subject: Attempt) {
    guard case .moved(let kind, let name) = event.outcome else { return nil }
    self.init(kind: kind, amount: event.amount, name: name ?? event.id, subject: subject)
  }
}

/// Whether an acquirer's name of an operation is known.
package enum NamedOperation: Sendable, Hashable {
  case known(AttemptReference)
  /// An operation of the route has no name yet: its answer may bring this one.
  case perhapsLater
  case unknown
}

extension Journal {
  package func operation(called name: String, through route: String) async throws -> NamedOperation {
    try await database.read { store in
      if let reference = try Operations.reference(called: name, through: route, in: store) { return .known(reference) }
      return try Operations.awaitsName(through: route, in: store) ? .perhapsLater : .unknown
    }
  }

  /// The route of an operation of ours.
  package func route(of operation: AttemptReference) async throws -> String? {
    try await database.read { try Operations.find(operation, in: $0)?.attempt.route }
  }

  /// The first of the routes whose acquirer calls an operation of ours by this name.
  package func route(ofOperationCalled name: String, among routes: [String]) async throws -> String? {
    try await database.read { store in
      try routes.first { try Operations.reference(called: name, through: $0, in: store) != nil }
    }
  }

  /// The reversal of an authorization that an acquirer calls by this name.
  ///
  /// Where the answer that gave the name was lost, what is done is the answer to the newest reversal.
  package func reversal(
    of authorization: AttemptReference, called name: String, isDone: Bool, through route: String
  ) async throws -> NamedOperation {
    try await database.read { store in
      if let reference = try Operations.reference(called: name, through: route, in: store) { return .known(reference) }
      guard isDone, let (target, _) = try Operations.find(authorization, in: store), target.route == route,
        let reference = try Operations.newestReversal(of: authorization, in: store)
      else { return try Operations.awaitsName(through: route, in: store) ? .perhapsLater : .unknown }
      return .known(reference)
    }
  }

  /// The newest operation of a kind that an acquirer calls by this name.
  package func reference(
    of kind: OperationKind, called name: String, through route: String
  ) async throws -> AttemptReference? {
    try await database.read { store in
      try store.row(
        """
        SELECT reference FROM operations WHERE acquirer_reference = $1 AND route = $2 AND kind = $3
        ORDER BY number DESC LIMIT 1
        """, .text(name), .text(route), .text(kind.rawValue))?.value("reference")
    }
  }

  /// Books a movement as an approved operation of the provider's, which the balances and the merchant's events follow.
  ///
  /// While an operation of ours may still take the same money, or the event of an earlier movement may be missing, the
  /// sender has to repeat the event. What the balances do not allow raises an alarm, and stays in the inbox.
  func book(
    _ movement: ProviderMovement?, of before: PaymentRecord, notBefore time: Timestamp?, in store: Transaction
  ) throws -> InboxVerdict {
    guard let movement else { return .known }
    guard before.balances.status.isResolved else { return .early(AlarmReason.movedElsewhere.rawValue) }
    if movement.kind == .refundReturned { return try bookReturn(movement, before, notBefore: time, in: store) }
    let adopted = try Operations.findAdoptedAmount(
      of: movement.operation, called: movement.name, near: movement.amount.minorUnits, of: before.payment.id, in: store)
    if let adopted {
      // A listing gave it back after a restore, before its event came.
      guard movement.endsHold || adopted == movement.amount.minorUnits else {
        return try contradict(movement, before, in: store)
      }
      return .known
    }
    if movement.endsHold, before.balances.authorized == before.balances.captured { return .known }
    // The money that a report or the orders gave back, or other money: a person has to look.
    let (kind, amount, payment) = (movement.operation, movement.amount.minorUnits, before.payment.id)
    if try Operations.hasAdoptedWithoutName(kind, amount, of: payment, in: store) {
      return try contradict(movement, before, in: store)
    }
    switch try OrdersPot.check(
      kind, called: movement.name, amount, endsHold: movement.endsHold, of: payment, in: store)
    {
    case .taken: return .known
    case .exceeded: return try contradict(movement, before, in: store)
    case .untouched: break
    }
    do {
      return .applied(try book(movement, before, in: store))
    } catch JournalError.inFlight {
      return .early(AlarmReason.movedElsewhere.rawValue)
    } catch is JournalError {
      return try tooEarly(movement, before, in: store)
    }
  }

  /// The balances do not allow the movement. They may when the event of the one before it has come: a chargeback may
  /// overtake the capture. The alarm is raised, because that event may never come.
  private func tooEarly(
    _ movement: ProviderMovement, _ before: PaymentRecord, in store: Transaction
  ) throws -> InboxVerdict {
    guard movement.amount.currency == before.payment.amount.currency, movement.amount.isPositive,
      movement.amount.minorUnits <= movement.mostToCome(before.balances)
    else { return try contradict(movement, before, in: store) }
    // What is in flight here ends without a person.
    if before.balances.reservedCapture == 0, before.balances.reservedRefund == 0 {
      try raiseOrNote(.movedElsewhere, before, in: store)
    }
    return .early(AlarmReason.movedElsewhere.rawValue)
  }

  private func book(
    _ movement: ProviderMovement, _ before: PaymentRecord, in store: Transaction
  ) throws -> Payment {
    let kind = movement.operation
    let amount = try before.validated(movement.amountToBook(before.balances), for: kind)
    let attempt = newAttempt(
      kind, amount, of: before, cause: .provider, undoing: try refundedCapture(kind, amount, before, in: store), store)
    let reserved = try Posting.reserve(attempt.movement, on: before.balances)
    let posted = try Posting.post(.approved, of: attempt.movement, on: reserved)
    try Operations.insert(attempt, owner: owner, lease: Timestamp(seconds: 0), firstTry: store.now, in: store)
    _ = try Operations.close(attempt, with: .approved(Approval(acquirerReference: movement.name)), in: store)
    var after = before.moved(to: try closeHold(posted, attempt, in: store), at: store.now)
    if movement.kind == .holdExpired, before.captureMode == .immediate, posted.captured == 0 {
      after.raise(.uncapturedHoldEnded)
    }
    return try save(
      after, over: before, .meets(kind, .approved), of: attempt.reference,
      saying: "\(movement.kind.rawValue) by the provider, \(movement.name)", in: store)
  }

  private func refundedCapture(
    _ kind: OperationKind, _ amount: Amount, _ payment: PaymentRecord, in store: Transaction
  ) throws -> AttemptReference? {
    guard kind == .refund else { return nil }
    return try RefundableCapture.all(of: payment.payment.id, in: store).named(by: amount.minorUnits)?.reference
  }

  /// A refund came back: the one of that name, or else the newest of that amount. It comes back once, however many events
  /// say so.
  private func bookReturn(
    _ movement: ProviderMovement, _ before: PaymentRecord, notBefore time: Timestamp?, in store: Transaction
  ) throws -> InboxVerdict {
    if try Operations.isReturned(called: movement.name, of: before.payment.id, in: store) { return .known }
    guard
      let reference = try Operations.refund(called: movement.name, movement.amount, of: before.payment.id, in: store),
      let refund = try Operations.find(reference, in: store)?.attempt
    else { return try tooEarly(movement, before, in: store) }
    return try postReturn(refund, before, notBefore: time, in: store)
  }

  private func contradict(
    _ movement: ProviderMovement, _ before: PaymentRecord, in store: Transaction
  ) throws -> InboxVerdict {
    try remark(
      AuditEntry.refusedMovement, "\(movement.kind.rawValue) of \(movement.amount), \(movement.name)",
      on: before.payment.id, in: store)
    return try contradict(.movedElsewhere, before, in: store)
  }
}

extension ProviderMovement {
  /// Nil for all that is left of a hold: providers name the authorized amount, also where a part was captured.
  fileprivate func amountToBook(_ balances: Balances) -> Amount? {
    endsHold && (kind == .holdExpired || amount.minorUnits >= balances.free) ? nil : amount
  }

  /// What of it could be booked if the movements before it had all been reported: the rest of the hold captured, and
  /// what is captured refunded or charged back.
  fileprivate func mostToCome(_ balances: Balances) -> Int64 {
    switch kind {
    case .capture, .void, .holdExpired: 0
    case .refund, .refundReturned, .chargeback: balances.authorized - balances.refunded - balances.chargedBack
    case .chargebackReversed: balances.authorized - balances.refunded
    }
  }
}

extension Operations {
  fileprivate static func isReturned(
    called name: String, of payment: PaymentID, in store: Transaction
  ) throws -> Bool {
    try store.row(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND kind = 'refund' AND state = 'returned' AND acquirer_reference = $2
      """, .text(payment.rawValue), .text(name)) != nil
  }

  /// An approved refund of the amount: the one that the acquirer calls by this name, or else the provider's own before
  /// ours, the newest first.
  fileprivate static func refund(
    called name: String, _ amount: Amount, of payment: PaymentID, in store: Transaction
  ) throws -> AttemptReference? {
    try store.row(
      """
      SELECT reference FROM operations WHERE payment = $1 AND kind = 'refund' AND state = 'approved' AND amount = $2
      ORDER BY CASE WHEN acquirer_reference = $3 THEN 0 WHEN cause = 'provider' THEN 1 ELSE 2 END, number DESC LIMIT 1
      """, .text(payment.rawValue), .integer(amount.minorUnits), .text(name))?.value("reference")
  }
}
