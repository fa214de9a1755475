import Crypto
import DirectWire
import HTTPTransport
import Ledger
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import Webhooks

@Suite struct `Delivering webhooks` {
  @Test func `every change arrives once, in order, signed`() async throws {
    let post = try await Post()
    let payment = try await post.pays()
    try await post.dispatcher.round()
    #expect(
      post.server.bodies.compactMap { $0["type"]?.text } == [
        "payment.created", "payment.pending_capture", "payment.captured",
      ])
    #expect(post.server.sequences == [1, 2, 3])
    for request in post.server.requests {
      #expect(request.headers.filter { $0.name == "X-GCS-KeyId" }.map(\.value) == ["hook-1"])
      #expect(
        request.headers.filter { $0.name == "X-GCS-Signature" }.map(\.value) == [Post.key.signature(of: request.body)])
    }
    #expect(post.server.bodies.last?["payment"]?["id"]?.text == "\(payment.id)_1")
    #expect(try await post.dispatcher.round() == 0)
    #expect(post.server.requests.count == 3)
  }

  @Test func `a record goes when it ended long ago, and never while its event waits`() async throws {
    let post = try await Post()
    try await post.pays(1)
    try await post.dispatcher.round()
    post.server.answers { _, _ in 500 }
    try await post.pays(2)
    try await post.dispatcher.round()
    post.clock.advance(.seconds(40 * 86_400))
    let end = post.clock.wall.now().adding(.zero - .seconds(30 * 86_400))
    func left(before end: Timestamp) async throws -> [String: Int] {
      while try await !post.database.write({
        try WebhookDispatcher.forgetDeliveries(before: end, atMost: 2, in: $0)
      }) {}
      return try await post.database.read { store in
        try store.rows("SELECT state FROM webhook_deliveries").reduce(into: [:]) {
          $0[try $1.text("state"), default: 0] += 1
        }
      }
    }
    #expect(try await left(before: end.adding(.zero - .seconds(20 * 86_400))) == ["delivered": 3, "waiting": 3])
    #expect(try await left(before: end) == ["waiting": 3])
    post.server.answers { _, _ in 200 }
    try await post.runsDry()
    #expect(post.server.sequences.suffix(3) == [1, 2, 3])
    #expect(try await left(before: end) == ["delivered": 3])
    let events = try await post.database.read { try $0.row("SELECT count(*) AS n FROM outbox")?.integer("n") }
    #expect(events == 6)
  }

  @Test func `an endpoint of Standard Webhooks gets its signature, with the event's id and the time of each try`()
    async throws
  {
    let post = try await Post()
    let secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    let endpoint = WebhookEndpoint(
      url: Post.url, key: WebhookKey(id: "hook-2", secret: "whsec_" + secret), signature: .standard)
    let dispatcher = post.restarted(with: [endpoint])
    try await post.pays()
    post.server.answers { sequence, tries in sequence == 1 && tries == 1 ? 500 : 200 }
    let first = post.clock.wall.now().seconds
    try await dispatcher.round()
    post.clock.advance(.seconds(15))
    try await dispatcher.round()
    #expect(post.server.sequences == [1, 1, 2, 3])
    let key = SymmetricKey(data: try #require(Base64.decode(secret)))
    for (request, seconds) in zip(post.server.requests, [first, first + 15, first + 15, first + 15]) {
      let id = try #require(try JSONReader.read(request.body)["id"]?.text)
      let code = HMAC<SHA256>.authenticationCode(for: Array("\(id).\(seconds).".utf8) + request.body, using: key)
      let headers = request.headers.filter { !["Content-Type", "User-Agent"].contains($0.name) }
      #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
      #expect(headers.map(\.value) == [id, "\(seconds)", "v1," + Base64.encode(Array(code))])
    }
  }

  @Test(arguments: ["webhook-secret", "c2hvcnQ=", String(repeating: "QUFB", count: 22), "whsec_"])
  func `an event waits where the key is none of Standard Webhooks`(_ secret: String) async throws {
    let post = try await Post()
    let key = WebhookKey(id: "hook-2", secret: secret)
    #expect(!key.canSign(for: .standard) && key.canSign(for: .worldline))
    try await post.pays()
    try await post.restarted(with: [WebhookEndpoint(url: Post.url, key: key, signature: .standard)]).round()
    #expect(post.server.requests.isEmpty)
    #expect(try await post.backlog.waiting == 3)
  }

  @Test func `every event names the merchant's reference, and the order where the endpoint asks for it`() async throws {
    let post = try await Post(
      orders: OrderReader { event, includesDetails, _ in
        NotifiedOrder(
          DirectReferences(merchantReference: "HK-\(event.order)", merchantParameters: "p=8"),
          details: includesDetails ? ["note": "ring twice"] : nil)
      })
    let payment = try await post.pays()
    try await post.dispatcher.round()
    let asking = WebhookEndpoint(id: "kitchen", url: Post.url, key: Post.key, includesOrder: true)
    try await post.pays(2)
    try await post.restarted(with: [asking]).round()
    let (plain, withOrder) = (post.server.bodies.prefix(3), post.server.bodies.dropFirst(3))
    #expect(withOrder.count == 3)
    #expect(plain.allSatisfy { $0["tender"]?["order"] == nil })
    #expect(withOrder.allSatisfy { $0["tender"]?["order"]?["note"] == "ring twice" })
    #expect(plain.first?["tender"]?["merchantReference"]?.text == "HK-\(payment.order)")
    for body in post.server.bodies {
      let references = body["payment"]?["paymentOutput"]?["references"]
      #expect(references?["merchantReference"] == body["tender"]?["merchantReference"])
      #expect(references?["merchantParameters"] == "p=8")
    }
  }

  @Test func `a later event waits for an earlier one that fails`() async throws {
    let post = try await Post()
    try await post.pays()
    post.server.answers { sequence, tries in sequence == 1 && tries == 1 ? 500 : 200 }
    try await post.dispatcher.round()
    #expect(post.server.sequences == [1])
    post.clock.advance(.seconds(5))
    try await post.dispatcher.round()
    #expect(post.server.sequences == [1])
    post.clock.advance(.seconds(10))
    try await post.dispatcher.round()
    #expect(post.server.sequences == [1, 1, 2, 3])
  }

  @Test func `a store's clock that is set back renumbers nothing`() async throws {
    let post = try await Post()
    let payment = try await post.pays()
    post.server.answers { sequence, tries in sequence == 3 && tries == 1 ? 500 : 200 }
    try await post.dispatcher.round()
    post.clock.advance(.seconds(-3_600))
    let refund = try await post.journal.reserve(.refund, .eur(100), of: payment.id)
    _ = try await post.journal.record(.approved(Approval(acquirerReference: "R1")), for: refund)
    post.clock.advance(.seconds(3_600))
    try await post.runsDry()
    let names = post.server.bodies.compactMap { ($0["payment"] ?? $0["refund"])?["id"]?.text }
    #expect(names == [0, 0, 1, 1, 2].map { "\(payment.id)_\($0)" })
    #expect(post.server.requests[2].body == post.server.requests[3].body)
  }

  @Test func `one payment's failures do not hold up another's`() async throws {
    let post = try await Post()
    let (first, second) = (try await post.pays(1), try await post.pays(2))
    let id = first.id.rawValue
    post.server.answers { _, _ in 200 }
    let blocked = post.server
    blocked.answers { _, _ in blocked.bodies.last?["tender"]?["paymentId"]?.text == id ? 503 : 200 }
    try await post.dispatcher.round()
    let others = post.server.bodies.filter { $0["tender"]?["paymentId"]?.text == second.id.rawValue }
    #expect(others.count == 3)
  }

  @Test(arguments: [
    TransportError.notSent("connection refused"), .interrupted("reset"), .timedOut, .responseTooLarge,
  ])
  func `a try without an answer is a failure, and comes again with the same bytes`(_ error: TransportError) async throws
  {
    let post = try await Post()
    try await post.pays()
    post.server.answers { sequence, tries throws(TransportError) in
      if sequence == 2, tries == 1 { throw error }
      return 204
    }
    try await post.runsDry()
    #expect(post.server.sequences == [1, 2, 2, 3])
    let twice = post.server.requests.filter { $0.body == post.server.requests[1].body }
    #expect(twice.count == 2)
    #expect(twice[0] == twice[1])
  }

  @Test(arguments: [301, 302, 307, 400, 410, 429, 500]) func `anything but 2xx is a failure`(_ status: Int) async throws
  {
    let post = try await Post()
    try await post.pays()
    post.server.answers { _, tries in tries == 1 ? status : 200 }
    try await post.runsDry()
    #expect(post.server.sequences == [1, 1, 2, 2, 3, 3])
  }

  @Test func `two URLs each get everything, and one of them may be down`() async throws {
    let post = try await Post(urls: [Post.url, "https://down.example/hooks"])
    try await post.pays()
    let server = post.server
    server.answers { _, _ in server.requests.last?.url == Post.url ? 200 : 500 }
    try await post.dispatcher.round()
    #expect(server.requests.count { $0.url == Post.url } == 3)
    #expect(server.requests.count { $0.url != Post.url } == 1)
  }

  @Test func `a merchant without a URL gets no event, and no delivery waits`() async throws {
    let post = try await Post(urls: [])
    try await post.pays()
    try await post.dispatcher.round()
    #expect(post.server.requests.isEmpty)
    #expect(try await post.backlog.waiting == 0)
  }

  @Test func `a process that dies before it wrote down the success sends again`() async throws {
    let post = try await Post()
    try await post.pays()
    post.server.answers { sequence, tries in
      // The merchant's server takes it; the answer meets a process that is gone.
      if sequence == 1, tries == 1 { post.clock.advance(.seconds(61)) }
      return 200
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<2 { group.addTask { try await post.dispatcher.round() } }
      try await group.waitForAll()
    }
    try await post.runsDry()
    #expect(Array(Set(post.server.sequences)).sorted() == [1, 2, 3])
    #expect(try await post.backlog.waiting == 0)
  }

  @Test func `dispatchers that run at once send nothing twice`() async throws {
    let post = try await Post()
    for number in 1...6 { try await post.pays(number) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<6 { group.addTask { try await post.dispatcher.round() } }
      try await group.waitForAll()
    }
    try await post.dispatcher.round()
    #expect(post.server.requests.count == 18)
    #expect(Set(post.server.bodies.compactMap { $0["id"]?.text }).count == 18)
  }

  @Test func `the running dispatcher delivers, and ends when it is cancelled`() async throws {
    let post = try await Post()
    try await post.pays()
    let dispatcher = post.dispatcher
    let running = Task { await dispatcher.run(lookingEvery: .milliseconds(5)) }
    try await waitUntil("three deliveries") { post.server.requests.count >= 3 }
    running.cancel()
    await running.value
    #expect(post.server.sequences == [1, 2, 3])
  }
}

