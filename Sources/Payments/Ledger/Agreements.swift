package import Storage
package import TenderPayments

// Agreements: begun with the claim of their first payment, active with its approval, changed by a table of states, and
// charged at most once for a period. All of it runs in the caller's transaction.
extension Journal {
  /// Writes an agreement in the commit that claims its first payment.
  package func begin(_ new: NewAgreement, with attempt: Attempt, in store: Transaction) throws -> AgreementID {
    let id = AgreementID(timeOrderedID(store))
    guard let row = try store.row("SELECT * FROM payments WHERE id = $1", .text(attempt.payment.rawValue)) else {
      throw JournalError.noSuchPayment(attempt.payment)
    }
    let payment = try PaymentRecord(row).payment
    try AgreementRows.insert(new, as: id, of: payment.merchant, paidBy: payment.id, in: store)
    try AgreementRows.mark(payment.id, as: id, in: store)
    let calendar = AgreementCalendar(new.terms, timeZone: new.timeZone, begun: store.now)
    if calendar?.firstPaymentIsPeriod == true { try AgreementRows.takeFirst(of: id, for: payment.order, in: store) }
    if new.isScheduled {
      try AgreementRows.schedule(id, AgreementSchedule(beginningWith: calendar, at: store.now), in: store)
    }
    return id
  }

  /// Suspends, resumes or ends an agreement of the merchant. The same again changes nothing.
  ///
  /// - Parameter reason: for people; at most 200 characters are kept.
  /// - Throws: ``AgreementError``; ``AgreementError/stopped(_:)`` where a scheme forbids that the card is tried again.
  package func change(
    _ id: AgreementID, of merchant: MerchantID, by event: AgreementEvent, _ party: AgreementParty,
    because reason: String? = nil, in store: Transaction
  ) throws -> Agreement {
    guard let known = try AgreementRows.find(id, in: store), known.merchant == merchant else {
      throw AgreementError.unknown(id)
    }
    // The payment first, as where its outcome moves the agreement.
    let first = try PaymentRecord.lock(known.firstPayment, in: store)
    let before = try AgreementRows.lock(id, in: store)
    guard let status = AgreementState.status(after: event, in: before.status) else {
      let isDone = AgreementStatus.allCases.contains { AgreementState.status(after: event, in: $0) == before.status }
      guard isDone else { throw AgreementError.notPossible(event, before.status) }
      guard event == .resumed, restore?.holds(before) == true else { return before }
      // It was active, and goes on: the person who says so knows what was lost.
      try AgreementRows.move(
        before, by: event, to: before.status, party, because: reason.map { String($0.prefix(200)) }, in: store)
      return try AgreementRows.lock(id, in: store)
    }
    if event == .resumed, let reason = try AgreementRetries(of: id, in: store).stopped {
      throw AgreementError.stopped(reason)
    }
    try AgreementRows.move(
      before, by: event, to: status, party, because: reason.map { String($0.prefix(200)) }, in: store)
    try addEvent(event, of: first, in: store)
    return try AgreementRows.lock(id, in: store)
  }

  /// Ends the agreement that an order began, and takes out of it whose it is.
  ///
  /// - Parameter reason: for the agreement's history.
  package static func forgetAgreement(of order: OrderID, because reason: String, in store: Transaction) throws {
    for id in try AgreementRows.list(begunBy: order, in: store) {
      let before = try AgreementRows.lock(id, in: store)
      if let status = AgreementState.status(after: .ended, in: before.status) {
        try AgreementRows.move(before, by: .ended, to: status, .operator, because: reason, in: store)
      }
      try AgreementRows.forgetShopper(of: id, in: store)
    }
  }

  /// Takes out of agreements whose they were that ended long ago. A running one keeps it.
  ///
  /// - Parameters:
  ///   - end: when they ended at the latest.
  ///   - limit: of how many.
  /// - Returns: of how many it was taken out.
  package static func forgetAgreements(endedBefore end: Timestamp, atMost limit: Int, in store: Transaction) throws
    -> Int
  {
    let due = try AgreementRows.list(endedBefore: end, atMost: limit, in: store)
    for id in due { try AgreementRows.forgetShopper(of: id, in: store) }
    return due.count
  }

