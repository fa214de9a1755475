package import Storage
package import TenderPayments

// What a restore means for agreements: a charge that was lost and came back is its period's, and no schedule goes on before
// somebody says that the agreement still holds.

extension BasketID {
  /// In the place of a basket: the same for every charge of the period, so that a listing after a restore tells which period
  /// a lost payment was for.
  package static func period(_ number: Int64, of agreement: AgreementID) -> BasketID {
    BasketID("agreement:\(agreement):\(number)")
  }
}

extension RestoredStore {
  /// Whether the agreement's schedule waits: it may have been suspended, ended or changed in the lost time, and nobody has
  /// changed or confirmed it since.
  func holds(_ agreement: Agreement) -> Bool {
    agreement.status == .active && agreement.schedule?.at != nil && agreement.updatedAt <= restoredAt
  }

  /// By their route, how many agreements wait.
  func waitingAgreements(in store: Transaction) throws -> [String: Int] {
    let rows = try store.rows(
      """
      SELECT payments.route, COUNT(*) AS waiting FROM agreements JOIN payments ON payments.id = agreements.payment
      WHERE agreements.status = 'active' AND agreements.schedule_at IS NOT NULL AND agreements.updated_at <= $1
      GROUP BY payments.route
      """, .time(restoredAt))
    return Dictionary(
      uniqueKeysWithValues: try rows.map { (try $0.text("route"), Int(try $0.integer("waiting"))) })
  }

  /// Lets the schedules of a route's agreements go on.
  ///
  /// - Returns: of how many.
  package func resumeSchedules(of route: String, in store: Transaction) throws -> Int {
    Int(
      try store.changes(
        """
        UPDATE agreements SET updated_at = $2, version = version + 1
        WHERE status = 'active' AND schedule_at IS NOT NULL AND updated_at <= $3
          AND payment IN (SELECT id FROM payments WHERE route = $1)
        """, .text(route), .time(max(store.now, restoredAt.adding(.microseconds(1)))), .time(restoredAt)))
  }

  /// How many agreements wait; for a store that may never have been restored.
  package static func waitingAgreements(in store: Transaction) throws -> Int {
    try find(in: store)?.waitingAgreements(in: store).values.reduce(0, +) ?? 0
  }
}

extension Journal {
  /// Gives a period the charge that was lost and came back, unless it has a payment that holds.
  ///
  /// - Returns: whether one was lost and given to it now, or was reversed, so that it is no payment here.
  @discardableResult
  func takeLostCharge(of period: Int64, of agreement: Agreement, in store: Transaction) throws -> Bool {
    guard restore != nil,
      let lost = try RestoredStore.lostCharges(
        of: .period(period, of: agreement.id), agreement.merchant, in: store
      ).first
    else { return false }
    guard let payment = try PaymentRecord.find(lost, in: store) else { return true }
    guard payment.agreement == nil else { return false }
    if let known = try AgreementRows.order(of: period, of: agreement.id, in: store),
      try Self.livePayment(of: known, in: store) != nil
    {
      return false
    }
    try AgreementRows.replaceOrder(
      of: period, of: agreement.id, by: payment.payment.order, due: agreement.calendar?.period(period)?.due, in: store)
    try AgreementRows.mark(lost, as: agreement.id, in: store)
    return true
  }

  /// Those that were charged and lost follow each other, from the last one here, which may have been declined.
  func takeLostReloads(of agreement: Agreement, in store: Transaction) throws {
    guard restore != nil else { return }
    var number = max(try AgreementRows.lastPeriod(of: agreement.id, in: store) ?? 0, 1)
    repeat {
      try takeLostCharge(of: number, of: agreement, in: store)
      number += 1
    } while try AgreementRows.order(of: number - 1, of: agreement.id, in: store) != nil
  }

  /// Whether a period's charge was lost and came back.
  package static func hasRestoredCharge(
    _ period: Int64, of agreement: AgreementID, in store: Transaction
  ) throws -> Bool {
    guard let order = try AgreementRows.order(of: period, of: agreement, in: store) else { return false }
    return try store.row(
      """
      SELECT payment FROM restored_payments JOIN payments ON payments.id = payment WHERE payments.order_id = $1 LIMIT 1
      """, .text(order.rawValue)) != nil
  }
}
