import LoadGenerator
import Testing

@Suite("What a disk alone does to payments") struct FlushesTests {
  /// Every 10 ms one that takes so long.
  private func flushes(_ count: Int, taking milliseconds: (Int) -> Int) -> Flushes {
    Flushes(
      (0..<count).map { index in
        .init(began: .milliseconds(10 * index), ended: .milliseconds(10 * index + milliseconds(index)))
      })
  }

  @Test func `a flush takes from its beginning to its end`() {
    #expect(flushes(3) { $0 + 1 }.times.microseconds == [1_000, 2_000, 3_000])
  }

  @Test func `a payment waits for two that begin after it and after the acquirer's answer`() {
    let payments = flushes(200) { _ in 2 }.payments(acquirer: .milliseconds(50))
    // At the moment of a flush: 2 ms, 50 of the acquirer, and at 52 the next begins at 60. Just after one: 9.5 more.
    #expect(payments.percentile(0.01) == 62)
    #expect(payments.percentile(1) == 71.5)
  }

  @Test func `one that stands still is felt by all that come meanwhile`() {
    let payments = Flushes([
      .init(began: .zero, ended: .milliseconds(1)), .init(began: .milliseconds(2), ended: .milliseconds(102)),
      .init(began: .milliseconds(103), ended: .milliseconds(104)),
    ]).payments(acquirer: .milliseconds(1))
    // Who comes after the second has begun finds no further one after the acquirer's answer, and does not count.
    #expect(payments.microseconds == [102_000, 102_000, 102_500, 103_000, 103_500])
  }
}
