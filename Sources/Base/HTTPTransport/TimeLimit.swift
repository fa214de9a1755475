package import NIOCore
import Synchronization

/// A limit on how long asynchronous work may take: a timer on an event loop.
package struct TimeLimit: Sendable {
  private let length: Duration
  private let eventLoop: any EventLoop

  package init(_ length: Duration, on eventLoop: any EventLoop) {
    self.length = length
    self.eventLoop = eventLoop
  }

  /// Runs `work`. When the limit passes, or the caller is cancelled, cancels `work` and waits until it returns.
  ///
  /// - Throws: what `work` throws; `late` when it did not finish in time, even if it succeeded later.
  package func run<R: Sendable>(
    late: any Error, _ work: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    let task = Task { try await work() }
    let expiry = Expiry()
    let timer = eventLoop.scheduleTask(in: TimeAmount(length)) {
      expiry.pass()
      task.cancel()
    }
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    timer.cancel()
    guard !expiry.hasPassed else { throw late }
    return try result.get()
  }
}

/// Whether a limit has passed.
private final class Expiry: Sendable {
  private let passed = Atomic(false)

  var hasPassed: Bool { passed.load(ordering: .acquiring) }

  func pass() { passed.store(true, ordering: .releasing) }
}
