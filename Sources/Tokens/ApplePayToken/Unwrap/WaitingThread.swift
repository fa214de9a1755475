import Dispatch

/// A thread that may wait. Swift's own are as many as there are cores, and one that waits is missed by everybody.
enum WaitingThread {
  private static let queue = DispatchQueue(label: "tender.processing-keys", attributes: .concurrent)

  static func run<R: Sendable, E: Error>(_ work: @escaping @Sendable () throws(E) -> R) async throws(E) -> R {
    let result: Result<R, E> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }
}
