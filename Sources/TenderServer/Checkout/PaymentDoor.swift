package import Gateway
import Synchronization

/// Lets so many payments in at once, and sends the next one away at the door: before its payment token is opened or
/// anything written. So those inside are served in time instead of all of them too late, and a server with too much to
/// do spends its time on payments and not on refusals.
///
/// What the refusal says is true of this call alone. One that was sent before may be inside, and whoever asks again
/// later gets its answer.
package final class PaymentDoor: Sendable {
  /// A connection, which has one payment under way at most.
  package typealias Caller = ObjectIdentifier

  private enum Place {
    /// Its call has arrived, and nobody has begun to answer it.
    case kept
    case taken
  }

  private let limit: Int
  private let places = Mutex<[Caller: Place]>([:])

  package init(limit: Int) { self.limit = limit }

  /// Whether the next one would be sent away at this moment.
  package var isFull: Bool { places.withLock { $0.count >= limit } }

  /// Keeps a place, if there is one, for a call that has arrived whole: what is let through here and would be sent away
  /// later had waited in vain among the payments.
  package func keep(for caller: Caller) {
    places.withLock { if $0.count < limit, $0[caller] == nil { $0[caller] = .kept } }
  }

  /// Gives back a place that was kept and not taken.
  package func release(_ caller: Caller) {
    places.withLock { if $0[caller] == .kept { $0[caller] = nil } }
  }

  /// Takes the place that was kept, or another.
  package func enter(_ caller: Caller) throws(GatewayError) {
    let entered = places.withLock { places in
      guard places.count < limit || places[caller] != nil else { return false }
      places[caller] = .taken
      return true
    }
    guard entered else { throw .overloaded }
  }

  package func leave(_ caller: Caller) { places.withLock { $0[caller] = nil } }
}
