import TenderPayments

/// Payments that are captured when they are authorized: one call to the acquirer more each, and what has to be kept of it.
struct CapturedAtOnce: Sendable {
  let suite: Suite
  let most: HighestRate.Run

  func measure() async throws {
    let run = try await HighestRate(suite: suite, length: suite.length, capture: .immediate)
      .measure(expecting: most.rate * 0.7)
    report("payments.immediate.rate", run.rate, "payments/s")
    report("payments.immediate.fsyncs", run.spending.commits, "a-payment")
    report("payments.immediate.ratio", run.rate / most.rate, "of-captured-later")
  }
}
