import Synchronization

/// Bounds on how long work may take, all of them on one timer.
///
/// With a timer for each, every call would wake a thread to set it and another to stop it, and hardly any ever rings. Here
/// a limit is a line in a list, and one task sleeps until the first of them is over.
package final class TimeLimits: Sendable {
  /// Of this process.
  package static let shared = TimeLimits()

  private struct Limit {
    let end: ContinuousClock.Instant
    let stop: @Sendable () -> Void
  }

  private struct State {
    var limits: [Int: Limit] = [:]
    var last = 0
    /// When the sleeper looks again; nil while nobody sleeps.
    var wakes: ContinuousClock.Instant?
    /// Which sleeper counts: one that was to wake too late is replaced.
    var sleeper = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// Runs `work`; when the moment has come, or the caller is cancelled, cancels it and waits until it is out.
  ///
  /// - Throws: what `work` throws; `late` when it was not done in time, whatever it came to afterwards.
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

  /// - Returns: whether it was not over yet.
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

  /// Stops whatever is over.
  ///
  /// - Returns: when this sleeper is to look again; nil when it is not needed any more.
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
