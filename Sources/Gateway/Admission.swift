import Synchronization

/// Lets so many authorizations in at once. Whoever comes when it is full is refused before anything is written, so that
/// those inside are served in time instead of all of them too late.
final class Admission: Sendable {
  private let limit: Int
  private let inside = Mutex(0)

  init(limit: Int) { self.limit = limit }

  func enter() throws(GatewayError) {
    let entered = inside.withLock { inside in
      guard inside < limit else { return false }
      inside += 1
      return true
    }
    guard entered else { throw .overloaded }
  }

  func leave() { inside.withLock { $0 -= 1 } }
}
