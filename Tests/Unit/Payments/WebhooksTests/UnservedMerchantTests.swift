import Ledger
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import Webhooks

@Suite struct `Events of a merchant that is not served` {
  private static let endpoint = WebhookEndpoint(id: "1", url: Post.url, key: Post.key)

  /// A page of the outbox has the events of 64 payments.
  @Test func `wait until it is, while those of others go out`() async throws {
    let post = try await Post()
    for number in 1...70 { try await post.pays(number) }
    try await post.pays(71, at: "other")
    let alone = post.restarted { $0 == "other" ? [Self.endpoint] : nil }
    try await alone.round()
    #expect(Set(post.server.bodies.map { $0["merchantId"] }) == ["other"])
    #expect(post.server.sequences == [1, 2, 3])
    try await post.dispatcher.round()
    let orders = Dictionary(grouping: post.server.bodies) { $0["tender"]?["orderId"]?.text ?? "" }
    #expect(orders.count == 71)
    for (order, bodies) in orders {
      #expect(bodies.map { $0["tender"]?["sequence"]?.whole } == [1, 2, 3], "\(order)")
    }
  }

  @Test func `wait in a process that looks again and again, and go out once it serves the merchant`() async throws {
    let post = try await Post()
    let serves = Counter()
    let dispatcher = post.restarted { $0 == "other" || serves.value > 0 ? [Self.endpoint] : nil }
    try await post.pays()
    try await post.pays(2, at: "other")
    let running = Task { await dispatcher.run(lookingEvery: .milliseconds(10)) }
    defer { running.cancel() }
    try await waitUntil("the other merchant's") { post.server.requests.count == 3 }
    try await post.pays(3, at: "other")
    try await waitUntil("the other merchant's next") { post.server.requests.count == 6 }
    serves.next()
    try await waitUntil("its own") { post.server.requests.count == 9 }
    #expect(post.server.bodies.suffix(3).map { $0["merchantId"] } == ["shop", "shop", "shop"])
  }

  @Test func `leave the outbox after thirty days, for no endpoint, and stay in the history`() async throws {
    let post = try await Post()
    let unserved = post.restarted { _ in nil }
    let payment = try await post.pays()
    post.clock.advance(.seconds(29 * 86_400))
    try await unserved.round()
    #expect(try await post.history() == [])
    post.clock.advance(.seconds(86_400))
    try await post.pays(2)
    try await unserved.round()
    #expect(try await post.history() == [payment.id, payment.id, payment.id])
    try await post.dispatcher.round()
    #expect(post.server.bodies.map { $0["tender"]?["orderId"] } == ["order-2", "order-2", "order-2"])
  }

  @Test func `are tried again where they were on their way`() async throws {
    let post = try await Post()
    try await post.pays()
    post.server.answers { _, _ in 500 }
    try await post.dispatcher.round()
    post.server.answers { _, _ in 200 }
    post.clock.advance(.seconds(60))
    try await post.restarted { _ in nil }.round()
    #expect(try await post.backlog.dead == 0)
    post.clock.advance(.seconds(600))
    try await post.dispatcher.round()
    #expect(post.server.sequences == [1, 1, 2, 3])
  }
}

@Suite struct `Events that only a later version can read` {
  @Test func `wait with those of their payment, and hold up no other`() async throws {
    let post = try await Post()
    let payment = try await post.pays()
    try await post.makes(payment, "later")
    for number in 2...70 { try await post.pays(number) }
    let running = Task { await post.dispatcher.run(lookingEvery: .milliseconds(10)) }
    try await waitUntil("the others'") { post.server.requests.count == 69 * 3 }
    running.cancel()
    await running.value
    #expect(try await !post.history().contains(payment.id))
    try await post.makes(payment, "authorized")
    try await post.dispatcher.round()
    #expect(post.server.sequences.suffix(3) == [1, 2, 3])
    #expect(post.server.bodies.suffix(3).allSatisfy { $0["tender"]?["orderId"] == "order-1" })
  }

  @Test func `are tried again where they were on their way, and hold up no other`() async throws {
    let post = try await Post(waits: [.seconds(10), .seconds(10)])
    let payment = try await post.pays()
    post.server.answers { sequence, _ in sequence == 2 ? 500 : 200 }
    try await post.dispatcher.round()
    post.server.answers { _, _ in 200 }
    try await post.makes(payment, "later")
    try await post.pays(2)
    post.clock.advance(.seconds(20))
    try await post.dispatcher.round()
    #expect(post.server.bodies.dropFirst(2).map { $0["tender"]?["orderId"] } == ["order-2", "order-2", "order-2"])
    #expect(try await post.backlog.dead == 0)
    try await post.makes(payment, "authorized")
    post.clock.advance(.seconds(20))
    try await post.dispatcher.round()
    #expect(post.server.sequences == [1, 2, 1, 2, 3, 2, 3])
  }

