/// The same work on one thread and on two at once: what two cores do more than one.
///
/// Two cores of a virtual machine are seldom twice one. So the primitives, which share nothing, are run likewise and in
/// turns: what they gain is what this machine has to give, and opening should gain as much.
struct TwoCores {
  private let token: BenchToken
  private let primitives: Primitives

  init(_ token: BenchToken, _ primitives: Primitives) { (self.token, self.primitives) = (token, primitives) }

  func run(rounds: Int) async throws {
    let opener = token.opener()
    try token.open(with: opener)
    let (token, primitives) = (token, primitives)
    var (opening, bare) = (Best(), Best())
    for _ in 0..<max(rounds / 2, 1) {
      try await measure(&opening) { try token.open(with: opener) }
      try await measure(&bare) {
        try primitives.verifyP256()
        try primitives.agree()
      }
    }
    report("token.ec.two-cores.rate", opening.two, "tokens/s")
    report("token.ec.two-cores.ratio", opening.ratio, "of-one-core", bar: 1.8)
    report("primitive.two-cores.ratio", bare.ratio, "of-one-core")
    report("token.ec.two-cores.of-primitives", opening.ratio / bare.ratio, "of-primitives", bar: 0.95)
  }

  /// The highest rates seen, a second.
  private struct Best {
    var (one, two) = (0.0, 0.0)
    var ratio: Double { two / one }
  }

  private func measure(_ best: inout Best, _ work: @escaping @Sendable () throws -> Void) async throws {
    best.one = max(best.one, try await rate(threads: 1, each: 800, work))
    best.two = max(best.two, try await rate(threads: 2, each: 400, work))
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