@Suite struct `Dead letters` {
  @Test func `after the last try an event is given up, and the next goes on`() async throws {
    let post = try await Post()
    try await post.pays()
    post.server.answers { sequence, _ in sequence == 1 ? 500 : 200 }
    try await post.runsDry()
    #expect(post.server.sequences == [1, 1, 1, 2, 3])
    let dead = try await WebhookDispatcher.deliveries(.dead, in: post.database)
    #expect(dead.map(\.sequence) == [1])
    #expect(dead.first?.result == "HTTP 500")
    #expect(dead.first?.tries == 3 && dead.first?.acknowledgedAt == nil)
    let delivered = try await WebhookDispatcher.deliveries(.delivered, in: post.database)
    #expect(delivered.count == 2 && delivered.allSatisfy { $0.acknowledgedAt == post.clock.now })
    #expect(try await post.backlog.dead == 1)
  }

  @Test func `a replay brings it back with the same id, and all of its tries`() async throws {
    let post = try await Post(waits: [])
    let payment = try await post.pays()
    post.server.answers { _, _ in 500 }
    try await post.runsDry()
    #expect(try await post.backlog.dead == 3)
    let ids = post.server.bodies.compactMap { $0["id"]?.text }
    post.server.answers { _, _ in 200 }
    #expect(try await WebhookDispatcher.replay(PaymentID("another"), in: post.database) == 0)
    #expect(try await WebhookDispatcher.replay(payment.id, sequence: 2, in: post.database) == 1)
    #expect(try await WebhookDispatcher.replay(in: post.database) == 2)
    try await post.runsDry()
    #expect(post.server.bodies.suffix(3).compactMap { $0["id"]?.text } == ids)
    #expect(try await post.backlog.dead == 0)
    #expect(try await WebhookDispatcher.replay(in: post.database) == 0)
  }