  @Test func `for its reason of a decline alone go out, with another reason`() async throws {
    let post = try await Post()
    let payment = try await post.pays()
    let refund = try await post.journal.reserve(.refund, .eur(100), of: payment.id)
    _ = try await post.journal.record(.declined(Decline(reason: .notPermitted, code: "57")), for: refund)
    try await post.database.write {
      try $0.run("UPDATE operations SET decline_reason = 'later' WHERE decline_reason IS NOT NULL")
    }
    try await post.dispatcher.round()
    #expect(post.server.bodies.last?["type"] == "refund.rejected")
  }
}

@Suite struct `An event that the queue refuses` {
  @Test func `waits with those of its payment, and holds up no other`() async throws {
    let post = try await Post()
    let payment = try await post.pays()
    for number in 2...70 { try await post.pays(number) }
    try await post.refuses(payment)
    let running = Task { await post.dispatcher.run(lookingEvery: .milliseconds(10)) }
    try await waitUntil("the others'") { post.server.requests.count == 69 * 3 }
    running.cancel()
    await running.value
    #expect(try await !post.history().contains(payment.id))
    try await post.takesAll()
    try await post.dispatcher.round()
    #expect(post.server.sequences.suffix(3) == [1, 2, 3])
    #expect(post.server.bodies.suffix(3).allSatisfy { $0["tender"]?["orderId"] == "order-1" })
  }
}

@Suite struct `Many events that the queue refuses` {
  @Test func `hold up no other merchant's`() async throws {
    let post = try await Post()
    for number in 1...70 { try await post.pays(number) }
    try await post.pays(71, at: "other")
    try await post.refusesShop()
    let running = Task { await post.dispatcher.run(lookingEvery: .milliseconds(10)) }
    try await waitUntil("the other merchant's") { post.server.requests.count == 3 }
    running.cancel()
    await running.value
    #expect(Set(post.server.bodies.map { $0["merchantId"] }) == ["other"])
    try await post.takesAll()
    try await post.dispatcher.round()
    #expect(post.server.requests.count == 71 * 3)
  }
}

@Suite struct `Events of a merchant without a webhook key` {
  @Test func `wait for one`() async throws {
    let post = try await Post()
    let keyless = WebhookEndpoint(id: "1", url: Post.url, key: nil)
    try await post.pays()
    try await post.restarted(with: [keyless]).round()
    #expect(post.server.requests.isEmpty)
    let waiting = try await WebhookDispatcher.deliveries(.waiting, in: post.database)
    #expect(waiting.count == 3 && waiting[0].result?.contains("no webhook key") != false)
    post.clock.advance(.seconds(60))
    try await post.dispatcher.round()
    #expect(post.server.sequences == [1, 2, 3])
  }
}

extension Post {
  /// Writes the status of a payment's second event.
  fileprivate func makes(_ payment: Payment, _ status: String) async throws {
    try await database.write {
      try $0.run(
        "UPDATE outbox SET status = $2 WHERE payment = $1 AND seq = 2", .text(payment.id.rawValue), .text(status))
    }
  }

  /// Has the store refuse deliveries of a payment's events.
  fileprivate func refuses(_ payment: Payment) async throws { try await refuses("payment", "\(payment.id)") }

  /// Has the store refuse deliveries of the merchant `shop`.
  fileprivate func refusesShop() async throws { try await refuses("merchant", "shop") }

  private func refuses(_ column: String, _ value: String) async throws {
    let refusal =
      switch StoreEngineUnderTest.chosen {
      case .postgres: "ALTER TABLE webhook_deliveries ADD CONSTRAINT refused CHECK (\(column) <> '\(value)')"
      case .sqlite:
        """
        CREATE TRIGGER refused BEFORE INSERT ON webhook_deliveries WHEN NEW.\(column) = '\(value)'
        BEGIN SELECT RAISE(ABORT, 'refused'); END
        """
      }
    try await database.write { try $0.run(refusal) }
  }

  fileprivate func takesAll() async throws {
    let end =
      switch StoreEngineUnderTest.chosen {
      case .postgres: "ALTER TABLE webhook_deliveries DROP CONSTRAINT refused"
      case .sqlite: "DROP TRIGGER refused"
      }
    try await database.write { try $0.run(end) }
  }

  /// The payments of the events that were handed over, in that order.
  fileprivate func history() async throws -> [PaymentID] {
    try await database.read { try OutboxEvent.after(.start, limit: 100, in: $0).compactMap(\.event?.payment) }
  }
}
