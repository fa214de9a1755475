import Synchronization

/// Time limits for asynchronous work, all on one timer.
///
/// One timer per call would wake a thread to set it and another to cancel it, and hardly any fires. Here a limit is a
/// list entry, and one task sleeps until the first limit passes.
package final class TimeLimits: Sendable {
  /// The instance of this process.
  package static let shared = TimeLimits()

  private struct Limit {
    let end: ContinuousClock.Instant
    let stop: @Sendable () -> Void
  }

  private struct State {
    var limits: [Int: Limit] = [:]
    var last = 0
    /// When the sleeping task wakes; nil when none sleeps.
    var wakes: ContinuousClock.Instant?
    /// The number of the current sleeping task; one that would wake too late is replaced.
    var sleeper = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// Runs `work`. When the deadline passes, or the caller is cancelled, cancels `work` and waits until it returns.
  ///
  /// - Throws: what `work` throws; `late` when it did not finish in time, even if it succeeded later.
  package func run<R: Sendable>(
    until end: ContinuousClock.Instant, late: any Error, _ work: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    let task = Task { try await work() }
    let limit = add(Limit(end: end) { task.cancel() })
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    guard remove(limit) else { throw late }
    return try result.get()
  }

  private func add(_ limit: Limit) -> Int {
    let (id, sleeper) = state.withLock { state in
      state.last += 1
      state.limits[state.last] = limit
      guard state.wakes.map({ limit.end < $0 }) ?? true else { return (state.last, nil as Int?) }
      state.wakes = limit.end
      state.sleeper += 1
      return (state.last, state.sleeper)
    }
    if let sleeper { sleep(sleeper, until: limit.end) }
    return id
  }

  /// - Returns: whether the limit had not passed yet.
  private func remove(_ limit: Int) -> Bool { state.withLock { $0.limits.removeValue(forKey: limit) != nil } }

  private func sleep(_ sleeper: Int, until first: ContinuousClock.Instant) {
    Task { [self] in
      var moment: ContinuousClock.Instant? = first
      while let next = moment {
        try? await Task.sleep(until: next)
        moment = ring(sleeper)
      }
    }
  }

  /// Cancels the work whose limit has passed.
  ///
  /// - Returns: when this task wakes next; nil when it is no longer needed.
  private func ring(_ sleeper: Int) -> ContinuousClock.Instant? {
    let (over, next) = state.withLock { state in
      guard state.sleeper == sleeper else { return ([] as [Limit], nil as ContinuousClock.Instant?) }
      let now = ContinuousClock.now
      let over = state.limits.filter { $0.value.end <= now }
      for id in over.keys { state.limits[id] = nil }
      state.wakes = state.limits.values.map(\.end).min()
      return (Array(over.values), state.wakes)
    }
    for limit in over { limit.stop() }
    return next
  }
}