  @Test func `of an endpoint that was removed say so, and can be replayed to another`() async throws {
    let post = try await Post(waits: [.seconds(10)])
    let payment = try await post.pays()
    post.server.answers { _, _ in 500 }
    try await post.dispatcher.round()
    let other = WebhookEndpoint(id: "other", url: "https://other.example/hooks", key: Post.key)
    let changed = post.restarted(with: [other])
    post.clock.advance(.seconds(60))
    try await changed.round()
    #expect(post.server.requests.count == 1)
    let dead = try await WebhookDispatcher.deliveries(.dead, in: post.database)
    #expect(dead.map(\.sequence) == [1, 2, 3] && dead.allSatisfy { $0.endpoint == "1" })
    #expect(dead.allSatisfy { $0.result == "the merchant's configuration has no endpoint of this name any more" })

    func obstacle(_ sequence: Int64?, _ known: [String]?, isMoved: Bool = false) async throws -> String? {
      try await post.database.read {
        try WebhookDispatcher.obstacle(
          toReplay: payment.id, sequence: sequence, isMoved: isMoved, known: known, in: $0)
      }
    }
    #expect(try await obstacle(1, ["other"])?.contains("has no endpoint 1 any more; there are: other.") == true)
    #expect(try await obstacle(9, ["1"])?.contains("has no event 9 for an endpoint; there are: 1, 2, 3.") == true)
    for known in [["1", "other"], nil] { #expect(try await obstacle(1, known) == nil) }
    #expect(try await obstacle(1, ["other"], isMoved: true) == nil)

    post.server.answers { _, _ in 200 }
    #expect(try await WebhookDispatcher.replay(payment.id, to: "other", in: post.database) == 3)
    #expect(
      try await obstacle(2, nil)
        == "No dead letter fits: event 2 to other is waiting. What waits is tried again by itself.")
    try await changed.round()
    #expect(post.server.sequences == [1, 1, 2, 3])
    #expect(post.server.requests.dropFirst().allSatisfy { $0.url == other.url })
  }

