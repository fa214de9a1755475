/// Runs of one kind of work, one at a time. Who asks while one is under way shares the next one with all who ask meanwhile:
/// no answer is older than its question.
package actor SharedRuns<Output: Sendable> {
  private var last: Task<Output, any Error>?
  private var lastHasBegun = false

  package init() {}

  package func output(_ run: @escaping @Sendable () async throws -> Output) async throws -> Output {
    if let last, !lastHasBegun { return try await last.value }
    let earlier = last
    lastHasBegun = false
    let next = Task {
      _ = await earlier?.result
      lastHasBegun = true
      return try await run()
    }
    last = next
    return try await next.value
  }
}
