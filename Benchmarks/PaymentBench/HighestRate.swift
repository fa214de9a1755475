import LoadGenerator
import TenderPayments

/// The highest rate at which a server takes payments: always so many in flight, with an acquirer that answers at once.
struct HighestRate: Sendable {
  let suite: Suite
  let length: Duration
  /// Of each payment's basket.
  var items = 1
  var capture = CaptureMode.manual
  /// Baskets that come meanwhile and are not paid.
  var traffic: BasketTraffic?

  struct Run: Sendable {
    /// Payments a second.
    let rate: Double
    /// From the first request to the last answer.
    let seconds: Double
    let latencies: Latencies
    let spending: Spending
    /// Of the traffic, a second.
    let baskets: Double
  }

  /// - Parameter rate: payments a second that are expected. A third more are made ready; when they run out early, the run
  ///   is repeated with more.
  func measure(expecting rate: Double) async throws -> Run {
    let requests = try await suite.supply.payments(
      Int(length.seconds * max(rate, 100) * 1.33), capture: capture, items: items)
    let before = try await Spending.Reading(suite.store)
    async let baskets = traffic?.run(for: length) ?? 0
    let run = try await suite.store.generator.closedLoop(requests, width: Suite.width, for: length)
    let spending = before.spending(until: try await Spending.Reading(suite.store), for: run)
    try Suite.check(run)
    let (reached, others) = (run.rate { $0 == 200 }, try await baskets)
    guard run.elapsed.seconds > 0.9 * length.seconds else { return try await measure(expecting: reached) }
    return Run(
      rate: reached, seconds: run.elapsed.seconds, latencies: run.latencies { $0 == 200 },
      spending: spending, baskets: others)
  }
}

extension HighestRate.Run {
  /// Of the plain form, with which the others are compared.
  func printResults() {
    report("payments.rate", rate, "payments/s")
    report("payments.processor", spending.allTime * 1e6, "us")
    report("payments.processor.server", spending.serverTime * 1e6, "us")
    report("payments.fsyncs", spending.commits, "a-payment", bar: .atMost(0.5))
    Suite.printResults("payments", latencies)
  }
}
