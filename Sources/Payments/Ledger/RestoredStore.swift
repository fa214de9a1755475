package import Storage
package import TenderPayments

/// That a store was restored from a backup: what was committed after the backup is lost here, and happened elsewhere.
package struct RestoredStore: Sendable, Hashable {
  /// Above those of earlier restores, also of one that is lost itself: the seconds of its time.
  package let number: Int64
  /// The backup's name.
  package let backup: String
  /// When the backup began. What is older is in it.
  package let lostFrom: Timestamp
  package let restoredAt: Timestamp
  /// When the last of the closed routes was opened; nil while one is closed.
  package let endedAt: Timestamp?

  /// How long the basket of a lost payment may come again.
  private static let basketMemory: Duration = .seconds(86_400 * 31)

  /// How far the clocks of providers and of the machine that was lost may have differed.
  package static let clockMargin: Duration = .seconds(900)

  /// So many numbers and places each second has: no payment, and no server, has a million events in one.
  private static let eventsOfRestore: Int64 = 1_000_000

  /// Events of a payment go on above this number.
  var eventFloor: Int64 { number * Self.eventsOfRestore }

  /// Whether a payment existed, or may have existed, before the restore.
  func mayHaveKnown(_ payment: Payment) -> Bool { payment.createdAt < restoredAt }

  init(_ row: Row) throws {
    number = try row.integer("number")
    backup = try row.text("backup")
    lostFrom = try row.time("lost_from")
    restoredAt = try row.time("restored_at")
    endedAt = try row.timeOrNil("ended_at")
  }
}

/// A route of a restored store.
package struct RestoredRoute: Sendable, Hashable, Codable {
  package enum State: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing is sent on it: what the provider did since the backup is not known here.
    case closed
    /// What the provider did is in the journal.
    case reconciled
    /// A person has decided to go on without knowing it.
    case gapAccepted = "gap_accepted"
  }

  package let route: String
  package let state: State
  /// How many operations were adopted.
  package let adopted: Int
  package let note: String?

  init(_ row: Row) throws {
    route = try row.text("route")
    state = try row.value("state")
    adopted = Int(try row.integer("adopted"))
    note = try row.textOrNil("note")
  }
}

/// A restore and its routes, as the command line shows them.
package struct RestoreReport: Sendable, Hashable, Codable {
  package let number: Int64
  package let backup: String
  package let lostFrom: String
  package let restoredAt: String
  package let endedAt: String?
  package let routes: [RestoredRoute]
  /// By their route, how many agreements are not charged by their schedule before somebody says that they go on.
  package let waitingAgreements: [String: Int]

  init(_ restore: RestoredStore, _ routes: [RestoredRoute], _ waiting: [String: Int]) {
    (number, backup, self.routes, waitingAgreements) = (restore.number, restore.backup, routes, waiting)
    (lostFrom, restoredAt) = (restore.lostFrom.description, restore.restoredAt.description)
    endedAt = restore.endedAt?.description
  }
}

extension RestoredStore {
  /// The newest restore; nil for a store that never was restored.
  package static func find(in store: Transaction) throws -> RestoredStore? {
    try store.row("SELECT * FROM restores ORDER BY number DESC LIMIT 1").map(RestoredStore.init)
  }

  /// Writes into a copy of a store, or into the store before it is copied, that this is a backup.
  package static func mark(backup id: String, begunAt time: Timestamp, in store: Transaction) throws {
    try store.run("INSERT INTO backups (id, begun_at) VALUES ($1, $2)", .text(id), .time(time))
  }

  /// The newest backup that the store knows: its own, where it is one.
  package static func newestBackup(in store: Transaction) throws -> (id: String, begunAt: Timestamp)? {
    try store.row("SELECT id, begun_at FROM backups ORDER BY begun_at DESC, id DESC LIMIT 1").map {
      (try $0.text("id"), try $0.time("begun_at"))
    }
  }

  /// Marks a store that was just restored: its routes are closed, and the numbers of its events go on above all that may
  /// have been sent.
  ///
  /// - Parameters:
  ///   - time: not after now.
  ///   - routes: of the configuration. Those that the store has used are closed too.
  package static func begin(
    _ backup: String, lostFrom time: Timestamp, routes: [String], in store: Transaction
  ) throws -> RestoredStore {
    // A backup may be restored more than once, so what is counted in the store alone would come again.
    let number = max((try find(in: store)?.number ?? 0) + 1, store.now.seconds)
    try store.run(
      "INSERT INTO restores (number, backup, lost_from, restored_at) VALUES ($1, $2, $3, $4)", .integer(number),
      .text(backup), .time(time), .time(store.now))
    for route in try Set(routes).union(PostedOperation.routes(in: store)).sorted() {
      try close(route, of: number, in: store)
    }
    try store.run(
      "INSERT INTO outbox_head (id, position, handed_over_at) VALUES (1, 0, 0) ON CONFLICT DO NOTHING")
    try store.run(
      """
      UPDATE outbox_head SET position =
        CASE WHEN position + 1000000000 > $1 THEN position + 1000000000 ELSE $1 END
      """, .integer(number * eventsOfRestore))
    try expectMoreOfOpen(in: store)
    guard let restore = try find(in: store) else { throw StorageError.column("number") }
    return restore
  }

