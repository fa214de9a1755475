package import Storage
package import TenderPayments

/// What Tender charges next of an agreement by itself, and when it looks at it.
package struct AgreementSchedule: Sendable, Hashable {
  /// The number of the period.
  package let period: Int64
  /// Nil where nothing is left to charge.
  package let at: Timestamp?

  package init(period: Int64, at: Timestamp?) { (self.period, self.at) = (period, at) }

  /// The first period that is not the first payment's.
  ///
  /// - Parameter calendar: nil where the time zone is unknown here, so that it is looked at again.
  init(beginningWith calendar: AgreementCalendar?, at now: Timestamp) {
    guard let calendar else {
      self.init(period: 0, at: now)
      return
    }
    let first: Int64 = calendar.firstPaymentIsPeriod ? 1 : 0
    self.init(period: first, at: calendar.period(first)?.due)
  }

  /// After so many declines in a row the agreement is suspended.
  package static let mostDeclines = 5
  /// How long after each decline in a row the next try is, unless a quarter of the period is shorter.
  private static let pauses: [Duration] = [1, 2, 4, 7].map { .seconds($0 * 86_400) }
  /// How long after a claim it is looked at again, where its process has ended.
  static let look: Duration = .seconds(60)

  static func pause(after declines: Int, within interval: Duration?) -> Duration {
    let pause = pauses[min(max(declines, 1), pauses.count) - 1]
    return interval.map { min(pause, $0 / 4) } ?? pause
  }

  /// How long until a charge is looked at again that has no answer, which recovery finds out, or that was not sent.
  static func pauseForAnswer(within interval: Duration?) -> Duration {
    interval.map { min(.seconds(3_600), $0 / 4) } ?? .seconds(3_600)
  }
}

extension AgreementCalendar {
  /// From a period to the next one; nil for the last.
  fileprivate func interval(after number: Int64) -> Duration? {
    guard let due = period(number)?.due, let next = period(number + 1)?.due else { return nil }
    return next.since(due)
  }
}

/// What is to be done of a schedule's agreement.
package enum ScheduleStep: Sendable, Hashable {
  /// Charge the period. The claim succeeds only while the schedule is still this.
  case charge(MerchantID, AgreementSchedule)
  /// The next period is looked at, now or at its date.
  case next
  /// A charge has no answer yet, or was declined: the period waits.
  case wait
  /// The card is not tried again without the merchant.
  case suspend
  /// It is not active, or nothing is left.
  case nothing
}

// The schedule of agreements that Tender charges. What is due is read from the ledger each time: a process may end anywhere.
extension Journal {
  /// Agreements whose schedule has something to do, the longest overdue first.
  package func schedulesDue(_ limit: Int) async throws -> [AgreementID] {
    try await database.read { store in
      try store.rows(
        """
        SELECT id FROM agreements
        WHERE status = 'active' AND schedule_at IS NOT NULL AND schedule_at <= $1 AND updated_at >= $3
        ORDER BY schedule_at, id LIMIT $2
        """, .time(store.now), .integer(Int64(limit)), .time(restore?.restoredAt ?? Timestamp(seconds: 0))
      ).map { try $0.value("id") }
    }
  }

  /// When a schedule has something to do next; nil for never.
  package func nextSchedule() async throws -> Timestamp? {
    try await database.read { store in
      try store.row(
        """
        SELECT MIN(schedule_at) AS next FROM agreements WHERE status = 'active' AND schedule_at > $1 AND updated_at >= $2
        """, .time(store.now), .time(restore?.restoredAt ?? Timestamp(seconds: 0))
      )?.timeOrNil("next")
    }
  }

  /// Looks at what became of the scheduled period, and writes what follows from it: the next period, another try, or that the
  /// agreement is suspended.
  ///
  /// A period whose successor has begun is left to the merchant, unless its charge is open: a card is not charged for several
  /// periods at once.
  package func followSchedule(of id: AgreementID, in store: Transaction) throws -> ScheduleStep {
    guard let known = try AgreementRows.find(id, in: store) else { throw AgreementError.unknown(id) }
    // The payment first, as where its outcome moves the agreement.
    _ = try PaymentRecord.lock(known.firstPayment, in: store)
    let agreement = try AgreementRows.lock(id, in: store)
    guard agreement.status == .active, let schedule = agreement.schedule, schedule.at != nil,
      restore?.holds(agreement) != true
    else { return .nothing }
    guard let calendar = agreement.calendar else {
      return try wait(agreement, for: schedule.period, until: store.now.adding(.seconds(86_400)), in: store)
    }
    let number = schedule.period
    let isLost = try takeLostCharge(of: number, of: agreement, in: store)
    let payment = try Self.lastPayment(of: number, of: id, in: store)
    if let payment, !payment.status.isResolved {
      let pause = AgreementSchedule.pauseForAnswer(within: calendar.interval(after: number))
      return try wait(agreement, for: number, until: store.now.adding(pause), in: store)
    }
    if let current = calendar.current(at: store.now), current.number > number {
      return try move(agreement, to: current.number, of: calendar, in: store)
    }
    let isDone = payment.map { $0.status != .declined && $0.status != .failed } ?? false || isLost
    guard !isDone, let period = calendar.period(number),
      try Self.applyPrice(to: period, of: agreement, in: store).amount.isPositive
    else { return try move(agreement, to: number + 1, of: calendar, in: store) }
    return try charge(agreement, period, after: payment, of: calendar, in: store)
  }

