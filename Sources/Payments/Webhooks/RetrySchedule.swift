/// When a webhook that was not acknowledged is tried again. The same try and the same chance give the same wait.
package struct RetrySchedule: Sendable, Hashable {
  /// The wait after the first failure, after the second, and so on. After the last the event is a dead letter.
  package let waits: [Duration]

  package init(waits: [Duration]) { self.waits = waits }

  /// Twelve tries in about three days.
  package static let standard = RetrySchedule(waits: [
    .seconds(10), .seconds(60), .seconds(5 * 60), .seconds(15 * 60), .seconds(3_600), .seconds(2 * 3_600),
    .seconds(4 * 3_600), .seconds(8 * 3_600), .seconds(12 * 3_600), .seconds(20 * 3_600), .seconds(24 * 3_600),
  ])

  /// Between 80 and 120 hundredths of the wait, so that what failed together does not come back together; nil when
  /// it was the last try.
  ///
  /// - Parameters:
  ///   - tries: how many have failed, 1 or more.
  ///   - chance: 0 to 65,535.
  package func wait(afterFailures tries: Int64, chance: UInt16) -> Duration? {
    guard tries >= 1, tries <= waits.count else { return nil }
    let hundredths = 80 + Int(chance) * 41 / 65_536
    return waits[Int(tries) - 1] / 100 * hundredths
  }
}
