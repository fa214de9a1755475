import LoadGenerator

/// Payments at half of the most, beside an acquirer that takes 50 ms.
///
/// The disk alone, a store on the disk and one in memory take turns, to separate the disk's share of the time from
/// Tender's.
struct SlowAcquirer: Sendable {
  static let delay: Duration = .milliseconds(50)

  let suite: Suite
  let most: Double

  func measure() async throws {
    try await suite.environment.acquirer.answers(after: Self.delay)
    let memory = try await ServedStore.inMemory(suite.environment, binary: suite.binary)
    do { try await compare(memory) } catch {
      try? await memory?.close()
      throw error
    }
    try await memory?.close()
    try await suite.environment.acquirer.answers(after: .zero)
  }

  private func compare(_ memory: ServedStore?) async throws {
    var onDisk = Turns(suite)
    var inMemory: Turns? = if let memory { Turns(try await suite.on(memory)) } else { nil }
    var alone: [Flushes] = []
    for seed in 1...Turns.count {
      alone.append(try await DiskFlush(directory: suite.environment.directory).measure(for: suite.length / 2))
      try await onDisk.add(rate: most / 2, seed: seed)
      try await inMemory?.add(rate: most / 2, seed: seed)
    }
    printResults(alone)
    inMemory?.printResults("payments.acquirer-50ms.memory")
    onDisk.printResults("payments.acquirer-50ms", bar: .atMost(65))
  }

  private func printResults(_ disk: [Flushes]) {
    let all = Latencies(disk.flatMap { $0.times.microseconds })
    for (label, share) in [("p50", 0.5), ("p99", 0.99), ("longest", 1)] {
      report("disk.flush.\(label)", all.percentile(share) ?? 0, "ms")
    }
    let payments = disk.compactMap { $0.payments(acquirer: Self.delay).percentile(0.99) }.sorted()
    report("disk.payments.p99.middle", payments[payments.count / 2], "ms")
    report("disk.payments.p99", payments[0], "ms")
  }
}
