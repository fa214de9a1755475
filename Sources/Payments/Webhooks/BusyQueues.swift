import Synchronization
import TenderPayments

/// The queues that are being drained.
final class BusyQueues: Sendable {
  private struct State {
    /// The queues, each with whether it may have got more deliveries since its drain last looked.
    var queues: [EndpointQueue: Bool] = [:]
    var ofMerchant: [MerchantID: Int] = [:]
    /// Whether a queue found no place: one that has nothing to deliver gives up its own.
    var isFull = false
  }

  private static let pause: Duration = .milliseconds(50)
  /// How many are drained at once, each with connections of its own, and how many of one merchant.
  private let most: Int
  private let mostOfMerchant: Int
  private let state = Mutex(State())

  init(limit: Int) { (most, mostOfMerchant) = (limit, max(1, limit / 8)) }

  /// Whether the caller has to drain the queue. If not, the task that drains it looks again, or there is no place for it
  /// before the next look.
  func enter(_ queue: EndpointQueue) -> Bool {
    state.withLock { state in
      guard state.queues[queue] == nil else {
        state.queues[queue] = true
        return false
      }
      state.isFull = state.queues.count >= most
      let count = state.ofMerchant[queue.merchant, default: 0]
      guard !state.isFull, count < mostOfMerchant else { return false }
      state.ofMerchant[queue.merchant] = count + 1
      state.queues[queue] = false
      return true
    }
  }

  /// Waits until the queue may have got more; false when the time is over.
  func hasMore(_ queue: EndpointQueue, within limit: Duration) async -> Bool {
    for _ in 0..<max(1, Int(limit / Self.pause)) {
      let (hasMore, isFull) = state.withLock { ($0.queues.updateValue(false, forKey: queue) == true, $0.isFull) }
      if hasMore || isFull { return hasMore }
      guard (try? await Task.sleep(for: Self.pause)) != nil else { return false }
    }
    return false
  }

  func leave(_ queue: EndpointQueue) {
    state.withLock { state in
      state.queues.removeValue(forKey: queue)
      let count = state.ofMerchant[queue.merchant, default: 1] - 1
      state.ofMerchant[queue.merchant] = count > 0 ? count : nil
    }
  }
}
