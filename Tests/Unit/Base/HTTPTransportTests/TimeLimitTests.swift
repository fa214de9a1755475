import HTTPTransport
import NIOPosix
import TenderTesting
import Testing

private struct Late: Error {}
private struct Broken: Error {}

@Suite struct `A time limit` {
  private func run(_ length: Duration, _ work: @escaping @Sendable () async throws -> Int) async throws -> Int {
    try await TimeLimit(length, on: MultiThreadedEventLoopGroup.singleton.any()).run(late: Late(), work)
  }

  /// Until it is cancelled.
  @Sendable private static func forever() async throws -> Int {
    try await Task.sleep(for: TestRun.whole)
    return 1
  }

  @Test func `does not affect work that finishes in time`() async throws {
    #expect(try await run(TestRun.whole) { 7 } == 7)
    await #expect(throws: Broken.self) { try await run(TestRun.whole) { throw Broken() } }
  }

  @Test func `cancels work that is late`() async {
    await #expect(throws: Late.self) { try await run(.milliseconds(50), Self.forever) }
  }

  @Test func `reports work as late even if it succeeds afterwards`() async {
    await #expect(throws: Late.self) {
      try await run(.milliseconds(50)) { (try? await Self.forever()) ?? 7 }
    }
  }

  @Test func `passes at its own time, whatever other limits are set`() async {
    let lengths = (1...40).map { Duration.milliseconds(($0 * 37) % 200 + 1) }
    await withTaskGroup(of: Bool.self) { group in
      for length in lengths {
        group.addTask {
          let (start, result) = (ContinuousClock.now, try? await run(length, Self.forever))
          return result == nil && ContinuousClock.now - start >= length
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test func `cancels the work when the caller is cancelled`() async {
    let caller = Task { try await run(TestRun.whole, Self.forever) }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
  }
}
