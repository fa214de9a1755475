import Foundation

/// Synchronous work that stops in its middle. It runs on a thread of its own, and only while the caller waits for it.
final class Coroutine<Place>: @unchecked Sendable {
  private let thread: BorrowedThread
  private var place: Place?
  private let work: (Coroutine) -> Void

  init(_ work: @escaping (Coroutine) -> Void) {
    thread = BorrowedThread.idle.popLast() ?? BorrowedThread()
    self.work = work
    thread.work = { [self] in
      place = nil
      work(self)
    }
  }

  /// Goes on until the work stops again.
  ///
  /// - Returns: where; nil at its end, after which this must not be called.
  func resume() -> Place? {
    place = nil
    thread.resume()
    if place == nil { BorrowedThread.idle.append(thread) }
    return place
  }

  /// Called by the work itself.
  func stop(at place: Place) {
    self.place = place
    thread.yield()
  }
}

/// A thread that is used again. Everything that touches these runs in turns, so nothing is locked.
private final class BorrowedThread: @unchecked Sendable {
  nonisolated(unsafe) static var idle: [BorrowedThread] = []
  private let (turn, back) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  var work: (() -> Void)?

  init() {
    Thread.detachNewThread { [self] in
      while true {
        turn.wait()
        work?()
        work = nil
        back.signal()
      }
    }
  }

  func resume() {
    turn.signal()
    back.wait()
  }

  func yield() {
    back.signal()
    turn.wait()
  }
}