  private func charge(
    _ agreement: Agreement, _ period: AgreementCalendar.Period, after payment: Payment?, of calendar: AgreementCalendar,
    in store: Transaction
  ) throws -> ScheduleStep {
    let retries = try AgreementRetries(of: agreement.id, in: store)
    let tries = try RecentTries(of: agreement, in: store)
    if let reason = tries.obstacle(retries) {
      _ = try change(agreement.id, of: agreement.merchant, by: .suspended, .issuer, because: reason, in: store)
      return .suspend
    }
    let following = calendar.period(period.number + 1)?.due
    let isAgain = payment.map { $0.status == .declined || $0.status == .failed } ?? false
    let interval = calendar.interval(after: period.number)
    let pause =
      payment?.status == .declined
      ? AgreementSchedule.pause(after: tries.declines, within: interval)
      : AgreementSchedule.pauseForAnswer(within: interval)
    let own = isAgain ? tries.last?.adding(pause) : nil
    let earliest = [period.due, own, retries.notBefore].compactMap(\.self).max() ?? store.now
    guard earliest <= store.now else {
      return try wait(
        agreement, for: period.number, until: min(earliest, following ?? earliest), in: store)
    }
    // A row that a claim has moved on is due no more, so what is due now is written where it was not.
    var schedule = AgreementSchedule(period: period.number, at: agreement.schedule?.at)
    if schedule.at.map({ $0 > store.now }) ?? true {
      schedule = AgreementSchedule(period: period.number, at: store.now)
      try AgreementRows.schedule(agreement.id, schedule, in: store)
    }
    return .charge(agreement.merchant, schedule)
  }

  private func wait(
    _ agreement: Agreement, for period: Int64, until time: Timestamp, in store: Transaction
  ) throws -> ScheduleStep {
    try AgreementRows.schedule(agreement.id, AgreementSchedule(period: period, at: time), in: store)
    return .wait
  }

  private func move(
    _ agreement: Agreement, to period: Int64, of calendar: AgreementCalendar, in store: Transaction
  ) throws -> ScheduleStep {
    let next = AgreementSchedule(period: period, at: calendar.period(period)?.due)
    try AgreementRows.schedule(agreement.id, next, in: store)
    return next.at == nil ? .nothing : .next
  }

  /// Looks again later at a schedule whose charge could not be claimed.
  package func postpone(
    _ schedule: AgreementSchedule, of id: AgreementID, by pause: Duration, in store: Transaction
  ) throws {
    let agreement = try AgreementRows.lock(id, in: store)
    guard agreement.schedule == schedule else { return }
    _ = try wait(agreement, for: schedule.period, until: store.now.adding(pause), in: store)
  }

  /// Moves the schedule on in the commit that claims its charge, so that another process which read it before claims
  /// nothing.
  func follow(_ schedule: AgreementSchedule, of agreement: Agreement, in store: Transaction) throws {
    guard agreement.schedule == schedule else { throw AgreementError.conflict }
    _ = try wait(agreement, for: schedule.period, until: store.now.adding(AgreementSchedule.look), in: store)
  }

  /// The period's live payment, or its latest.
  private static func lastPayment(of period: Int64, of id: AgreementID, in store: Transaction) throws -> Payment? {
    guard let order = try AgreementRows.order(of: period, of: id, in: store) else { return nil }
    return try store.row(
      "SELECT * FROM payments WHERE order_id = $1 ORDER BY live DESC, id DESC LIMIT 1", .text(order.rawValue)
    ).map { try PaymentRecord($0).payment }
  }
}

/// How the newest charges of an agreement went, since it was resumed.
private struct RecentTries {
  /// Declined in a row until now.
  let declines: Int
  let reason: DeclineReason?
  /// Also of a charge that was not sent.
  let last: Timestamp?

  init(of agreement: Agreement, in store: Transaction) throws {
    let resumed = try Journal.history(of: agreement.id, in: store).last { $0.event == .resumed }?.at
    let rows = try store.rows(
      """
      SELECT operations.state, operations.decline_reason, COALESCE(operations.answered_at, operations.sent_at) AS tried_at
      FROM operations JOIN payments ON payments.id = operations.payment
      WHERE payments.agreement = $1 AND operations.kind = 'authorize'
      ORDER BY tried_at DESC LIMIT 50
      """, .text(agreement.id.rawValue))
    var (declines, reason, last): (Int, DeclineReason?, Timestamp?) = (0, nil, nil)
    scan: for row in rows {
      let time = try row.time("tried_at")
      if let resumed, time < resumed { break }
      last = last ?? time
      switch try row.value("state") as OperationState {
      case .declined:
        declines += 1
        if declines == 1 { reason = try row.textOrNil("decline_reason").flatMap { DeclineReason(rawValue: $0) } }
      case .failed, .sending, .pending, .unknown: continue
      case .approved, .reversed, .returned: break scan
      }
    }
    (self.declines, self.reason, self.last) = (declines, reason, last)
  }