  /// Takes the customers out of all agreements. They run on.
  package static func forgetCustomersOfAgreements(in store: Transaction) throws {
    try store.run("UPDATE agreements SET customer = NULL WHERE customer IS NOT NULL")
  }

  /// What charges the agreement's card again.
  package func credential(of agreement: Agreement, in store: Transaction) throws -> AgreementCredential? {
    guard
      let row = try store.row(
        """
        SELECT operations.acquirer_reference, operations.network_transaction_id, operations.network_link_id,
          operations.stored_reference, payments.route, payments.merchant_account
        FROM operations JOIN payments ON payments.id = operations.payment
        WHERE operations.payment = $1 AND operations.kind = 'authorize' AND operations.acquirer_reference IS NOT NULL
        ORDER BY operations.number DESC LIMIT 1
        """, .text(agreement.firstPayment.rawValue))
    else { return nil }
    return AgreementCredential(
      route: try row.text("route"), merchantAccount: try row.textOrNil("merchant_account"),
      acquirerReference: try row.text("acquirer_reference"),
      networkTransactionID: try row.textOrNil("network_transaction_id"),
      networkLinkID: try row.textOrNil("network_link_id"), storedReference: try row.textOrNil("stored_reference"))
  }

  /// Reserves a period of an active agreement for a charge, in the commit that claims its payment.
  ///
  /// - Parameters:
  ///   - period: nil for the current one; of a reload for the next one, or the last one if it was declined.
  ///   - order: for a period that has none yet.
  ///   - schedule: where the schedule charges: as it was when it decided to.
  /// - Returns: the period and its order, which is another one if the period was charged and declined before.
  /// - Throws: ``AgreementError``.
  package func takePeriod(
    _ period: Int64? = nil, of id: AgreementID, of merchant: MerchantID, for order: OrderID,
    by schedule: AgreementSchedule? = nil, in store: Transaction
  ) throws -> (period: AgreementCalendar.Period, order: OrderID) {
    let agreement = try AgreementRows.lock(id, in: store)
    guard agreement.merchant == merchant else { throw AgreementError.unknown(id) }
    guard agreement.status == .active else { throw AgreementError.notChargeable(agreement.status) }
    if let schedule { try follow(schedule, of: agreement, in: store) }
    try AgreementRetries(of: id, in: store).check()
    let chosen = try chargeable(period, of: agreement, in: store)
    try takeLostCharge(of: chosen.number, of: agreement, in: store)
    let taken = try AgreementRows.take(chosen.number, of: id, for: order, due: chosen.due, in: store)
    if let live = try Self.livePayment(of: taken, in: store) { throw AgreementError.charged(chosen.number, live.id) }
    let first = try PaymentRecord.find(agreement.firstPayment, in: store)
    // The first payment was for this period, whatever has become of its money.
    if taken == first?.payment.order { throw AgreementError.charged(chosen.number, agreement.firstPayment) }
    return (try Self.applyPrice(to: chosen, of: agreement, in: store), taken)
  }

  /// Marks a claimed payment as a charge of the agreement.
  package func note(_ attempt: Attempt, chargeOf id: AgreementID, in store: Transaction) throws {
    try AgreementRows.mark(attempt.payment, as: id, in: store)
  }

  private func chargeable(
    _ period: Int64?, of agreement: Agreement, in store: Transaction
  ) throws -> AgreementCalendar.Period {
    guard let calendar = agreement.calendar else { throw AgreementError.noSuchPeriod(period ?? 0) }
    if case .automaticReload = agreement.terms {
      let next = try nextReload(of: agreement, in: store)
      guard period == nil || period == next, let found = calendar.period(next) else {
        throw AgreementError.noSuchPeriod(period ?? next)
      }
      return found
    }
    let number = try period ?? currentNumber(calendar, at: store.now)
    guard let found = calendar.period(number) else { throw AgreementError.noSuchPeriod(number) }
    if let due = found.due, due > store.now { throw AgreementError.notDue(number, due) }
    return found
  }

  private func currentNumber(_ calendar: AgreementCalendar, at now: Timestamp) throws -> Int64 {
    if let current = calendar.current(at: now) { return current.number }
    if let next = calendar.next(after: now), let due = next.due { throw AgreementError.notDue(next.number, due) }
    throw AgreementError.noSuchPeriod(0)
  }

