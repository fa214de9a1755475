import Telemetry

/// What is under way while a queue is drained: deliveries that are claimed, tries, results that are not written yet, and
/// at most one commit.
///
/// Deliveries are claimed before their turn comes, so that a try that ends is followed by the next one, not by a commit.
struct QueueWork {
  /// A delivery that belongs to this process.
  struct Claimed: Sendable {
    let delivery: Delivery
    /// nil when the event is not in the journal, goes nowhere, or cannot be read.
    let body: WebhookBody?
    /// Whether only a later version can read the event.
    var isUnreadable = false
    /// The span in which the payment was made; nil where it was not traced.
    var trace: TraceContext?

    func result(_ attempt: DeliveryAttempt) -> Result { Result(delivery: delivery, attempt: attempt) }
  }

  struct Result: Sendable {
    let delivery: Delivery
    let attempt: DeliveryAttempt
  }

  enum Step: Sendable {
    case tried(Result)
    /// The deliveries that were claimed.
    case committed([Claimed])
  }

  /// How many tries may be under way.
  private let width: Int
  private(set) var tries = 0
  private var claimed: [Claimed] = []
  private var results: [Result] = []
  private var running = 0
  private var isCommitting = false
  private var hasClaimed = false

  /// With ten seconds a try, the last of these begins long before its lease of a minute ends.
  private static let claimedPerTry = 4

  init(width: Int) { self.width = width }

  /// The deliveries whose turn has come.
  mutating func nextTries() -> [Claimed] {
    let count = min(width - running, claimed.count)
    defer { claimed.removeFirst(count) }
    running += count
    return Array(claimed.prefix(count))
  }

  /// The results to write, and how many deliveries to claim; nil while a commit is under way, or there is nothing new.
  mutating func nextCommit() -> (results: [Result], limit: Int)? {
    guard !isCommitting, !hasClaimed || !results.isEmpty else { return nil }
    (isCommitting, hasClaimed) = (true, true)
    defer { results = [] }
    return (results, width * Self.claimedPerTry - claimed.count - running)
  }

  mutating func note(_ step: Step) {
    switch step {
    case .tried(let result):
      running -= 1
      results.append(result)
    case .committed(let due):
      isCommitting = false
      tries += due.count
      claimed += due
    }
  }

  var goesOn: Bool { isCommitting || running > 0 || !claimed.isEmpty || !results.isEmpty }
}