  @Test func `are replayed once to an endpoint that has not been sent them`() async throws {
    let post = try await Post(urls: [Post.url, "https://two.example/a", "https://three.example/a"], waits: [])
    try await post.pays()
    let server = post.server
    server.answers { _, _ in server.requests.last?.url == Post.url ? 200 : 500 }
    try await post.runsDry()
    #expect(try await post.backlog.dead == 6)
    #expect(try await WebhookDispatcher.replay(to: "1", in: post.database) == 0)
    #expect(try await WebhookDispatcher.replay(to: "4", in: post.database) == 3)
    #expect(try await WebhookDispatcher.replay(to: "4", in: post.database) == 0)
    #expect(try await WebhookDispatcher.replay(to: "3", in: post.database) == 3)
  }
}

@Suite struct `An endpoint` {
  @Test func `that gets another URL is sent there what waits for it, in order`() async throws {
    let post = try await Post()
    try await post.pays()
    post.server.answers { _, _ in 500 }
    try await post.dispatcher.round()
    let moved = post.restarted(with: [WebhookEndpoint(id: "1", url: "https://new.example/hooks", key: Post.key)])
    post.server.answers { _, _ in 200 }
    post.clock.advance(.seconds(60))
    try await post.pays(2)
    try await moved.round()
    #expect(post.server.requests.dropFirst().allSatisfy { $0.url == "https://new.example/hooks" })
    let first = post.server.bodies.filter { $0["tender"]?["orderId"] == "order-1" }
    #expect(first.compactMap { $0["tender"]?["sequence"]?.whole } == [1, 1, 2, 3])
    let backlog = try await post.backlog
    #expect(backlog.waiting == 0 && backlog.dead == 0)
    let delivered = try await WebhookDispatcher.deliveries(.delivered, in: post.database)
    #expect(delivered.count == 6 && delivered.allSatisfy { $0.url == "https://new.example/hooks" })
  }

