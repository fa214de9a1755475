import Synchronization

/// Counts from 1 what happens in several tasks.
package final class Counter: Sendable {
  private let count = Mutex(0)

  package init() {}

  package var value: Int { count.withLock { $0 } }

  @discardableResult package func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
