import Storage
package import TenderPayments

/// What became of an operation that is listed and was lost here.
package enum Adoption: Sendable, Hashable {
  /// The journal has it.
  case known
  /// It is older than the backup, so it was not lost with it.
  case older
  case adopted(PaymentID)
  /// The balances of the payment do not allow it. An alarm is raised.
  case contradicted(PaymentID)
  /// It has to be asked for again: the provider has not decided, or an operation of the payment is open here.
  case later
  /// It names no authorization that is known here or was adopted.
  case ofNoPayment
  /// It was refused, so that it moved nothing.
  case declined
}

/// What became of a line, and what the journal had of it.
private struct AdoptedLine: Sendable {
  let adoption: Adoption
  let answers: [String]

  init(_ adoption: Adoption, answeredBy answers: [String] = []) { (self.adoption, self.answers) = (adoption, answers) }
}

extension MerchantID {
  /// Whose a lost payment is where several merchants may have made it. No merchant has this id.
  package static let unknown = MerchantID("unknown")
}

/// Adopts what a provider did and a restored store has lost: a row of the journal for each operation, with the cause
/// `restore`.
extension Journal {
  /// Adopts the lines of one report or listing, each in a commit of its own.
  ///
  /// - Parameter merchant: whose a payment is that is lost.
  package func adopt(
    _ lines: [ListedOperation], through route: String, merchant: MerchantID
  ) async throws -> [Adoption] {
    guard let restore else { return lines.map { _ in .older } }
    var batch = ListedBatch(lines)
    var adoptions: [Adoption] = []
    for listed in lines {
      let line = try await database.write { [batch] store in
        try adopt(listed, beside: batch, through: route, merchant, restore, in: store)
      }
      batch.note(listed, answeredBy: line.answers)
      adoptions.append(line.adoption)
    }
    return adoptions
  }

  private func adopt(
    _ listed: ListedOperation, beside batch: ListedBatch, through route: String, _ merchant: MerchantID,
    _ restore: RestoredStore, in store: Transaction
  ) throws -> AdoptedLine {
    if let answered = try answer(listed, through: route, in: store) { return AdoptedLine(answered) }
    if let known = try findKnown(listed, in: store) { return AdoptedLine(known) }
    guard listed.result != .declined else { return AdoptedLine(.declined) }
    let found = try listed.kind == .authorize ? nil : Operations.payment(of: listed, through: route, in: store)
    if let time = listed.ownTime(at: store.now), try restore.isKept(time, on: route, in: store) {
      return AdoptedLine(.older)
    }
    if listed.kind == .authorize {
      guard listed.result != .pending else { return AdoptedLine(.later) }
      if listed.isReversed {
        try noteReversed(listed, through: route, in: store)
        return AdoptedLine(.known)
      }
      return AdoptedLine(try adoptPayment(listed, through: route, merchant, restore, in: store))
    }
    guard let found else { return AdoptedLine(listed.result == .pending ? .later : .ofNoPayment) }
    if listed.kind == .reverse, listed.result == .approved,
      let (authorization, state) = try Operations.find(listed.reference, in: store), state.isOpen
    {
      return AdoptedLine(try reverse(authorization, listed, restore, in: store))
    }
    return try adopt(listed, of: found.id, isNamed: found.isNamed, beside: batch, restore, in: store)
  }

  /// What is listed under a reference that an operation has here. Another kind under it is no operation of ours.
  private func findKnown(_ listed: ListedOperation, in store: Transaction) throws -> Adoption? {
    guard listed.kind != .reverse, let known = try Operations.find(listed.reference, in: store)?.attempt else {
      return nil
    }
    let isSame = known.kind == listed.kind || known.kind.endsHold && listed.kind.endsHold
    guard !isSame, listed.result == .approved else { return .known }
    return try contradict(listed, PaymentRecord.lock(known.payment, in: store), in: store)
  }

  /// Records what the provider decided about an operation that is open here: it may have said so to the server that is
  /// lost, and not say it again.
  ///
  /// - Returns: nil where none is open, where the provider has not decided it, and for an authorization that was reversed
  ///   since.
  private func answer(_ listed: ListedOperation, through route: String, in store: Transaction) throws -> Adoption? {
    let isUndone = listed.kind == .authorize && listed.isReversed
    guard listed.result != .pending, !isUndone,
      let open = try Operations.findOpen(listed, through: route, in: store)
    else { return nil }
    let name = listed.name ?? open.acquirerReference ?? ""
    // For the end of a hold providers name the authorized amount, also where a part was captured.
    let event = ProviderEvent(
      route: route, id: "listed", reference: open.reference, amount: listed.endsHold ? open.amount : listed.amount,
      outcome: listed.result == .approved
        ? .approved(Approval(acquirerReference: name)) : .declined(Decline(reason: .other, code: "listed")))
    switch try post(event, notBefore: nil, in: store) {
    case .applied: return .adopted(open.payment)
    // Another node has recorded it meanwhile.
    case .known: return .known
    case .contradicted, .refused, .early: return .contradicted(open.payment)
    }
  }