  /// The last reload again if it was declined; otherwise the one after it.
  private func nextReload(of agreement: Agreement, in store: Transaction) throws -> Int64 {
    try takeLostReloads(of: agreement, in: store)
    guard let last = try AgreementRows.lastPeriod(of: agreement.id, in: store),
      let order = try AgreementRows.order(of: last, of: agreement.id, in: store)
    else { return 1 }
    guard let live = try Self.livePayment(of: order, in: store) else { return last == 0 ? 1 : last }
    return live.status.isResolved ? last + 1 : last
  }

  /// Moves the agreement of a payment whose outcome became known, if it is the agreement's first payment.
  func followFirstPayment(_ before: PaymentRecord, _ after: PaymentRecord, in store: Transaction) throws {
    guard let id = after.agreement, !before.balances.status.isResolved, after.balances.status.isResolved else { return }
    // A later payment locks no agreement here: its claim locks the agreement before the audit chain.
    guard try AgreementRows.find(id, in: store)?.firstPayment == after.payment.id else { return }
    let agreement = try AgreementRows.lock(id, in: store)
    let event = after.balances.status.isLive ? AgreementEvent.begun : .refused
    guard let status = AgreementState.status(after: event, in: agreement.status) else { return }
    let reason = after.balances.status.isLive ? nil : "the payment is \(after.balances.status.rawValue)"
    try AgreementRows.move(agreement, by: event, to: status, .firstPayment, because: reason, in: store)
    if status == .active, let restore, agreement.createdAt < restore.restoredAt {
      // It may have begun and ended in the lost time.
      try AgreementRows.hold(id, in: store)
    }
  }
}

// Reading.
extension Journal {
  package func agreement(_ id: AgreementID, of merchant: MerchantID) async throws -> Agreement? {
    try await database.read { try Self.agreement(id, of: merchant, in: $0) }
  }

  package static func agreement(_ id: AgreementID, of merchant: MerchantID, in store: Transaction) throws -> Agreement?
  {
    try AgreementRows.find(id, in: store).flatMap { $0.merchant == merchant ? $0 : nil }
  }

  /// The payment that the shopper authorized.
  package static func payment(of agreement: Agreement, in store: Transaction) throws -> Payment? {
    try PaymentRecord.find(agreement.firstPayment, in: store)?.payment
  }

  /// The agreement that a payment began or charges.
  package static func agreement(of payment: PaymentID, in store: Transaction) throws -> Agreement? {
    try store.row(
      "SELECT agreements.* FROM agreements JOIN payments ON payments.agreement = agreements.id WHERE payments.id = $1",
      .text(payment.rawValue)
    ).map(Agreement.init)
  }

  /// Agreements of merchants, newest first.
  ///
  /// - Parameters:
  ///   - merchants: nil for all.
  ///   - before: only those made before this one; nil for the newest.
  package static func agreements(
    of merchants: [MerchantID]?, status: AgreementStatus? = nil, before: AgreementID? = nil, limit: Int64 = 50,
    in store: Transaction
  ) throws -> [Agreement] {
    let condition = MerchantCondition(merchants, after: 3)
    return try store.rows(
      """
      SELECT * FROM agreements WHERE id < $1 AND (status = $2 OR $2 IS NULL) AND \(condition.sql)
      ORDER BY id DESC LIMIT $3
      """,
      [.text(before?.rawValue ?? "~"), .text(optional: status?.rawValue), .integer(limit)] + condition.values
    ).readable(Agreement.init)
  }

  /// Whose agreement it is.
  package static func merchant(of agreement: AgreementID, in store: Transaction) throws -> MerchantID? {
    try AgreementRows.find(agreement, in: store)?.merchant
  }

  package static func history(of agreement: AgreementID, in store: Transaction) throws -> [AgreementChange] {
    try AgreementRows.history(of: agreement, in: store)
  }

