/// Payments at half of the most, beside an acquirer that takes 50 ms.
///
/// A store on the disk and one in memory take turns: what the first needs beyond the second is the disk's.
struct SlowAcquirer: Sendable {
  static let delay: Duration = .milliseconds(50)

  let suite: Suite
  let most: Double

  func measure() async throws {
    try await suite.house.acquirer.answers(after: Self.delay)
    let memory = try await ServedStore.inMemory(suite.house, binary: suite.binary)
    do { try await compare(memory) } catch {
      try? await memory?.close()
      throw error
    }
    try await memory?.close()
    try await suite.house.acquirer.answers(after: .zero)
  }

  private func compare(_ memory: ServedStore?) async throws {
    var onDisk = Turns(suite)
    var inMemory: Turns? = if let memory { Turns(try await suite.on(memory)) } else { nil }
    for seed in 1...Turns.count {
      try await onDisk.add(rate: most / 2, seed: seed)
      try await inMemory?.add(rate: most / 2, seed: seed)
    }
    inMemory?.tell("payments.acquirer-50ms.memory")
    onDisk.tell("payments.acquirer-50ms", bar: .atMost(65))
  }
}