  /// Adopts what a merchant's orders say of a payment beyond its balances here. A capture, void or refund that is open here
  /// counts as done: its own answer decides it.
  package func adopt(
    _ order: OrderBalances, through route: String, merchant: MerchantID
  ) async throws -> [Adoption] {
    guard let restore else { return [] }
    return try await database.write { store in
      var adoptions: [Adoption] = []
      let id = order.payment
      let held = max(order.authorized.minorUnits, order.captured.minorUnits)
      if try store.row("SELECT id FROM payments WHERE id = $1", .text(id.rawValue)) == nil {
        guard held > 0 else { return [] }
        let amount = Amount(minorUnits: held, currency: order.authorized.currency)
        let listed = ListedOperation(
          reference: AttemptReference(id.rawValue), kind: .authorize, amount: amount, time: restore.lostFrom,
          name: order.name)
        if let time = listed.ownTime(at: store.now), try restore.isKept(time, on: route, in: store) {
          return [.older]
        }
        adoptions.append(try adoptPayment(listed, through: route, merchant, restore, in: store))
        guard adoptions == [.adopted(id)] else { return adoptions }
      }
      var before = try PaymentRecord.lock(id, in: store)
      guard before.route == route else { return [.ofNoPayment] }
      if !before.balances.status.isResolved, held > 0 {
        // What is held no more was released since.
        let asked = max(held, before.payment.amount.minorUnits)
        let listed = ListedOperation(
          reference: AttemptReference(id.rawValue), kind: .authorize,
          amount: Amount(minorUnits: asked, currency: order.authorized.currency), time: restore.lostFrom,
          name: order.name)
        if let answered = try answer(listed, through: route, in: store) { adoptions.append(answered) }
        before = try PaymentRecord.lock(id, in: store)
      }
      guard before.balances.status.isResolved else { return adoptions + [.later] }
      for listed in order.operations(beyond: before.balances, held, restore) {
        let record = try PaymentRecord.lock(id, in: store)
        let isEnded = listed.endsHold && record.balances.free <= 0
        adoptions.append(
          try isEnded ? .known : bookOrContradict(listed, record, restore, isOfOrders: true, in: store))
      }
      try renew(order, held, in: store)
      return adoptions
    }
  }

  /// Orders that say what the journal has say it of all until now.
  private func renew(_ order: OrderBalances, _ held: Int64, in store: Transaction) throws {
    let known = try PaymentRecord.lock(order.payment, in: store).balances
    let said: [(kind: OperationKind, isAll: Bool)] = [
      (.capture, order.captured.minorUnits == known.captured.addingClamped(known.reservedCapture)),
      (.refund, order.refunded.minorUnits == known.refunded.addingClamped(known.reservedRefund)),
      (.void, held == known.authorized.subtractingClamped(known.reservedVoid)),
    ]
    for kind in said where kind.isAll { try OrdersPot.renew(kind.kind, of: order.payment, in: store) }
  }

  /// Whether a merchant has payments on a route that others have none on.
  package func isOnlyMerchant(_ merchant: MerchantID, of route: String) async throws -> Bool {
    try await database.read { store in
      try store.row(
        "SELECT id FROM payments WHERE route = $1 AND merchant <> $2 AND merchant <> $3 LIMIT 1", .text(route),
        .text(merchant.rawValue), .text(MerchantID.unknown.rawValue)) == nil
    }
  }

  /// Since when a listing must reach back: what moves a hold that is older than the backup may be found with the hold.
  package func listingStart(of route: String) async throws -> Timestamp? {
    guard let restore else { return nil }
    return try await database.read { store in
      let start = try restore.lostFrom(on: route, in: store).adding(.zero - RestoredStore.clockMargin)
      let oldest = try store.row(
        "SELECT MIN(created_at) AS oldest FROM payments WHERE route = $1 AND live = 1 AND authorized > captured",
        .text(route))?.timeOrNil("oldest")
      return min(start, oldest.map { $0.adding(.zero - RestoredStore.clockMargin) } ?? start)
    }
  }

