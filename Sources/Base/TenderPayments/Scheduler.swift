/// Monotonic time, sleeping, and work that outlives its caller. Injected everywhere, so that a simulation can control
/// it on one thread.
///
/// `WallClock` gives the time of day; this clock is monotonic.
public struct Scheduler: Sendable {
  /// The time since an arbitrary moment.
  public let uptime: @Sendable () -> Duration
  /// Returns after the duration, or throws when the task is cancelled.
  public let sleep: @Sendable (Duration) async throws -> Void
  /// Runs the work to its end even when the caller is cancelled, and returns then.
  public let finish: @Sendable (@escaping @Sendable () async -> Void) async -> Void

  /// A time that passes as these three functions say.
  public init(
    uptime: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
    finish: @escaping @Sendable (@escaping @Sendable () async -> Void) async -> Void
  ) {
    self.uptime = uptime
    self.sleep = sleep
    self.finish = finish
  }

  /// The operating system's.
  public static let system = {
    let start = ContinuousClock.now
    return Scheduler(
      uptime: { start.duration(to: ContinuousClock.now) }, sleep: { try await Task.sleep(for: $0) },
      finish: { work in await Task { await work() }.value })
  }()
}

extension Scheduler {
  /// Runs `work` to its end, even if the caller is cancelled, and returns its result.
  public func finishing<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let box = ResultBox<Value>()
    await finish {
      do { await box.keep(.success(try await work())) } catch { await box.keep(.failure(error)) }
    }
    guard let result = await box.result else { throw CancellationError() }
    return try result.get()
  }
}

/// Passes the result of the work to the caller's task.
private actor ResultBox<Value: Sendable> {
  private(set) var result: Result<Value, any Error>?

  func keep(_ result: Result<Value, any Error>) { self.result = result }
}
