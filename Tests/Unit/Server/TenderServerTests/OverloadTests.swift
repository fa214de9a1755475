import Foundation
import Gateway
import HTTPTransport
import Logging
import Settings
import StrictJSON
import Synchronization
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// A server with more payments than it takes on. The simulated card gets no answer for two seconds, and as long its
/// payment is under way.
@Suite(.serialized) struct `A server that is full` {
  private static let card = "visa-no-answer"

  @Test func `refuses the payment too many before anything is begun, and takes it later`() async throws {
    let system = try await TestSystem.shared.value
    let shop = try await Self.shop(system, mostAtOnce: 1)
    let calls = try await Self.two(system, shop)
    let answers = try await Self.atOnce(calls)
    let refused = try #require(Self.refused(answers), "\(answers.map(\.errorText))")
    #expect(answers[refused].status == 503 && answers[refused].body["code"] == "overloaded")
    #expect(answers[refused].headers.contains { $0.name.lowercased() == "retry-after" && $0.value == "1" })
    #expect(answers[1 - refused].status == 202, "\(answers[1 - refused].errorText)")

    let shopper = calls[refused].shopper
    #expect(try await shopper.outcome().body["code"] == "payment_not_found")
    #expect(try await shopper.pays(calls[refused].payment).status == 202)
  }

  @Test func `is noticed only because it refuses: one that is not full does not`() async throws {
    let system = try await TestSystem.shared.value
    let shop = try await Self.shop(system, mostAtOnce: 2)
    let answers = try await Self.atOnce(try await Self.two(system, shop))
    #expect(Self.refused(answers) == nil, "\(answers.map(\.errorText))")
  }

  @Test func `says so in the router's words`() async throws {
    let system = try await TestSystem.shared.value
    let hold = Hold()
    let shop = try await Self.shop(system, mostAtOnce: 1, hold)
    try await Self.full(system, shop, hold) {
      // A request for a closed connection is answered by the router.
      let calls = Self.payment(at: shop) + Self.payment(at: shop, "Connection: close\n")
      let both = try await RawConnection.answers(2, to: calls, port: shop.port)
      let (answer, routed) = (both[0], both[1])
      // Only the router says what day it is, so these are two answers from two places.
      #expect(!answer.headers.contains { $0.hasPrefix("date: ") } && routed.headers.contains { $0.hasPrefix("date: ") })
      #expect(answer.status == 503 && answer.body["code"] == "overloaded")
      #expect(Self.comparable(answer) == Self.comparable(routed))
      #expect(answer.headers.contains("access-control-allow-origin: \(shop.origin)"))
      #expect(answer.headers.contains { $0.hasPrefix("x-request-id: ") && !routed.headers.contains($0) })
    }
    let metrics = try await shop.metrics()
    #expect(metrics.contains(#"{method="POST",route="/applepay/payment",status="503"} 2"#), "\(metrics)")
    #expect(metrics.contains(#"tender_refusals_total{code="overloaded"} 2"#), "\(metrics)")
  }

  /// Under overload every task waits behind the payments that are under way. Here all threads that run tasks are kept
  /// busy, and the refusal comes all the same.
  @Test func `refuses while no task can run`() async throws {
    let system = try await TestSystem.shared.value
    let hold = Hold()
    let shop = try await Self.shop(system, mostAtOnce: 1, hold)
    try await Self.full(system, shop, hold) {
      let text = Self.payment(at: shop)
      // The threads are free again only after the answer.
      let status = try await RawConnection.onThread { () -> Int in
        let connection = try RawConnection(port: shop.port)
        let (blocking, blocked) = (Hold(), Log())
        defer { blocking.end() }
        let threads = ProcessInfo.processInfo.activeProcessorCount
        for _ in 0..<threads {
          Task.detached {
            blocked.keep("")
            while blocking.isOn { usleep(1_000) }
          }
        }
        while blocked.lineCount < threads { usleep(1_000) }
        try connection.send(text)
        return try connection.answers(1)[0].status
      }
      #expect(status == 503)
    }
  }

