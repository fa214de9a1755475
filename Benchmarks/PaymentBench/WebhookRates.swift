import LoadGenerator
import TenderPayments

/// Whether webhooks keep up with payments at the highest rate, and how many go to a receiver that is slow.
struct WebhookRates: Sendable {
  /// On processors that payments keep busy each try takes a dozen milliseconds, so the default would allow a thousand a
  /// second.
  private static let handoverConcurrency = 64

  let suite: Suite
  let most: HighestRate.Run

  func measure() async throws {
    guard EventOrder.noticesDisorder else { throw BenchFailure("the check of the events' order notices no disorder") }
    try await handover()
    try await slow()
  }

  /// Payments that are captured at once make three events each, the most that a payment makes by itself. If the server
  /// hands them over as fast as it makes them, few are left when the payments end, however long they lasted.
  private func handover() async throws {
    try await withNotified("handover", Self.handoverConcurrency, warmingPayments: 300) { suite, receiver in
      let before = try await receiver.acknowledged()
      // A repeated run would count the events of both.
      let run = try await HighestRate(suite: suite, length: suite.longRun, capture: .immediate)
        .measure(expecting: most.rate * 0.7)
      let handedOver = Double(try await receiver.acknowledged() - before)
      let made = run.rate * Double(Self.events(.immediate))
      report("webhooks.handover.payments", run.rate, "payments/s")
      report("webhooks.handover.rate", handedOver / run.seconds, "events/s")
      report("webhooks.handover.behind", run.seconds - handedOver / made, "s", bar: .atMost(1))
    }
  }

  /// Payments come at 0.3 of the highest rate, and make more events than the concurrency allows, so that events always
  /// wait. Then they go on alone.
  private func slow() async throws {
    let delay = Duration.milliseconds(100)
    let allowed = Double(ServerOptions.webhookConcurrency) / delay.seconds
    try await withNotified("slow-receiver", answeringAfter: delay, warmingPayments: 20) { suite, receiver in
      let before = try await receiver.acknowledged()
      async let run = suite.atRate(max(most.rate * 0.3, allowed), suite.length + .seconds(2), seed: 1)
      // The server looks for events once a second.
      try await receiver.wait(for: before + Int(allowed))
      let (beside, payments) = (try await rate(of: receiver, for: suite.length), try await run.0)
      try Suite.check(payments)
      let alone = try await rate(of: receiver, for: suite.length)
      try await requireWaiting(before + payments.answers.count * Self.events(.manual), receiver)
      report("webhooks.slow.rate", beside, "events/s")
      report("webhooks.slow.ratio", beside / allowed, "of-concurrency", bar: .atLeast(0.8))
      report("webhooks.slow.alone.rate", alone, "events/s")
    }
  }

  /// - Returns: events a second that the receiver acknowledges.
  private func rate(of receiver: WebhookReceiver, for length: Duration) async throws -> Double {
    let (start, before) = (ContinuousClock.now, try await receiver.acknowledged())
    try await Task.sleep(for: length)
    return Double(try await receiver.acknowledged() - before) / (ContinuousClock.now - start).seconds
  }

  /// A rate of events that had run out would say nothing.
  private func requireWaiting(_ made: Int, _ receiver: WebhookReceiver) async throws {
    guard try await receiver.acknowledged() < made - ServerOptions.webhookConcurrency else {
      throw BenchFailure("the slow receiver had no more events to wait for")
    }
  }

  /// A server of its own, whose merchant has one endpoint.
  private func withNotified(
    _ name: String, _ concurrency: Int = ServerOptions.webhookConcurrency, answeringAfter delay: Duration = .zero,
    warmingPayments: Int,
    _ work: (Suite, WebhookReceiver) async throws -> Void
  ) async throws {
    let receiver = try await WebhookReceiver(answeringAfter: delay)
    let merchants = try suite.environment.merchants(notifying: receiver.url, below: name)
    try await suite.withServer(name, ServerOptions(merchants: merchants, webhookConcurrency: concurrency)) { suite in
      try await checkEvents(suite, receiver, payments: warmingPayments)
      try await work(suite, receiver)
    }
    try await receiver.requireOrder()
    try await receiver.close()
  }

  /// The first payments of both kinds: as many events come as ``events(_:)`` says, and none is left.
  private func checkEvents(_ suite: Suite, _ receiver: WebhookReceiver, payments count: Int) async throws {
    var expected = 0
    for capture in CaptureMode.allCases {
      try await suite.warmUp(payments: count, capture: capture)
      expected += count * Self.events(capture)
    }
    try await receiver.wait(for: expected)
    let all = try await receiver.acknowledged()
    guard all == expected else { throw BenchFailure("\(all) events came, and \(expected) were expected") }
  }

  /// How many a payment makes: when it begins, when it is authorized, and when it is captured.
  private static func events(_ capture: CaptureMode) -> Int { capture == .immediate ? 3 : 2 }
}
