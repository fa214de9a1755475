import Storage
package import TenderPayments

/// An operation that a provider lists, or a report or a merchant's orders name: done, or taken on.
package struct ListedOperation: Sendable, Hashable {
  package enum Result: Sendable, Hashable {
    case approved
    case declined
    /// The provider has not decided it.
    case pending
  }

  /// Our name of it; the provider's, of what no operation of ours asked for. A reversal has its authorization's.
  package let reference: AttemptReference
  package let kind: OperationKind
  package let amount: Amount
  package let time: Timestamp
  /// Our name of the authorization; nil where that is not said.
  package let authorization: AttemptReference?
  /// The provider's name of it, by which what follows an authorization is asked for.
  package let name: String?
  package let result: Result
  /// Whether it is an authorization that was reversed since, so that it holds nothing.
  package let isReversed: Bool

  package init(
    reference: AttemptReference, kind: OperationKind, amount: Amount, time: Timestamp,
    authorization: AttemptReference? = nil, name: String? = nil, result: Result = .approved, isReversed: Bool = false
  ) {
    (self.reference, self.kind, self.amount, self.time) = (reference, kind, amount, time)
    (self.authorization, self.name) = (authorization, name)
    (self.result, self.isReversed) = (result, isReversed)
  }

  /// Nil for what a person did with a hold: Stripe lists a capture under the time of its intent.
  fileprivate var ownTime: Timestamp? { BasketMark.time(of: reference) ?? (kind == .authorize ? time : nil) }
}

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

extension MerchantID {
  /// Whose a lost payment is where several merchants may have made it. No merchant has this id.
  package static let unknown = MerchantID("unknown")
}

/// Adopts what a provider did and a restored store has lost: a row of the journal for each operation, with the cause
/// `restore`.
extension Journal {
  /// - Parameter merchant: whose a payment is that is lost.
  package func adopt(_ listed: ListedOperation, through route: String, merchant: MerchantID) async throws -> Adoption {
    guard let restore else { return .older }
    return try await database.write { store in
      if let answered = try answer(listed, through: route, in: store) { return answered }
      if try Operations.isKnown(listed, through: route, in: store) { return .known }
      guard listed.result != .declined else { return .declined }
      if let time = listed.ownTime, restore.isKept(time) { return .older }
      guard listed.result != .pending else { return .later }
      if listed.kind == .authorize {
        if listed.isReversed { return .known }
        return try adoptPayment(listed, through: route, merchant, restore, in: store)
      }
      let first = listed.kind == .reverse ? listed.reference : listed.authorization
      guard let first, let (authorization, state) = try Operations.find(first, in: store), authorization.route == route
      else { return .ofNoPayment }
      if listed.kind == .reverse, state.isOpen { return try reverse(authorization, listed, restore, in: store) }
      return try adopt(listed, of: authorization.payment, through: route, restore, in: store)
    }
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
    let endsHold = listed.kind == .void || listed.kind == .reverse
    let event = ProviderEvent(
      route: route, id: "listed", reference: open.reference, amount: endsHold ? open.amount : listed.amount,
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
        if let time = listed.ownTime, restore.isKept(time) { return [.older] }
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
        adoptions.append(try adopt(listed, of: id, through: route, restore, in: store))
      }
      return adoptions
    }
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
    let start = restore.lostFrom.adding(.zero - RestoredStore.clockMargin)
    return try await database.read { store in
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
    guard BasketMark.time(of: listed.reference) != nil else { return .ofNoPayment }
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
      "UPDATE payments SET created_at = $2 WHERE id = $1", .text(id.rawValue), .time(listed.ownTime ?? listed.time))
    let record = try PaymentRecord.lock(id, in: store)
    var attempt = newAttempt(.authorize, listed.amount, of: record, cause: .restore, store)
    attempt.reference = listed.reference
    try insertRestored(attempt, listed, restore, in: store)
    try noteBeginning(of: record, attempt, on: try lockedHead(of: id, in: store), in: store)
    _ = try post(
      .approved(Approval(acquirerReference: listed.name ?? "")), for: attempt,
      reportedTo: .shopper(whenOpen: .pending), pause: .zero, in: store)
    try store.run(
      """
      INSERT INTO restored_payments (payment, basket_mark, route, amount, currency, restored_at)
      VALUES ($1, $2, $3, $4, $5, $6)
      """, .text(id.rawValue), .text(BasketMark.of(id)), .text(route), .integer(listed.amount.minorUnits),
      .text(listed.amount.currency.code), .time(store.now))
    try raiseOrNote(.restored, PaymentRecord.lock(id, in: store), in: store)
    return .adopted(id)
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

