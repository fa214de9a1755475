package import Gateway
import Synchronization

/// Lets so many payments in at once, and sends the next one away at the door: before its body is read, its payment
/// token opened or anything written. So those inside are served in time instead of all of them too late, and a server
/// with too much to do spends its time on payments and not on refusals.
///
/// What the refusal says is true of this call alone. One that was sent before may be inside, and whoever asks again
/// later gets its answer.
package final class PaymentDoor: Sendable {
  private let limit: Int
  private let inside = Mutex(0)

  package init(limit: Int) { self.limit = limit }

  /// Whether the next one would be let in at this moment.
  package func checkPlace() throws(GatewayError) {
    guard inside.withLock({ $0 < limit }) else { throw .overloaded }
  }

  package func enter() throws(GatewayError) {
    let entered = inside.withLock { inside in
      guard inside < limit else { return false }
      inside += 1
      return true
    }
    guard entered else { throw .overloaded }
  }

  package func leave() { inside.withLock { $0 -= 1 } }
}