  /// The lost payment as an authorization that was approved. Its order is not known here, so an operator has to look.
  private func adoptPayment(
    _ listed: ListedOperation, through route: String, _ merchant: MerchantID, _ restore: RestoredStore,
    in store: Transaction
  ) throws -> Adoption {
    // Another program's, on the same account.
    guard listed.isOurs(at: store.now) else { return .ofNoPayment }
    let id = PaymentID(listed.reference.rawValue)
    let order = Order(
      id: OrderID("restored-\(id)"), merchant: merchant, basket: BasketID("restored-\(id)"), amount: listed.amount,
      applicationDataHash: [], merchantReference: "restored-\(id)", capture: .manual)
    let terms = ClaimTerms(route: route, amountConfirmed: false, holdUntil: store.now.adding(Self.usualHold))
    guard
      try store.first(
        PaymentRecord.insertion(of: id, order, CardSummary(deviceAccountSuffix: nil, expiry: nil, hasECI: false), terms)
      ) != nil
    else { return .known }
    // The provider may have decided it after the restore; the numbers of its events go on above those of the lost store.
    try store.run(
      "UPDATE payments SET created_at = $2 WHERE id = $1", .text(id.rawValue),
      .time(listed.ownTime(at: store.now) ?? listed.time))
    let record = try PaymentRecord.lock(id, in: store)
    var attempt = newAttempt(.authorize, listed.amount, of: record, cause: .restore, store)
    attempt.reference = listed.reference
    try insertRestored(attempt, listed, restore, in: store)
    try noteBeginning(of: record, attempt, on: try lockedHead(of: id, in: store), in: store)
    _ = try post(
      .approved(Approval(acquirerReference: listed.name ?? "")), for: attempt,
      reportedTo: .shopper(whenOpen: .pending), pause: .zero, in: store)
    try note(listed, as: id, through: route, in: store)
    try raiseOrNote(.restored, PaymentRecord.lock(id, in: store), in: store)
    return .adopted(id)
  }

  private func note(
    _ listed: ListedOperation, as id: PaymentID, through route: String, in store: Transaction
  ) throws {
    try store.run(
      """
      INSERT INTO restored_payments (payment, basket_mark, route, amount, currency, restored_at)
      VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
      """, .text(id.rawValue), .text(BasketMark.of(id)), .text(route), .integer(listed.amount.minorUnits),
      .text(listed.amount.currency.code), .time(store.now))
  }

  /// A lost payment that holds nothing has no row, but it was made: a schedule does not make it again.
  private func noteReversed(_ listed: ListedOperation, through route: String, in store: Transaction) throws {
    guard listed.isOurs(at: store.now) else { return }
    try note(listed, as: PaymentID(listed.reference.rawValue), through: route, in: store)
  }

  /// An authorization that is open here was reversed there.
  private func reverse(
    _ authorization: Attempt, _ listed: ListedOperation, _ restore: RestoredStore, in store: Transaction
  ) throws -> Adoption {
    let before = try PaymentRecord.lock(authorization.payment, in: store)
    // Only from here on it stays as it is read.
    guard try Operations.find(authorization.reference, in: store)?.state.isOpen == true else { return .known }
    let reversal = newAttempt(
      .reverse, authorization.amount, of: before, cause: .restore, undoing: authorization.reference, store)
    try insertRestored(reversal, listed, restore, in: store)
    try note("\(PaymentEvent.begins(.reverse))", of: reversal.reference, from: before, to: before, in: store)
    let approval = Approval(acquirerReference: listed.name ?? "")
    _ = try post(.approved(approval), for: reversal, reportedTo: .noCaller, pause: .zero, in: store)
    return .adopted(authorization.payment)
  }

  /// - Parameter isNamed: whether the line says of which payment it is.
  private func adopt(
    _ listed: ListedOperation, of payment: PaymentID, isNamed: Bool, beside batch: ListedBatch,
    _ restore: RestoredStore, in store: Transaction
  ) throws -> AdoptedLine {
    let before = try PaymentRecord.lock(payment, in: store)
    // Only from here on the operations stay as they are read: another node may have adopted it meanwhile.
    if let known = try findKnown(listed, in: store) { return AdoptedLine(known) }
    let match = try Operations.match(listed, of: payment, beside: batch, after: restore.restoredAt, in: store)
    if case .known(let references) = match {
      try Operations.learnName(of: listed, for: references, in: store)
      return AdoptedLine(.known, answeredBy: references)
    }
    guard listed.result != .pending else { return AdoptedLine(.later) }
    guard isNamed else { return AdoptedLine(.ofNoPayment) }
    guard before.balances.status.isResolved else { return AdoptedLine(.later) }
    if listed.endsHold, before.balances.free <= 0 { return AdoptedLine(.known) }
    if case .contradicted = match { return AdoptedLine(try contradict(listed, before, in: store)) }
    let taken = try OrdersPot.findTaken(listed, of: payment, beside: batch, in: store)
    if taken == nil, try Operations.hasAlike(listed, of: payment, beside: batch, in: store) {
      return AdoptedLine(try contradict(listed, before, in: store))
    }
    switch try taken ?? OrdersPot.take(listed, of: before.payment, restore, beside: batch, in: store) {
    case .taken(let marks): return AdoptedLine(.known, answeredBy: marks)
    case .exceeded: return AdoptedLine(try contradict(listed, before, in: store))
    case .untouched: return AdoptedLine(try bookOrContradict(listed, before, restore, in: store))
    }
  }

