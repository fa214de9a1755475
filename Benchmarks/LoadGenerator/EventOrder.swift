/// Checks that a receiver of webhooks gets the events of each payment in their order: 1, 2, 3 …, and none before the one
/// before it has been acknowledged. An event may come again.
package struct EventOrder: Sendable {
  /// By payment, the number of its last acknowledged event.
  private var last: [String: Int64] = [:]
  /// Events that came too early.
  package private(set) var violations = 0
  /// Events that were acknowledged, each counted once.
  package private(set) var acknowledged = 0

  package init() {}

  package mutating func receive(_ event: Int64, of payment: String) {
    if event > last[payment, default: 0] + 1 { violations += 1 }
  }

  package mutating func acknowledge(_ event: Int64, of payment: String) {
    guard event > last[payment, default: 0] else { return }
    last[payment] = event
    acknowledged += 1
  }
}

extension EventOrder {
  /// The check's check of itself: whether it counts a second event that comes first, and one that comes before the first
  /// is acknowledged, and accepts what is in order or comes again.
  package static var noticesDisorder: Bool {
    var (skipped, hasty, inOrder) = (EventOrder(), EventOrder(), EventOrder())
    skipped.receive(2, of: "payment")
    for event in 1...2 { hasty.receive(Int64(event), of: "payment") }
    for event in [1, 2, 2, 3] {
      inOrder.receive(Int64(event), of: "payment")
      inOrder.acknowledge(Int64(event), of: "payment")
    }
    inOrder.receive(1, of: "another")
    return skipped.violations == 1 && hasty.violations == 1 && inOrder.violations == 0 && inOrder.acknowledged == 3
  }
}