  @Test func `that was replaced by another keeps its dead letters out of the other's queue`() async throws {
    let post = try await Post(waits: [.seconds(10)])
    try await post.pays()
    post.server.answers { _, _ in 500 }
    try await post.dispatcher.round()
    let renamed = post.restarted(with: [WebhookEndpoint(id: "orders", url: Post.url, key: Post.key)])
    post.clock.advance(.seconds(60))
    try await renamed.round()
    #expect(post.server.requests.count == 1)
    #expect(try await post.backlog.dead == 3)
  }
}

@Suite struct `The wire form of a webhook` {
  /// From the vendor's own SDK: secret, body and signature.
  @Test func `is signed as the vendor's SDK signs`() {
    let body = #"""
      {"apiVersion":"v1","created":"2026-01-01T00:00:00.0000000+00:00","id":"0e3ce18a-3e5d-4c77-999e-f20ddb5ec6f9","merchantId":"m1","payment":{"id":"4000000001_0","status":"CAPTURED"},"type":"payment.captured"}
      """#
    #expect(body.utf8.count == 205)
    #expect(Post.key.signature(of: Array(body.utf8)) == "FtBz+STrWdmQatTFHpdfO58xKrMv2LVfYdQoVTSWi3M=")
    #expect(Post.key.signature(of: []) == "EAHFJLU1qK73bBTzPIUapKWG6YJTIyMZmQuo4r5GS6k=")
  }

  @Test func `says what happened in the vendor's words, and the rest in ours`() async throws {
    let post = try await Post()
    let payment = try await post.pays()
    try await post.dispatcher.round()
    let body = try #require(post.server.bodies.last)
    #expect(body["apiVersion"] == "v1")
    #expect(body["merchantId"] == "shop")
    #expect(body["payment"]?["status"] == "CAPTURED")
    #expect(body["payment"]?["statusOutput"]?["statusCode"] == 9)
    #expect(body["payment"]?["paymentOutput"]?["amountOfMoney"]?["amount"] == 1250)
    #expect(body["tender"]?["paymentId"]?.text == payment.id.rawValue)
    #expect(body["tender"]?["orderId"] == "order-1")
    let id = try #require(body["id"]?.text)
    #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
  }

  @Test func `has an id by which its event is found, among those of other payments of the same millisecond`()
    async throws
  {
    let post = try await Post()
    for number in 1...3 { try await post.pays(number) }
    try await post.pays(4, at: "other")
    try await post.dispatcher.round()
    #expect(post.server.bodies.count == 12)
    for body in post.server.bodies {
      let id = try #require(body["id"]?.text)
      let (own, others) = try await post.database.read { store in
        (
          try WebhookBody.findEvent(id, of: MerchantID(body["merchantId"]?.text ?? ""), in: store),
          try WebhookBody.findEvent(id, of: "third", in: store)
        )
      }
      #expect(own?.payment.rawValue == body["tender"]?["paymentId"]?.text && others == nil)
      #expect(own?.sequence == body["tender"]?["sequence"]?.whole)
    }
  }
}

@Suite struct `The schedule of retries` {
  @Test func `goes on for three days, and ends`() {
    let schedule = RetrySchedule.standard
    let all = (1...11).compactMap { schedule.wait(afterFailures: $0, chance: 32_768) }
    let sum = all.reduce(Duration.zero, +)
    #expect(sum > .seconds(2 * 86_400) && sum < .seconds(4 * 86_400))
    #expect(schedule.wait(afterFailures: 12, chance: 0) == nil)
    #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `chance moves a wait by a fifth either way, and no further`() throws {
    let schedule = RetrySchedule(waits: [.seconds(100)])
    #expect(schedule.wait(afterFailures: 1, chance: 0) == .seconds(80))
    #expect(schedule.wait(afterFailures: 1, chance: 65_535) == .seconds(120))
    #expect(schedule.wait(afterFailures: 0, chance: 0) == nil)
  }
}