  private func bookOrContradict(
    _ listed: ListedOperation, _ before: PaymentRecord, _ restore: RestoredStore, isOfOrders: Bool = false,
    in store: Transaction
  ) throws -> Adoption {
    do {
      try book(listed, before, restore, isOfOrders: isOfOrders, in: store)
      return .adopted(before.payment.id)
    } catch JournalError.inFlight {
      return .later
    } catch is JournalError {
      return try contradict(listed, before, in: store)
    }
  }

  private func contradict(
    _ listed: ListedOperation, _ before: PaymentRecord, in store: Transaction
  ) throws -> Adoption {
    let payment = before.payment.id
    try remark(
      AuditEntry.refusedMovement, "\(listed.kind.rawValue) of \(listed.amount), restored, \(listed.reference)",
      on: payment, in: store)
    try raiseOrNote(.movedElsewhere, PaymentRecord.lock(payment, in: store), in: store)
    return .contradicted(payment)
  }

  private func book(
    _ listed: ListedOperation, _ before: PaymentRecord, _ restore: RestoredStore, isOfOrders: Bool,
    in store: Transaction
  ) throws {
    let kind = listed.bookedKind
    let isRest = listed.endsHold && listed.amount.minorUnits >= before.balances.free
    let amount = try before.validated(isRest ? nil : listed.amount, for: kind)
    let refunded =
      try kind == .refund
      ? RefundableCapture.all(of: before.payment.id, in: store).named(by: amount.minorUnits)?.reference : nil
    var attempt = newAttempt(kind, amount, of: before, cause: .restore, undoing: refunded, store)
    if listed.isOurs(at: store.now) { attempt.reference = listed.reference }
    let reserved = try Posting.reserve(attempt.movement, on: before.balances)
    let posted = try Posting.post(.approved, of: attempt.movement, on: reserved)
    try insertRestored(attempt, listed, restore, in: store)
    _ = try Operations.close(attempt, with: .approved(Approval(acquirerReference: listed.name ?? "")), in: store)
    if isOfOrders {
      try OrdersPot.give(attempt, restore, in: store)
    } else {
      // Ours is its own; what a person did, the provider may say its own name of in another report.
      try store.run(
        "UPDATE operations SET detail = $2 WHERE reference = $1", .text(attempt.reference.rawValue),
        .text(listed.reference.rawValue))
    }
    _ = try save(
      before.moved(to: try closeHold(posted, attempt, in: store), at: store.now), over: before,
      .meets(kind, .approved), of: attempt.reference, saying: "restored, \(listed.name ?? listed.reference.rawValue)",
      in: store)
  }

  private func insertRestored(
    _ attempt: Attempt, _ listed: ListedOperation, _ restore: RestoredStore, in store: Transaction
  ) throws {
    try Operations.insert(attempt, owner: owner, lease: Timestamp(seconds: 0), firstTry: store.now, in: store)
    try store.run(
      "UPDATE operations SET restored = $2, sent_at = $3 WHERE reference = $1", .text(attempt.reference.rawValue),
      .integer(restore.number), .time(listed.time))
  }
}

extension OrderBalances {
  /// What the journal lacks of the balances, each kind as one operation.
  fileprivate func operations(
    beyond known: Balances, _ held: Int64, _ restore: RestoredStore
  ) -> [ListedOperation] {
    let lacking: [(kind: OperationKind, units: Int64)] = [
      (.capture, captured.minorUnits.subtractingClamped(known.captured.addingClamped(known.reservedCapture))),
      (.refund, refunded.minorUnits.subtractingClamped(known.refunded.addingClamped(known.reservedRefund))),
      (.void, known.authorized.subtractingClamped(held.addingClamped(known.reservedVoid))),
    ]
    return lacking.filter { $0.units > 0 }.map { lack in
      ListedOperation(
        reference: AttemptReference("orders"), kind: lack.kind,
        amount: Amount(minorUnits: lack.units, currency: authorized.currency), time: restore.lostFrom)
    }
  }
}
