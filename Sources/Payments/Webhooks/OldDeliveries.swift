import Ledger
package import Storage
package import TenderPayments

extension WebhookDispatcher {
  /// After how long the walk through old payments begins anew: a refund brings events of a payment that was passed.
  private static let lap = Duration.seconds(86_400)

  /// Removes deliveries that ended long ago, acknowledged or given up: one step. The events stay.
  ///
  /// - Parameters:
  ///   - end: when they ended at the latest.
  ///   - limit: at how many deliveries one step looks.
  /// - Returns: whether all is done for now.
  package static func forgetDeliveries(
    before end: Timestamp, atMost limit: Int, in store: Transaction
  ) throws -> Bool {
    try RetentionProgress.advance(.deliveries, in: store) { progress in
      progress.beginAgain(after: lap, at: store.now)
      let place = progress.position.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      let rows = try store.rows(
        """
        SELECT payment, endpoint, seq, state, finished_at FROM webhook_deliveries
        WHERE (payment, endpoint, seq) > ($1, $2, $3) AND payment < $4 ORDER BY payment, endpoint, seq LIMIT $5
        """, .text(place.first ?? ""), .text(place.count == 3 ? place[1] : ""),
        .integer(place.count == 3 ? Int64(place[2]) ?? 0 : 0), .text(end.idPrefix), .integer(Int64(limit)))
      for row in rows {
        guard let finished = try row.integerOrNil("finished_at"), finished < end.microseconds else { continue }
        progress.removed += Int64(
          try store.changes(
            """
            DELETE FROM webhook_deliveries WHERE payment = $1 AND endpoint = $2 AND seq = $3 AND state <> 'waiting'
              AND finished_at < $4
            """, .text(try row.text("payment")), .text(try row.text("endpoint")), .integer(try row.integer("seq")),
            .time(end)))
      }
      if let last = rows.last {
        let payment = try last.text("payment")
        progress.position = "\(payment)\n\(try last.text("endpoint"))\n\(try last.integer("seq"))"
        progress.markDone(payment, before: end)
      }
      guard rows.count < limit else { return false }
      progress.until = max(progress.until, end)
      return true
    }
  }
}
