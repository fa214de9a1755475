import HTTPTransport
import Settings
import StrictJSON
import Synchronization
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `A quota` {
  private let clock = ManualClock()

  private func quotas(_ rates: Quotas.Rates) -> Quotas {
    let start = clock.now
    return Quotas(rates, uptime: { [clock] in clock.now.since(start) })
  }

  /// How many calls in a row are taken.
  private func taken(_ quotas: Quotas, key: String, of merchant: String = "harbour") -> Int {
    (0..<1_000).prefix { _ in quotas.take(key: key, of: MerchantID(merchant)) == nil }.count
  }

  @Test func `lets calls of two seconds through at once, and then so many a second`() {
    let quotas = quotas(.init(perKey: 10))
    #expect(taken(quotas, key: "a") == 21)
    clock.advance(.seconds(1))
    #expect(taken(quotas, key: "a") == 10)
  }

  @Test func `says how long to wait, and does not count what it refuses`() {
    let quotas = quotas(.init(perKey: 1))
    #expect(taken(quotas, key: "a") == 3)
    for _ in 0..<50 { #expect(quotas.take(key: "a", of: MerchantID("harbour")) == .seconds(1)) }
    clock.advance(.seconds(1))
    #expect(quotas.take(key: "a", of: MerchantID("harbour")) == nil)
  }

  @Test func `of a merchant holds for all its keys, and takes nothing from another's`() {
    let quotas = quotas(.init(perKey: 100, perMerchant: 10))
    #expect(taken(quotas, key: "a") == 21)
    #expect(taken(quotas, key: "b") == 0)
    #expect(taken(quotas, key: "c", of: "kitsune") == 21)
  }

  @Test func `of client sessions is their own`() {
    let quotas = quotas(.init(perKey: 1, perClient: 1))
    #expect((0..<10).filter { _ in quotas.take(client: "c1") == nil }.count == 3)
    #expect(quotas.take(client: "c2") == nil && taken(quotas, key: "a") == 3)
  }

  @Test func `of calls under way is each merchant's own, and is free again when they have ended`() async throws {
    let quotas = quotas(.init(underWay: 1))
    let (harbour, kitsune) = (MerchantID("harbour"), MerchantID("kitsune"))
    let inside = await quotas.admit(harbour) {
      [await quotas.admit(harbour) { true }, await quotas.admit(kitsune) { true }]
    }
    #expect(inside == [nil, true])
    #expect(await quotas.admit(harbour) { true } == true)
  }

  @Test func `lets the refusals of a merchant leave at fifty a second, and keeps none for longer than ten seconds`()
    async throws
  {
    let (pauses, start) = (Pauses(), clock.now)
    let quotas = Quotas(.init(), uptime: { [clock] in clock.now.since(start) }, pause: { pauses.add($0) })
    for _ in 0..<501 { await quotas.awaitRefusal(of: MerchantID("harbour")) }
    await quotas.awaitRefusal(of: MerchantID("kitsune"))
    await quotas.awaitRefusal(of: MerchantID("harbour"), client: "c1")
    let expected = (1...500).map { Duration.milliseconds(20 * $0) } + [.milliseconds(20), .milliseconds(20)]
    #expect(pauses.all == expected)
    clock.advance(.seconds(10))
    await quotas.awaitRefusal(of: MerchantID("harbour"))
    #expect(pauses.all.last == .milliseconds(20))
  }

  /// Each that waits keeps a connection.
  @Test(arguments: [(40, 10), (4, 1)])
  func `lets only so many refusals wait, of which a merchant has a quarter, and the others leave at once`(
    all: Int, ofOne: Int
  ) async {
    let (hold, waiting, left, start) = (Hold(), Counter(), Counter(), clock.now)
    let quotas = Quotas(
      .init(refusalsWaiting: all), uptime: { [clock] in clock.now.since(start) },
      pause: { _ in
        waiting.next()
        try? await waitUntil("the end of the hold") { !hold.isOn }
      })
    await withTaskGroup { group in
      for merchant in ["a", "b", "c", "d", "e"] {
        for number in 0..<(ofOne + 3) {
          group.addTask {
            await quotas.awaitRefusal(of: MerchantID(merchant), client: number.isMultiple(of: 2) ? nil : "c\(number)")
            left.next()
          }
        }
      }
      try? await waitUntil("all of them") { waiting.value + left.value == 5 * (ofOne + 3) }
      #expect(waiting.value == all && left.value == 5 * (ofOne + 3) - all)
      hold.end()
    }
  }

  @Test func `of a basket's merchant sessions is twenty a minute, and takes nothing from another basket`() async {
    let (quotas, clock) = (quotas(.init()), clock)
    func opened(_ basket: String) async -> Int {
      var count = 0
      for _ in 0..<30 where (try? await quotas.session(of: BasketID(basket), MerchantID("harbour"), {})) != nil {
        count += 1
      }
      return count
    }
    #expect(await opened("a") == 20)
    clock.advance(.seconds(3))
    #expect(await opened("a") == 1)
    #expect(await opened("b") == 20)
    clock.advance(.seconds(60))
    #expect(await opened("a") == 20)
  }

  @Test(arguments: [128, 6])
  func `of merchant sessions under way is half of all, and leaves others some`(all: Int) async throws {
    let quotas = quotas(.init(sessionsUnderWay: all))
    // Each is asked for while all before it are under way.
    @Sendable func nested(_ merchant: String, _ count: Int, _ inside: @Sendable @escaping () async throws -> Int)
      async throws -> Int
    {
      guard count < 200 else { return try await inside() }
      do {
        return try await quotas.session(of: BasketID("\(merchant) \(count)"), MerchantID(merchant)) {
          try await nested(merchant, count + 1, inside)
        }
      } catch { return try await inside() + count }
    }
    let reached = try await nested("a", 0) { try await nested("b", 0) { try await nested("c", 0) { 0 } } }
    #expect(reached == all)
    #expect(try await nested("a", 0) { 0 } == all / 2)
  }

  @Test func `that is not set takes whatever comes`() {
    #expect(taken(quotas(.init()), key: "a") == 1_000)
  }
}

/// For how long refusals waited.
private final class Pauses: Sendable {
  private let kept = Mutex<[Duration]>([])
  func add(_ pause: Duration) { kept.withLock { $0.append(pause) } }
  var all: [Duration] { kept.withLock { $0 } }
}

@Suite struct `Who has a basket's id` {
  @Test func `cannot spend the merchant's rate at Apple`() async throws {
    let system = try await TestSystem.shared.value
    let server = try await system.secondServer(at: .stopped) { _ in }
    let basket = try await Shopper.enters(system, server).basket
    for _ in 0..<20 {
      #expect(try await server.page.call("POST", "/applepay/validate", ["basketId": .string(basket)]).status == 200)
    }
    let refused = try await server.page.call("POST", "/applepay/validate", ["basketId": .string(basket)])
    #expect(refused.status == 429 && refused.body["code"] == "too_many_sessions", "\(refused.errorText)")
    #expect(refused.headers.contains { $0.name.lowercased() == "retry-after" })
  }
}

@Suite struct `A merchant's server that asks for merchant sessions` {
  @Test func `has no more under way than its pages`() async throws {
    let system = try await TestSystem.shared.value
    let held = Hold()
    let (asked, refused) = (Log(), Log())
    let shop = try await system.secondServer(beforeApple: {
      asked.keep("a")
      try? await waitUntil("the end of the hold") { !held.isOn }
    }) { _ in }
    let body: JSONValue = ["paymentProductSession302SpecificInput": ["domainName": "harbour.localhost"]]
    try await withThrowingTaskGroup { group in
      for _ in 0..<70 {
        group.addTask {
          let answer = try await shop.signed(
            "POST", "/v2/harbour/products/302/sessions", body, at: system.clock.wall.now())
          guard answer.status != 201 else { return }
          #expect(answer.status == 429 && answer.body["errors"]?.elements.first?["id"] == "TOO_MANY_SESSIONS")
          refused.keep("r")
        }
      }
      try await waitUntil("all of them") { asked.lineCount + refused.lineCount == 70 }
      held.end()
      try await group.waitForAll()
    }
    #expect(asked.lineCount == 64 && refused.lineCount == 6)
  }
}

@Suite struct `A merchant that floods the platform API` {
  @Test func `gets 429 in the wire's shape with Retry-After, and another merchant is served meanwhile`() async throws {
    let system = try await TestSystem.shared.value
    // While no time passes, or a slow machine makes so few calls a second that all are taken.
    let harbour = try await system.secondServer(at: .stopped) { $0.callsPerKey = 5 }
    let kitsune = try Shopfront(
      TestSystem.kitsuneMerchant, system.directory, harbour.server, harbour.sender, store: harbour.store)
    let now = system.clock.wall.now()
    let flood = try await withThrowingTaskGroup { group in
      for _ in 0..<60 {
        group.addTask { try await harbour.signed("GET", "/v2/harbour/services/testconnection", at: now) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let refused = flood.filter { $0.status == 429 }
    #expect(flood.count { $0.status == 200 } == 11 && refused.count == 49)
    for answer in refused {
      #expect(answer.body["errors"]?.elements.first?["id"]?.text == "QUOTA_EXCEEDED")
      #expect(answer.headers.contains { $0.name.lowercased() == "retry-after" && Int($0.value) ?? 0 >= 1 })
    }
    for _ in 0..<5 {
      #expect(try await kitsune.signed("GET", "/v2/kitsune/services/testconnection", at: now).status == 200)
    }
  }
}
