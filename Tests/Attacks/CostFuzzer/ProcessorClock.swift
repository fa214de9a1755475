import Foundation

/// The processor time that a process has used, in the kernel included, to the nanosecond.
package struct ProcessorClock: Sendable {
  private let clock: clockid_t

  /// The clock of another process of this machine.
  package init(of process: Int32) throws {
    var clock = clockid_t()
    guard clock_getcpuclockid(process, &clock) == 0 else { throw CostError("process \(process) has no clock") }
    self.clock = clock
  }

  private init(_ clock: clockid_t) { self.clock = clock }

  /// The clock of the thread that reads it.
  package static let ofThread = ProcessorClock(CLOCK_THREAD_CPUTIME_ID)

  /// The time used so far.
  package var now: Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The time that a piece of work takes on this clock.
  package func time(_ work: () throws -> Void) rethrows -> Duration {
    let start = now
    try work()
    return now - start
  }
}

/// Why the cost of requests cannot be measured.
package struct CostError: Error, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}
