import LoadGenerator
import TenderPayments

/// The highest rate again, each time with one thing more than plain HTTP and baskets of one item.
struct RateForms: Sendable {
  let suite: Suite
  let plain: HighestRate.Run

  func measure() async throws {
    try await withTLS()
    try await withWebhooks()
    printResults("six-items", try await measure(HighestRate(suite: suite, length: suite.longRun, items: 6)))
    try await besideBaskets()
  }

  private func withTLS() async throws {
    let certificate = try ServerCertificate(suite.environment)
    try await suite.withServer("tls", ServerOptions(tls: certificate)) { suite in
      try await suite.warmUp()
      printResults("tls", try await measure(HighestRate(suite: suite, length: suite.longRun)))
    }
  }

  private func withWebhooks() async throws {
    let receiver = try await WebhookReceiver()
    let merchants = try suite.environment.merchants(notifying: receiver.url, below: "notified")
    try await suite.withServer("notified", ServerOptions(merchants: merchants)) { suite in
      try await suite.warmUp()
      printResults("webhooks", try await measure(HighestRate(suite: suite, length: suite.longRun)))
    }
    try await receiver.requireOrder()
    try await receiver.close()
  }

  /// Half as many baskets a second as payments at the highest rate, if the server can: about one for each of the payments
  /// that are left.
  private func besideBaskets() async throws {
    let traffic = BasketTraffic(suite: suite, rate: plain.rate / 2)
    let run = try await measure(HighestRate(suite: suite, length: suite.longRun, traffic: traffic))
    printResults("beside-baskets", run)
    report("payments.rate.beside-baskets.baskets", run.baskets, "baskets/s")
  }

  /// No form is expected to be faster than the plain one.
  private func measure(_ form: HighestRate) async throws -> HighestRate.Run {
    try await form.measure(expecting: plain.rate * 0.75)
  }

  private func printResults(_ name: String, _ run: HighestRate.Run) {
    report("payments.rate.\(name)", run.rate, "payments/s")
    report("payments.rate.\(name).ratio", run.rate / plain.rate, "of-plain")
  }
}
