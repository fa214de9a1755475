import Storage

// Defects that only several processes on one database show.
extension Mutant {
  // A lease, a fence or another lock that is left out shows in none of a hundred seeds: behind each stands a unique key,
  // a condition of the UPDATE or the acquirer's own idempotency. `gateway-bugs` has most of them.
  static let betweenNodes: [Mutant] = [
    Mutant("a read of a standby that lags behind is believed", .believesStandby),
    Mutant("a commit in doubt counts as done", .believesCommits),
    Mutant("a commit in doubt counts as not done", .believesLosses),
    Mutant(
      "a payment is changed without its lock",
      locking: { lock, sql in sql.contains("FROM payments WHERE id") ? .none : lock }),
  ]
}