  @Test func `answers calls that came together in their order`() async throws {
    let system = try await TestSystem.shared.value
    let hold = Hold()
    let shop = try await Self.shop(system, mostAtOnce: 1, hold)
    try await Self.full(system, shop, hold) {
      let (alive, payment) = ("GET /healthz HTTP/1.1\nHost: localhost\n\n", Self.payment(at: shop))
      let calls = alive + payment + alive + payment + payment
      let statuses = try await RawConnection.answers(5, to: calls, port: shop.port).map(\.status)
      #expect(statuses == [200, 503, 200, 503, 503])
    }
  }

  @Test func `frees the slot of a request that is answered before it has ended`() async throws {
    let system = try await TestSystem.shared.value
    let shop = try await Self.shop(system, mostAtOnce: 128)
    // Each is answered for its content type or its origin at once, and sends its body of one byte afterwards.
    let connections = try await RawConnection.onThread { () -> [RawConnection.Shared] in
      try (0..<130).map { number in
        let origin = number.isMultiple(of: 2) ? shop.origin : "https://unknown.example"
        let connection = try RawConnection.Shared(port: shop.port)
        try connection.value.send(Self.head(origin, type: "text/plain", length: 1))
        let status = try connection.value.answers(1)[0].status
        guard [415, 403].contains(status) else { throw RawConnection.Trouble(words: "\(status)") }
        try connection.value.send("x")
        return connection
      }
    }
    #expect(try await Self.pays(system, shop) == 200)
    // Connections that were answered early can be used again, and are in order.
    let again = try await RawConnection.onThread { () -> Int in
      try connections[0].value.send(Self.payment(at: shop, body: "{}"))
      return try connections[0].value.answers(1)[0].status
    }
    #expect(again == 400)
  }

  @Test func `holds no slot for a body that is slow`() async throws {
    let system = try await TestSystem.shared.value
    let shop = try await Self.shop(system, mostAtOnce: 1)
    let connection = try RawConnection(port: shop.port)
    try connection.send(Self.head(shop.origin, type: "application/json", length: 20) + "{")
    #expect(try await Self.pays(system, shop) == 200)
    try connection.send(" ")
  }

  @Test func `frees the slot after each of two payments that came together`() async throws {
    let system = try await TestSystem.shared.value
    let shop = try await Self.shop(system, mostAtOnce: 1)
    let two = Self.payment(at: shop) + Self.payment(at: shop)
    #expect(try await RawConnection.answers(2, to: two, port: shop.port).map(\.status) == [400, 400])
    #expect(try await Self.pays(system, shop) == 200)
  }

  @Test func `counts a payment that is under way also when its connection has closed`() async throws {
    let system = try await TestSystem.shared.value
    let hold = Hold()
    let shop = try await Self.shop(system, mostAtOnce: 1, hold)
    let shopper = try await Shopper.enters(system, shop, service: "collection")
    let payment = try await shopper.payment(try await shopper.token())
    defer { hold.end() }
    let connection = try RawConnection(port: shop.port)
    try connection.send(Self.payment(at: shop, body: String(decoding: payment.serialized(), as: UTF8.self)))
    try await Self.begins(shopper)
    _ = consume connection
    #expect(try await RawConnection.answers(1, to: Self.payment(at: shop), port: shop.port)[0].status == 503)
    hold.end()
    #expect(try await Self.pays(system, shop) == 200)
  }

  @Test func `keeps no slot for a request that was no payment`() async throws {
    let system = try await TestSystem.shared.value
    let shop = try await Self.shop(system, mostAtOnce: 1)
    for (type, body, status) in [
      ("text/plain", "{}", 415), ("application/json", "{", 400), ("application/json", "{}", 400),
    ] {
      let call = Self.payment(at: shop, type: type, body: body)
      #expect(try await RawConnection.answers(1, to: call, port: shop.port).map(\.status) == [status])
    }
    // One who leaves before the answer.
    for _ in 0..<20 { try RawConnection(port: shop.port).send(Self.payment(at: shop)) }
    #expect(try await Self.pays(system, shop) == 200)
  }
}