  /// The server that is lost may have gone on until now with what was open at the backup: its second step may have been
  /// taken, and *not found* means nothing before the settle horizon has passed.
  private static func expectMoreOfOpen(in store: Transaction) throws {
    try store.run(
      """
      UPDATE operations SET prepared_reference = COALESCE(prepared_reference, ''),
        sent_until = CASE WHEN sent_until > $1 THEN sent_until ELSE $1 END
      WHERE state IN ('sending', 'pending', 'unknown')
      """, .time(store.now))
  }

  private static func close(_ route: String, of restore: Int64, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO restored_routes (restore, route, state, adopted) VALUES ($1, $2, 'closed', 0) ON CONFLICT DO NOTHING
      """, .integer(restore), .text(route))
  }

  /// Closes the routes that the configuration names and the restore did not know, unless it has ended.
  package func close(_ routes: [String], in store: Transaction) throws {
    guard try Self.find(in: store)?.endedAt == nil else { return }
    for route in routes { try Self.close(route, of: number, in: store) }
  }

  package func routes(in store: Transaction) throws -> [RestoredRoute] {
    try store.rows("SELECT * FROM restored_routes WHERE restore = $1 ORDER BY route", .integer(number)).map(
      RestoredRoute.init)
  }

  /// On which nothing may be sent, since the last restore of the store.
  package static func closedRoutes(in store: Transaction) throws -> [String] {
    guard let restore = try find(in: store), restore.endedAt == nil else { return [] }
    return try restore.routes(in: store).filter { $0.state == .closed }.map(\.route)
  }

  /// Whether what was done at a time is in the backup, by any clock.
  func isKept(_ time: Timestamp, on route: String, in store: Transaction) throws -> Bool {
    try time < lostFrom(on: route, orAccepted: true, in: store).adding(.zero - Self.clockMargin)
  }

  /// From when on the route's provider may have done what is not known here: since the earliest restore after which nobody
  /// has said what it did, or since the newest one.
  ///
  /// - Parameter orAccepted: whether a gap that a person has accepted counts.
  func lostFrom(on route: String, orAccepted: Bool = false, in store: Transaction) throws -> Timestamp {
    let earliest = try store.row(
      """
      SELECT MIN(lost_from) AS lost FROM restores JOIN restored_routes ON restore = number
      WHERE route = $1 AND (state = 'closed' OR state = $2)
      """, .text(route), .text((orAccepted ? RestoredRoute.State.gapAccepted : .closed).rawValue))?.timeOrNil("lost")
    return min(lostFrom, earliest ?? lostFrom)
  }

  /// Whether a gap of the route may hide what was done before a restore: a person has accepted it, or a newer restore has
  /// closed the route again before anybody said what its provider did.
  ///
  /// - Parameters:
  ///   - time: only gaps of restores after it count.
  private func hasGap(since time: Timestamp, on route: String, in store: Transaction) throws -> Bool {
    try store.row(
      """
      SELECT number FROM restores JOIN restored_routes ON restore = number
      WHERE route = $1 AND restored_at > $2 AND (state = 'gap_accepted' OR state = 'closed' AND number < $3) LIMIT 1
      """, .text(route), .time(time), .integer(number)) != nil
  }

  /// Whether nothing may be sent on the route.
  package func isClosed(_ route: String, in store: Transaction) throws -> Bool {
    guard endedAt == nil else { return false }
    return try self.route(route, in: store)?.state == .closed
  }

  func route(_ name: String, in store: Transaction) throws -> RestoredRoute? {
    try store.row(
      "SELECT * FROM restored_routes WHERE restore = $1 AND route = $2", .integer(number), .text(name)
    ).map(RestoredRoute.init)
  }

  /// Counts what was adopted on a route, whether it opens or not.
  package func count(_ adopted: Int, of route: String, in store: Transaction) throws {
    try store.run(
      "UPDATE restored_routes SET adopted = adopted + $3 WHERE restore = $1 AND route = $2", .integer(number),
      .text(route), .integer(Int64(adopted)))
  }

  /// Opens a route. With the last one the restore ends.
  ///
  /// - Returns: false for a route that is not closed.
  @discardableResult
  package func open(
    _ route: String, as state: RestoredRoute.State, note: String? = nil, in store: Transaction
  ) throws -> Bool {
    let changed = try store.changes(
      """
      UPDATE restored_routes SET state = $3, note = $4, decided_at = $5
      WHERE restore = $1 AND route = $2 AND state = 'closed'
      """, .integer(number), .text(route), .text(state.rawValue), .text(optional: note), .time(store.now))
    try store.run(
      """
      UPDATE restores SET ended_at = $2 WHERE number = $1 AND ended_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM restored_routes WHERE restore = $1 AND state = 'closed')
      """, .integer(number), .time(store.now))
    return changed == 1
  }
}

// What a restored store refuses, because it may have been done and lost.
extension RestoredStore {
  /// A payment that was lost, and that a listing gave back, of the basket.
  package func lostPayment(
    of basket: BasketID, _ merchant: MerchantID, in store: Transaction
  ) throws -> PaymentID? {
    guard store.now < restoredAt.adding(Self.basketMemory) else { return nil }
    return try store.row(
      """
      SELECT payment FROM restored_payments JOIN payments ON payments.id = payment WHERE basket_mark = $1 LIMIT 1
      """, .text(BasketMark.of(basket, merchant)))?.value("payment")
  }

  /// A lost charge of a period that a merchant's call may repeat, also one that was reversed.
  package func lostCharge(
    of basket: BasketID, _ merchant: MerchantID, in store: Transaction
  ) throws -> PaymentID? {
    guard callsMayRepeat(at: store.now) else { return nil }
    return try Self.lostCharges(of: basket, merchant, in: store).first
  }

  /// The lost charges of a period, whenever the store was restored: those that hold or took money first.
  static func lostCharges(
    of basket: BasketID, _ merchant: MerchantID, in store: Transaction
  ) throws -> [PaymentID] {
    try store.rows(
      """
      SELECT payment FROM restored_payments LEFT JOIN payments ON payments.id = payment
      WHERE basket_mark = $1 ORDER BY COALESCE(live, 0) DESC, payment
      """, .text(BasketMark.of(basket, merchant))
    ).map { try $0.value("payment") }
  }

  /// Whether a lost payment of this amount was given back on one of the routes. A credential that says nothing of its age
  /// may have made it.
  package func hasLostPayment(of amount: Amount, through routes: [String], in store: Transaction) throws -> Bool {
    guard callsMayRepeat(at: store.now) else { return false }
    return try routes.contains { route in
      try store.row(
        """
        SELECT payment FROM restored_payments JOIN payments ON payments.id = payment
        WHERE restored_payments.route = $1 AND restored_payments.amount = $2 AND restored_payments.currency = $3 LIMIT 1
        """, .text(route), .integer(amount.minorUnits), .text(amount.currency.code)) != nil
    }
  }

  /// Whether a merchant's call that begins this operation may be the repeat of one that is lost: one of its kind was given
  /// back, or the payment is older than a gap of the route. An acquirer takes the whole of a hold once at most.
  package func mayRepeatLostCall(_ attempt: Attempt, in store: Transaction) throws -> Bool {
    guard callsMayRepeat(at: store.now) else { return false }
    let restored = try store.row(
      "SELECT reference FROM operations WHERE payment = $1 AND kind = $2 AND restored IS NOT NULL LIMIT 1",
      .text(attempt.payment.rawValue), .text(attempt.kind.rawValue))
    if restored != nil { return true }
    let takesHold = (attempt.kind == .capture || attempt.kind == .void) && attempt.isWhole
    guard !takesHold, let payment = try PaymentRecord.find(attempt.payment, in: store)?.payment else { return false }
    return try hasGap(since: max(payment.createdAt, Self.firstRepeated(at: store.now)), on: attempt.route, in: store)
  }

  /// Whether a charge of an agreement may have been made and lost in a gap of the route: its period began before.
  ///
  /// - Parameter due: when the period began; nil for a reload, which has no dates.
  package func mayHaveLostCharge(due: Timestamp?, through name: String, in store: Transaction) throws -> Bool {
    try hasGap(since: due ?? Self.firstRepeated(at: store.now), on: name, in: store)
  }

  /// What a call of before a restore began may come again until the restore is as old as this.
  private static func firstRepeated(at now: Timestamp) -> Timestamp { now.adding(.zero - IdempotencyKeys.memory) }

  /// As long as the keys of calls would have been kept.
  package func callsMayRepeat(at now: Timestamp) -> Bool { now < restoredAt.adding(IdempotencyKeys.memory) }
}

extension Journal {
  /// The journal of a store that may have been restored.
  package func readingRestore() async throws -> Journal {
    var journal = self
    journal.restore = try await database.read { try RestoredStore.find(in: $0) }
    return journal
  }

  /// The newest restore and its routes; nil for a store that never was restored.
  package func restoreReport() async throws -> RestoreReport? {
    try await database.read { store in
      try RestoredStore.find(in: store).map {
        RestoreReport($0, try $0.routes(in: store), try $0.waitingAgreements(in: store))
      }
    }
  }
}