  /// Agreements that are called so: by their id, by the id of their first payment, or by the merchant's reference.
  package static func agreements(
    named name: String, payment: PaymentID?, limit: Int64, in store: Transaction
  ) throws -> [Agreement] {
    if let found = try AgreementRows.find(AgreementID(name), in: store) { return [found] }
    let begun = try store.rows(
      "SELECT * FROM agreements WHERE payment = $1", .text((payment ?? PaymentID(name)).rawValue)
    ).map(Agreement.init)
    guard begun.isEmpty else { return begun }
    return try store.rows(
      "SELECT * FROM agreements WHERE merchant_reference = $1 ORDER BY id DESC LIMIT $2", .text(name), .integer(limit)
    ).map(Agreement.init)
  }

  /// The periods that have an order, with the order's live payment or its latest, and with what was declined.
  package static func charges(of agreement: AgreementID, in store: Transaction) throws -> [ChargedPeriod] {
    let declines = try Self.declines(of: agreement, in: store)
    return try store.rows(
      "SELECT period, order_id, due_at FROM agreement_charges WHERE agreement = $1 ORDER BY period",
      .text(agreement.rawValue)
    ).map { row in
      let order = OrderID(try row.text("order_id"))
      let payment = try store.row(
        "SELECT * FROM payments WHERE order_id = $1 ORDER BY live DESC, id DESC LIMIT 1", .text(order.rawValue)
      ).map { try PaymentRecord($0).payment }
      return ChargedPeriod(
        period: try row.integer("period"), due: try row.timeOrNil("due_at"), order: order, payment: payment,
        declines: declines[order] ?? [])
    }
  }

  /// The newest 500, each order's from the first to the last.
  private static func declines(
    of agreement: AgreementID, in store: Transaction
  ) throws -> [OrderID: [ChargedPeriod.Declined]] {
    let rows = try store.rows(
      """
      SELECT payments.id AS payment, payments.order_id, operations.decline_reason,
        COALESCE(operations.answered_at, operations.sent_at) AS tried_at
      FROM operations JOIN payments ON payments.id = operations.payment
      WHERE payments.agreement = $1 AND operations.kind = 'authorize' AND operations.state = 'declined'
      ORDER BY tried_at DESC LIMIT 500
      """, .text(agreement.rawValue)
    ).map { row in
      (
        OrderID(try row.text("order_id")),
        ChargedPeriod.Declined(
          payment: try row.value("payment"), at: try row.time("tried_at"),
          reason: try row.textOrNil("decline_reason").flatMap { DeclineReason(rawValue: $0) } ?? .other)
      )
    }
    return Dictionary(grouping: rows.reversed(), by: { $0.0 }).mapValues { $0.map { $0.1 } }
  }
}

/// What the provider kept of an agreement's first payment. None of it is a number of the card.
package struct AgreementCredential: Sendable, Hashable {
  /// Connector and account; a later charge goes there too.
  package let route: String
  package let merchantAccount: String?
  /// The acquirer's name of the first payment.
  package let acquirerReference: String
  /// The scheme's identifier of it.
  package let networkTransactionID: String?
  /// Mastercard's transaction link identifier.
  package let networkLinkID: String?
  /// The provider's name of the credential.
  package let storedReference: String?
}

/// A period of an agreement that was charged, or tried to be.
package struct ChargedPeriod: Sendable, Hashable {
  package let period: Int64
  package let due: Timestamp?
  package let order: OrderID
  /// Nil where the claim was refused.
  package let payment: Payment?
  /// The tries that were declined, in their order.
  package let declines: [Declined]

  /// A try that was declined.
  package struct Declined: Sendable, Hashable {
    package let payment: PaymentID
    package let at: Timestamp
    package let reason: DeclineReason
  }
}

extension Agreement {
  /// Nil where this system does not know the time zone.
  package var calendar: AgreementCalendar? { AgreementCalendar(terms, timeZone: timeZone, begun: createdAt) }

  /// What the next period costs, or the last one; in a trial the first one at the regular price.
  package func price(at now: Timestamp, in store: Transaction) throws -> Amount {
    guard let calendar, let period = calendar.next(after: now) ?? calendar.current(at: now),
      let shown = calendar.isTrial(period.number) ? calendar.firstRegular : period
    else { return terms.amount }
    return try Journal.applyPrice(to: shown, of: self, in: store).amount
  }
}
