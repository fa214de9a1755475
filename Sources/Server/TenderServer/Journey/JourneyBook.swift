import Synchronization
import TenderPayments

/// The journeys of the newest baskets, in memory and nowhere else.
final class JourneyBook: Sendable {
  private let journeys = Mutex(NewestOnly<BasketID, Journey>(most: 200))

  subscript(_ basket: BasketID) -> Journey? { journeys.withLock { $0[basket] } }

  func add(_ call: CallWitness.Report, status: Int, to basket: BasketID, at now: Timestamp) {
    journeys.withLock { journeys in
      var journey = journeys[basket] ?? Journey(startedAt: now, call.start)
      journey.add(call, status: status)
      journeys[basket] = journey
    }
  }
}

/// So many values by key, and no more: a new one pushes out the one that came first.
package struct NewestOnly<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let most: Int
  private var values: [Key: Value] = [:]
  /// The oldest first.
  private var order: [Key] = []

  package init(most: Int) { self.most = most }

  package var count: Int { values.count }

  package subscript(_ key: Key) -> Value? {
    get { values[key] }
    set {
      guard let newValue else { return }
      if values.updateValue(newValue, forKey: key) == nil { order.append(key) }
      if order.count > most { values[order.removeFirst()] = nil }
    }
  }
}
