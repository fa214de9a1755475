/// The generator's check of itself: a server that stands still for a while must show in the percentiles.
///
/// Of the calls that come evenly while it stands, the first waits all of the time and the last not at all. So one in a
/// hundred of the whole run waits longer than `stop - run/100`, and that is what the 99th percentile has to be, plus
/// what the server then needs to catch up. A generator that waits with the server sends fewer calls meanwhile, and shows
/// a few milliseconds.
package struct Standstill: Sendable {
  package let stop: Duration
  package let run: Duration

  package init(stop: Duration, run: Duration) { (self.stop, self.run) = (stop, run) }

  /// Milliseconds.
  package var expected: Double { (stop.seconds - run.seconds / 100) * 1_000 }

  /// Whether a reported 99th percentile, in milliseconds, shows the standstill: no less than nine tenths of what it has
  /// to be, and no more than the standstill and half as long again to catch up.
  package func shows(in percentile: Double) -> Bool {
    percentile >= 0.9 * expected && percentile <= 1.5 * stop.seconds * 1_000
  }
}
