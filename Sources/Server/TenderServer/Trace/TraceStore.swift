import Synchronization
import TenderPayments

/// The traces of the newest baskets, in memory alone.
final class TraceStore: Sendable {
  private let traces = Mutex(NewestOnly<BasketID, PaymentTrace>(most: 200))

  subscript(_ basket: BasketID) -> PaymentTrace? { traces.withLock { $0[basket] } }

  /// The newest basket first.
  var newest: [(basket: BasketID, trace: PaymentTrace)] {
    traces.withLock(\.newest).map { (basket: $0.key, trace: $0.value) }
  }

  func add(_ call: CallTrace.Report, status: Int, to basket: BasketID, at now: Timestamp) {
    traces.withLock { traces in
      var trace = traces[basket] ?? PaymentTrace(startedAt: now, call.start)
      trace.add(call, status: status)
      traces[basket] = trace
    }
  }
}

/// A limited number of values by key: a new one replaces the oldest.
package struct NewestOnly<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let most: Int
  private var values: [Key: Value] = [:]
  /// The oldest first.
  private var order: [Key] = []

  package init(most: Int) { self.most = most }

  package var count: Int { values.count }

  package var newest: [(key: Key, value: Value)] {
    order.reversed().compactMap { key in values[key].map { (key: key, value: $0) } }
  }

  package subscript(_ key: Key) -> Value? {
    get { values[key] }
    set {
      guard let newValue else { return }
      if values.updateValue(newValue, forKey: key) == nil { order.append(key) }
      if order.count > most { values[order.removeFirst()] = nil }
    }
  }
}