  private func adopt(
    _ listed: ListedOperation, of payment: PaymentID, through route: String, _ restore: RestoredStore,
    in store: Transaction
  ) throws -> Adoption {
    let before = try PaymentRecord.lock(payment, in: store)
    // Only from here on the operations stay as they are read: another node may have adopted it meanwhile.
    if try Operations.isKnown(listed, through: route, in: store) { return .known }
    if try Operations.isKnown(listed, of: payment, in: store) { return .known }
    guard before.balances.status.isResolved else { return .later }
    let endsHold = listed.kind == .void || listed.kind == .reverse
    if endsHold, before.balances.free <= 0 { return .known }
    do {
      try book(listed, as: endsHold ? .void : listed.kind, before, restore, in: store)
      return .adopted(payment)
    } catch JournalError.inFlight {
      return .later
    } catch is JournalError {
      try remark(
        AuditEntry.refusedMovement, "\(listed.kind.rawValue) of \(listed.amount), restored, \(listed.reference)",
        on: payment, in: store)
      try raiseOrNote(.movedElsewhere, PaymentRecord.lock(payment, in: store), in: store)
      return .contradicted(payment)
    }
  }

  private func book(
    _ listed: ListedOperation, as kind: OperationKind, _ before: PaymentRecord, _ restore: RestoredStore,
    in store: Transaction
  ) throws {
    // Providers name the authorized amount also where a part was captured.
    let isRest = kind == .void && listed.amount.minorUnits >= before.balances.free
    let amount = try before.validated(isRest ? nil : listed.amount, for: kind)
    let refunded =
      try kind == .refund
      ? RefundableCapture.all(of: before.payment.id, in: store).named(by: amount.minorUnits)?.reference : nil
    var attempt = newAttempt(kind, amount, of: before, cause: .restore, undoing: refunded, store)
    if BasketMark.time(of: listed.reference) != nil, listed.kind != .reverse { attempt.reference = listed.reference }
    let reserved = try Posting.reserve(attempt.movement, on: before.balances)
    let posted = try Posting.post(.approved, of: attempt.movement, on: reserved)
    try insertRestored(attempt, listed, restore, in: store)
    let name = listed.name ?? listed.reference.rawValue
    _ = try Operations.close(attempt, with: .approved(Approval(acquirerReference: name)), in: store)
    // The provider may say its own name of it in another report.
    try store.run(
      "UPDATE operations SET detail = $2 WHERE reference = $1", .text(attempt.reference.rawValue),
      .text(listed.reference.rawValue))
    _ = try save(
      before.moved(to: try closeHold(posted, attempt, in: store), at: store.now), over: before,
      .meets(kind, .approved), of: attempt.reference, saying: "restored, \(name)", in: store)
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
  /// Rows of orders have no name at the provider, so that they are told apart by this.
  static let prefix = "orders-"

  /// What the journal lacks of the balances, each kind as one operation.
  fileprivate func operations(
    beyond known: Balances, _ held: Int64, _ restore: RestoredStore
  ) -> [ListedOperation] {
    let lacking: [(kind: OperationKind, total: Int64, units: Int64)] = [
      (
        .capture, captured.minorUnits,
        captured.minorUnits.subtractingClamped(known.captured.addingClamped(known.reservedCapture))
      ),
      (
        .refund, refunded.minorUnits,
        refunded.minorUnits.subtractingClamped(known.refunded.addingClamped(known.reservedRefund))
      ),
      (.void, held, known.authorized.subtractingClamped(held.addingClamped(known.reservedVoid))),
    ]
    return lacking.filter { $0.units > 0 }.map { lack in
      let name = "\(Self.prefix)\(lack.kind.rawValue)-\(payment)-\(lack.total)"
      return ListedOperation(
        reference: AttemptReference(name), kind: lack.kind,
        amount: Amount(minorUnits: lack.units, currency: authorized.currency), time: restore.lostFrom,
        authorization: AttemptReference(payment.rawValue), name: name)
    }
  }
}

extension Operations {
  /// The open operation here that is listed. A reversal is listed under its authorization's reference.
  fileprivate static func findOpen(
    _ listed: ListedOperation, through route: String, in store: Transaction
  ) throws -> Attempt? {
    let reference =
      listed.kind == .reverse
      ? try store.row(
        "SELECT reference FROM operations WHERE target = $1 AND kind = 'reverse' AND \(isOpen) LIMIT 1",
        .text(listed.reference.rawValue))?.value("reference") : listed.reference
    guard let reference, let (attempt, state) = try find(reference, in: store), state.isOpen,
      attempt.kind == listed.kind, attempt.route == route
    else { return nil }
    return attempt
  }

