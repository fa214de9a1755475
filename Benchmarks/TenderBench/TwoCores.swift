/// The same work on one thread and on two at once: what two cores do more than one.
struct TwoCores {
  private let token: BenchToken

  init(_ token: BenchToken) { self.token = token }

  func run(rounds: Int) async throws {
    let opener = token.opener()
    try token.open(with: opener)
    var (one, two) = (0.0, 0.0)
    for _ in 0..<max(rounds / 4, 1) {
      one = max(one, try await rate(threads: 1, each: 800) { try token.open(with: opener) })
      two = max(two, try await rate(threads: 2, each: 400) { try token.open(with: opener) })
    }
    report("token.ec.two-cores.rate", two, "tokens/s")
    report("token.ec.two-cores.ratio", two / one, "of-one-core")
  }

  private func rate(threads: Int, each count: Int, _ work: @escaping @Sendable () throws -> Void) async throws -> Double
  {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<threads {
        group.addTask { for _ in 0..<count { try work() } }
      }
      try await group.waitForAll()
    }
    return Double(threads * count) / (ContinuousClock.now - start).seconds
  }
}
