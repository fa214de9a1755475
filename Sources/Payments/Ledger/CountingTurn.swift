import TenderPayments

/// Which of several processes counts the payments: the one that does, as long as it does. All may count at once, and the
/// figures are exact; but each would do the work of all.
package struct CountingTurn {
  /// When no mark was given out for so long, another process takes over.
  private static let timeout: Duration = .seconds(60)
  /// When a process that is still at one piece of work gives out another mark.
  private static let renewal: Duration = .seconds(20)

  /// The last mark that was seen, and since when; nil before the first look.
  private var seen: (mark: Int64, since: Duration)?
  private var countsNow = true

  package init() {}

  /// Whether this process counts now.
  ///
  /// - Parameters:
  ///   - mark: the last that was given out. It is another process's if it is not the one at the end of our turn.
  ///   - now: of a clock that only rises.
  package mutating func isOurs(_ mark: Int64, at now: Duration) -> Bool {
    guard let last = seen else {
      seen = (mark, now)
      return true
    }
    if mark != last.mark {
      seen = (mark, now)
      countsNow = false
    } else if now - last.since >= Self.timeout {
      countsNow = true
    }
    return countsNow
  }

  /// Whether this process has to give out a mark, so that the others know that it is still at work.
  package mutating func mustRenew(at now: Duration) -> Bool {
    guard let last = seen, now - last.since >= Self.renewal else { return false }
    seen?.since = now
    return true
  }

  /// - Parameter mark: the last that was given out.
  package mutating func ends(_ mark: Int64) {
    if countsNow { seen?.mark = mark }
  }
}