extension `A server that is full` {
  /// Runs `body` while the server's one place is taken.
  private static func full(
    _ system: TestSystem, _ shop: Shopfront, _ hold: Hold, _ body: () async throws -> Void
  ) async throws {
    let shopper = try await Shopper.enters(system, shop, service: "collection")
    let payment = try await shopper.payment(try await shopper.token())
    defer { hold.end() }
    async let answer = shopper.pays(payment)
    try await Self.begins(shopper)
    try await body()
    hold.end()
    #expect(try await answer.status == 200)
  }

  /// Returns when the shopper's payment is under way.
  private static func begins(_ shopper: Shopper) async throws {
    try await waitUntil("a payment that is under way") { try await shopper.outcome().status != 404 }
  }

  /// The status of a payment, sent again while it is above the limit.
  private static func pays(_ system: TestSystem, _ shop: Shopfront) async throws -> Int {
    let shopper = try await Shopper.enters(system, shop, service: "collection")
    let payment = try await shopper.payment(try await shopper.token())
    return try await waitFor("a free slot", { try await shopper.pays(payment).status }) { $0 != 503 }
  }

  /// A payment without its body.
  private static func head(_ origin: String, type: String, length: Int) -> String {
    """
    POST /applepay/payment HTTP/1.1
    Host: localhost
    Origin: \(origin)
    Content-Type: \(type)
    Content-Length: \(length)


    """
  }

  private static func payment(
    at shop: Shopfront, _ header: String = "", type: String = "application/json", body: String = "{}"
  ) -> String {
    """
    POST /applepay/payment HTTP/1.1
    Host: localhost
    Origin: \(shop.origin)
    Content-Type: \(type)
    Content-Length: \(body.utf8.count)
    \(header)
    \(body)
    """
  }

  /// Without what differs from one answer to the next, and the router's date.
  private static func comparable(_ answer: RawConnection.Answer) -> [String] {
    let own = ["x-request-id: ", "date: ", "connection: "]
    let words = ["type", "title", "status", "code", "detail", "field", "errors"].map { "\(answer.body[$0] ?? .null)" }
    return answer.headers.filter { line in !own.contains { line.hasPrefix($0) } } + words
  }

  private typealias Call = (shopper: Shopper, payment: JSONValue)

  private static func refused(_ answers: [JSONClient.Answer]) -> Int? { answers.firstIndex { $0.status == 503 } }

  private static func two(_ system: TestSystem, _ shop: Shopfront) async throws -> [Call] {
    var calls: [Call] = []
    for _ in 0..<2 {
      let shopper = try await Shopper.enters(system, shop, service: "collection")
      calls.append((shopper, try await shopper.payment(try await shopper.token(card: card))))
    }
    return calls
  }

  private static func atOnce(_ calls: [Call]) async throws -> [JSONClient.Answer] {
    async let first = calls[0].shopper.pays(calls[0].payment)
    async let second = calls[1].shopper.pays(calls[1].payment)
    return try await [first, second]
  }

  /// A server on which `limit` payments can be under way.
  ///
  /// - Parameter hold: while it is on, the acquirer's answers to authorizations are.
  private static func shop(_ system: TestSystem, mostAtOnce limit: Int, _ hold: Hold? = nil) async throws -> Shopfront {
    // No time passes there: what is held for a while is neither given up nor recovered.
    try await system.secondServer(hold, at: .stopped) { $0.gatewayPolicy.maximumInFlight = limit }
  }
}

/// Blocks callers until it is released.
final class Hold: Sendable {
  private let isOver = Mutex(false)

  var isOn: Bool { !isOver.withLock { $0 } }
  func end() { isOver.withLock { $0 = true } }
}