  /// Whether the journal has what is listed: by our reference, or by the provider's name of what it moved by itself, which
  /// an event has reported or an earlier listing has given.
  fileprivate static func isKnown(
    _ listed: ListedOperation, through route: String, in store: Transaction
  ) throws -> Bool {
    if listed.kind != .reverse, try find(listed.reference, in: store) != nil { return true }
    let kind: OperationKind = listed.kind == .reverse ? .void : listed.kind
    // Operations may share a name, as captures of one intent do. Ours are told apart by our reference, and an event that
    // came without it by the amount.
    let isOurs = BasketMark.time(of: listed.reference) != nil
    return try store.row(
      """
      SELECT reference FROM operations WHERE acquirer_reference = $1 AND kind = $2 AND route = $3
        AND cause = 'provider' AND ($4 = 0 OR (restored IS NULL AND amount = $5)) LIMIT 1
      """, .text(listed.name ?? listed.reference.rawValue), .text(kind.rawValue), .text(route),
      .integer(isOurs ? 1 : 0), .integer(listed.amount.minorUnits)) != nil
  }

  /// Whether an earlier report gave it under its other name, or a merchant's orders have counted it.
  fileprivate static func isKnown(
    _ listed: ListedOperation, of payment: PaymentID, in store: Transaction
  ) throws -> Bool {
    guard !listed.reference.rawValue.hasPrefix(OrderBalances.prefix) else { return false }
    let kind: OperationKind = listed.kind == .reverse ? .void : listed.kind
    if try ordersHave(listed.amount.minorUnits, of: kind, payment, in: store) { return true }
    guard BasketMark.time(of: listed.reference) == nil else { return false }
    return try store.row(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND kind = $2 AND restored IS NOT NULL AND detail = $3 LIMIT 1
      """, .text(payment.rawValue), .text(kind.rawValue), .text(listed.reference.rawValue)) != nil
  }

  /// Whether a merchant's orders gave so much of a kind back, whatever operations it was.
  static func ordersHave(
    _ amount: Int64, of kind: OperationKind, _ payment: PaymentID, in store: Transaction
  ) throws -> Bool {
    let rows = try store.rows(
      """
      SELECT amount FROM operations
      WHERE payment = $1 AND kind = $2 AND restored IS NOT NULL AND acquirer_reference LIKE $3
      """, .text(payment.rawValue), .text(kind.rawValue), .text(OrderBalances.prefix + "%"))
    return try !rows.isEmpty && amount <= rows.reduce(0) { $0.addingClamped(try $1.integer("amount")) }
  }

  /// The amount of an operation of a person's that a listing gave back under the provider's name.
  ///
  /// - Parameter amount: which of several under one name is meant, as captures of one intent are.
  static func findAdoptedAmount(
    of kind: OperationKind, called name: String, near amount: Int64, of payment: PaymentID, in store: Transaction
  ) throws -> Int64? {
    let found = try store.rows(
      """
      SELECT reference, amount, restored_at FROM operations JOIN restores ON restores.number = operations.restored
      WHERE payment = $1 AND kind = $2 AND acquirer_reference = $3
      """, .text(payment.rawValue), .text(kind.rawValue), .text(name))
    // The reference of what a person did is made at its adoption, and ours was made by the store that is lost.
    let amounts = try found.filter { try $0.text("reference") >= $0.time("restored_at").idPrefix }
      .map { try $0.integer("amount") }
    return amounts.contains(amount) ? amount : amounts.first
  }
}