  /// Why the card is not tried again; nil where it may be.
  func obstacle(_ retries: AgreementRetries) -> String? {
    if let stopped = retries.stopped { return "declined as \(stopped.rawValue): the card must never be tried again" }
    if let reason, reason.needsCorrection { return "declined as \(reason.rawValue): another try needs new data" }
    guard declines >= AgreementSchedule.mostDeclines else { return nil }
    return "declined \(declines) times in a row, last as \(reason?.rawValue ?? "other")"
  }
}

extension DeclineReason {
  /// Whether the same card cannot be approved before its data or its holder's authentication is new.
  fileprivate var needsCorrection: Bool {
    switch self {
    case .expiredCard, .cryptogramInvalid, .authenticationRequired: true
    case .lostOrStolen, .invalidCard, .notPermitted, .doNotHonor, .insufficientFunds, .suspectedFraud, .limitExceeded,
      .issuerUnavailable, .configuration, .holdEnded, .approvedForLess, .other:
      false
    }
  }
}

/// A price that the merchant has named.
package struct AgreementPrice: Sendable, Hashable {
  /// For what is due then or later.
  package let from: Timestamp
  package let amount: Amount

  package init(_ amount: Amount, from: Timestamp) { (self.amount, self.from) = (amount, from) }
}

// Prices. Notice is the merchant's to give.
extension Journal {
  /// An agreement has so many prices at most.
  package static let mostPrices = 100

  /// Names the price of what is due from a time on; of a recurring payment's regular periods alone. It stands in the history.
  ///
  /// - Parameter reason: for people; nil for none.
  /// - Throws: ``AgreementError``; `JournalError.invalidAmount` for another currency, or not more than zero.
  package func price(
    _ id: AgreementID, of merchant: MerchantID, _ price: AgreementPrice, by party: AgreementParty,
    because reason: String? = nil, in store: Transaction
  ) throws {
    guard let known = try AgreementRows.find(id, in: store), known.merchant == merchant else {
      throw AgreementError.unknown(id)
    }
    // The payment first, as where its outcome moves the agreement.
    _ = try PaymentRecord.lock(known.firstPayment, in: store)
    let agreement = try AgreementRows.lock(id, in: store)
    guard let status = AgreementState.status(after: .priceNamed, in: agreement.status) else {
      throw AgreementError.notChargeable(agreement.status)
    }
    guard case .recurring = agreement.terms else { throw AgreementError.noPrice(agreement.terms.kind) }
    guard price.from.seconds >= store.now.seconds else { throw AgreementError.priceFromPast(price.from) }
    guard price.amount.isPositive, price.amount.currency == agreement.terms.amount.currency else {
      throw JournalError.invalidAmount(price.amount)
    }
    let others = try Self.prices(of: agreement, in: store).filter { $0.from != price.from }
    guard others.count < Self.mostPrices else { throw AgreementError.conflict }
    try store.run(
      """
      INSERT INTO agreement_prices (agreement, from_at, amount, created_at) VALUES ($1, $2, $3, $4)
      ON CONFLICT (agreement, from_at) DO UPDATE SET amount = excluded.amount, created_at = excluded.created_at
      """,
      .text(id.rawValue), .time(price.from), .integer(price.amount.minorUnits), .time(store.now))
    let words = ["\(price.amount) from \(price.from)", reason].compactMap(\.self).joined(separator: ": ")
    try AgreementRows.move(
      agreement, by: .priceNamed, to: status, party, because: String(words.prefix(200)), in: store)
  }

  /// The prices that the merchant has named, the earliest first.
  package static func prices(of agreement: Agreement, in store: Transaction) throws -> [AgreementPrice] {
    try store.rows(
      "SELECT from_at, amount FROM agreement_prices WHERE agreement = $1 ORDER BY from_at", .text(agreement.id.rawValue)
    ).map {
      AgreementPrice(
        Amount(minorUnits: try $0.integer("amount"), currency: agreement.terms.amount.currency),
        from: try $0.time("from_at"))
    }
  }

  /// A period with the price that the merchant has named for its date.
  package static func applyPrice(
    to period: AgreementCalendar.Period, of agreement: Agreement, in store: Transaction
  ) throws -> AgreementCalendar.Period {
    guard case .recurring = agreement.terms, agreement.calendar?.isTrial(period.number) == false,
      let amount = try AgreementRows.price(of: agreement, at: period.due ?? store.now, in: store)
    else { return period }
    return AgreementCalendar.Period(number: period.number, due: period.due, amount: amount)
  }
}
