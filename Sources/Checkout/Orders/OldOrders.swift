import Ledger
package import Storage
package import TenderPayments
import TenderSheet

extension OrderErasure {
  /// Finds orders whose contacts are older than their limit, and locks them.
  package static func due(before end: Timestamp, atMost limit: Int, in store: Transaction) throws -> [OrderID] {
    try store.unclaimedRows(
      "SELECT order_id FROM order_contacts WHERE order_id < $1 ORDER BY order_id LIMIT $2", .text(end.idPrefix),
      .integer(Int64(limit))
    ).map { OrderID(try $0.text("order_id")) }
  }
}

extension OrderContacts {
  /// Seals contacts that are stored in clear: one step.
  ///
  /// - Returns: whether all is done for now.
  package static func sealSome(atMost limit: Int, in store: Transaction) throws -> Bool {
    guard store.rowKeys != nil else { return true }
    return try RetentionProgress.advance(.seals, in: store) { progress in
      let rows = try store.unclaimedRows(
        "SELECT order_id, contact, sealed FROM order_contacts WHERE order_id > $1 ORDER BY order_id LIMIT $2",
        .text(progress.position), .integer(Int64(limit)))
      for row in rows where try row.blobOrNil("sealed") == nil {
        let order = OrderID(try row.text("order_id"))
        try OrderContact(row, of: order, in: store)?.save(of: order, in: store)
        progress.removed += 1
      }
      progress.position = try rows.last?.text("order_id") ?? progress.position
      progress.until = Timestamp(ofID: progress.position) ?? progress.until
      return rows.count < limit
    }
  }
}

extension OrderService {
  /// After how long the walk through the baskets begins anew: a basket that was put again later was passed.
  private static let lap = Duration.seconds(30 * 86_400)

  /// Removes baskets that ended long ago and of which no order was made, and quotes that no order was placed with: one
  /// step. Those of hosted checkouts go with their checkout.
  ///
  /// - Parameters:
  ///   - end: when they ended at the latest.
  ///   - limit: at how many baskets one step looks.
  /// - Returns: whether all is done for now.
  package static func forgetBaskets(before end: Timestamp, atMost limit: Int, in store: Transaction) throws -> Bool {
    try RetentionProgress.advance(.baskets, in: store) { progress in
      progress.beginAgain(after: lap, at: store.now)
      let rows = try store.rows(
        """
        SELECT id, order_id, hosted, expires_at FROM baskets WHERE order_id > $1 AND order_id < $2
        ORDER BY order_id LIMIT $3
        """, .text(progress.position), .text(end.idPrefix), .integer(Int64(limit)))
      for row in rows where try row.integer("hosted") == 0 && row.time("expires_at") < end {
        let basket = BasketID(try row.text("id"))
        if try isOrdered(basket, in: store) {
          try store.run(
            "DELETE FROM quotes WHERE basket = $1 AND id NOT IN (SELECT quote FROM orders WHERE basket = $1)",
            .text(basket.rawValue))
        } else {
          try forget(basket, in: store)
          progress.removed += 1
        }
      }
      if let last = try rows.last?.text("order_id") {
        progress.position = last
        progress.markDone(last, before: end)
      }
      guard rows.count < limit else { return false }
      progress.until = max(progress.until, end)
      return true
    }
  }
}
