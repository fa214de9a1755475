import Storage

// Defects that only several processes on one database show.
extension Mutant {
  static let betweenNodes: [Mutant] =
    [
      Mutant("a read of a standby that lags behind is believed", .believesStandby),
      Mutant("a commit in doubt counts as done", .believesCommits),
      Mutant("leases end by a node's own clock", .believesOwnClock),
      replacing(
        "the lease of another node is not looked at", "AND lease_until <= $# AND next_try <= $#",
        "AND lease_until <= $#1 + 9000000000000000 AND next_try <= $#2"),
      replacing(
        "the fence is ignored", "WHERE reference = $# AND fence = $# AND",
        "WHERE reference = $#1 AND fence <= fence + 0 * $#2 AND"),
      Mutant(
        "a claim that met another's unique key does not look for the payment",
        dialect: {
          replacing(
            "SELECT * FROM payments WHERE order_id", with: "SELECT * FROM payments WHERE 1 = 0 AND order_id", in: $0)
        }),
    ] + withoutLocks

  /// Statements whose rows are not locked.
  private static let withoutLocks: [Mutant] = [
    unlocked("a due capture is begun without its lock", "capture_due <= "),
    unlocked("the end of a hold is begun without its lock", "hold_until <= "),
    unlocked("events are handed over without the lock of the head", "FROM outbox_head"),
    unlocked("operations are leased without their locks", "FROM operations"),
    unlocked("webhooks are claimed without their locks", "FROM webhook_deliveries"),
    unlocked("a payment is changed without its lock", "SELECT * FROM payments WHERE id"),
    unlocked("the head of an audit chain is read without its lock", "FROM audit_heads"),
    unlocked("a basket is paid without its lock", "FROM baskets"),
  ]

  private static func unlocked(_ name: String, _ text: String) -> Mutant {
    Mutant(name, locking: { lock, sql in sql.contains(text) ? .none : lock })
  }
}
