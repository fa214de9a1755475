import Foundation
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A listener whose connections and requests run on threads of its own. However busy it is, it takes none of those on
/// which payments run.
package struct SeparateListener: Service {
  /// On how many threads its requests run: at most two, and one fewer than there are processors.
  package static let threads = min(2, max(1, ProcessInfo.processInfo.activeProcessorCount - 1))

  /// Two, for the back office and the command line. They live as long as the process: a listener that is cancelled is
  /// closed by a task of its own, which may come after its run has ended.
  static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)

  /// Makes the listener, with the group that its connections belong to.
  let listener: @Sendable (_ connections: any EventLoopGroup) -> any Service

  package func run() async throws {
    let (connections, requests) = (Self.loops.next(), RequestThreads(Self.threads))
    let result: Result<Void, any Error>
    do {
      result = .success(
        try await withTaskExecutorPreference(requests) { try await listener(connections).run() })
    } catch { result = .failure(error) }
    try await requests.close()
    try result.get()
  }
}

/// Runs tasks, and their child tasks, on threads of its own.
private final class RequestThreads: TaskExecutor {
  private let pool: NIOThreadPool

  init(_ count: Int) {
    pool = NIOThreadPool(numberOfThreads: count)
    pool.start()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let (unowned, executor) = (UnownedJob(job), asUnownedTaskExecutor())
    // Also after the end, when the pool runs it here: a task that was begun must end.
    pool.submit { _ in unowned.runSynchronously(on: executor) }
  }

  func close() async throws { try await pool.shutdownGracefully() }
}
