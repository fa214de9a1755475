import Orders
package import Storage
package import TenderPayments

extension HostedCheckout {
  /// How long a checkout without an order is kept after its end: the merchant's server may ask late.
  static let keeping = Duration.seconds(30 * 86_400)

  /// Deletes what has ended, as ``forget(_:by:in:)`` does, where a checkout is kept longer than it has to be.
  ///
  /// - Parameter end: when a checkout ended at the latest.
  package static func forget(_ limit: Int, endedBefore end: Timestamp, in store: Transaction) throws -> Bool {
    try forget(limit, by: end.adding(keeping), in: store)
  }

  /// Deletes what has ended: codes for a phone, and checkouts that no shopper tried to pay. At most `limit` of each, and
  /// no checkout that another process deletes at this moment.
  ///
  /// - Parameter end: the moment by which it has ended; a later one than the store's own counts as that.
  /// - Returns: whether there may be more.
  package static func forget(_ limit: Int, by end: Timestamp, in store: Transaction) throws -> Bool {
    let now = min(store.now, end)
    let codes = try Handover.forget(limit, by: now, in: store)
    let ended = try store.unclaimedRows(
      "SELECT id FROM hosted_checkouts WHERE forget_at <= $1 ORDER BY forget_at LIMIT $2", .time(now),
      .integer(Int64(limit))
    ).map { BasketID(try $0.text("id")) }
    for checkout in ended { try forget(checkout, in: store) }
    return codes == limit || ended.count == limit
  }

  /// The rows of one checkout; those of a basket that an order was made of are kept from now on.
  private static func forget(_ checkout: BasketID, in store: Transaction) throws {
    let id = SQLValue.text(checkout.rawValue)
    guard try !OrderService.isOrdered(checkout, in: store) else {
      try store.run("UPDATE hosted_checkouts SET forget_at = NULL WHERE id = $1", id)
      return
    }
    try store.run("DELETE FROM hosted_handovers WHERE checkout = $1", id)
    try store.run("DELETE FROM hosted_checkouts WHERE id = $1", id)
    try OrderService.forget(checkout, in: store)
  }
}

extension Handover {
  fileprivate static func forget(_ limit: Int, by end: Timestamp, in store: Transaction) throws -> Int {
    try store.changes(
      """
      DELETE FROM hosted_handovers WHERE expires_at <= $1 AND code_hash IN
        (SELECT code_hash FROM hosted_handovers WHERE expires_at <= $1 LIMIT $2)
      """, .time(end), .integer(Int64(limit)))
  }
}
