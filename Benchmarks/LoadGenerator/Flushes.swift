/// Flushes in the order in which they were made.
package struct Flushes: Sendable {
  package struct Flush: Sendable {
    /// Both since the first.
    package let began: Duration
    package let ended: Duration

    package init(began: Duration, ended: Duration) { (self.began, self.ended) = (began, ended) }
  }

  private let all: [Flush]

  package init(_ all: [Flush]) { self.all = all }

  package var times: Latencies { Latencies(all.map { ($0.ended - $0.began).microseconds }) }

  /// How long a payment would wait for these flushes if everything else took no time: it comes at any moment, waits for
  /// the next flush that begins, asks the acquirer, and waits for one more.
  package func payments(acquirer: Duration) -> Latencies {
    let moments = stride(from: 0, to: all.last?.began.microseconds ?? 0, by: 500).map { Duration.microseconds($0) }
    return Latencies(
      moments.compactMap { moment in
        guard let claimed = end(after: moment), let kept = end(after: claimed + acquirer) else { return nil }
        return (kept - moment).microseconds
      })
  }

  /// When a flush has ended that began at this moment or later.
  private func end(after moment: Duration) -> Duration? {
    var (low, high) = (0, all.count)
    while low < high {
      let middle = (low + high) / 2
      if all[middle].began < moment { low = middle + 1 } else { high = middle }
    }
    return low < all.count ? all[low].ended : nil
  }
}

extension Duration {
  fileprivate var microseconds: Int64 { Int64((seconds * 1e6).rounded()) }
}
