import Dispatch

/// Runs blocking work on a separate thread. Swift's cooperative pool has one thread per core, which blocking work must
/// not occupy.
enum WaitingThread {
  private static let queue = DispatchQueue(label: "tender.processing-keys", attributes: .concurrent)

  static func run<R: Sendable, E: Error>(_ work: @escaping @Sendable () throws(E) -> R) async throws(E) -> R {
    let result: Result<R, E> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }
}
