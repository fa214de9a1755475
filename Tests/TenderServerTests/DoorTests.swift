import Foundation
import HTTPTransport
import Logging
import StrictJSON
import TenderPayments
import TenderServer
import Testing

/// A server with more payments than it takes on. The simulated card gets no answer for two seconds, and as long its
/// payment is under way.
@Suite struct `A server that is full` {
  private static let card = "visa-no-answer"

  @Test func `refuses the payment too many before anything is begun, and takes it later`() async throws {
    let house = try await House.shared.value
    let shop = try await Self.shop(house, mostAtOnce: 1)
    let calls = try await Self.two(house, shop)
    let answers = try await Self.atOnce(calls)
    let refused = try #require(Self.refused(answers), "\(answers.map(\.complaint))")
    #expect(answers[refused].status == 503 && answers[refused].body["code"] == "overloaded")
    #expect(answers[refused].headers.contains { $0.name.lowercased() == "retry-after" && $0.value == "1" })
    #expect(answers[1 - refused].status == 202, "\(answers[1 - refused].complaint)")

    let shopper = calls[refused].shopper
    #expect(try await shopper.outcome().body["code"] == "payment_not_found")
    #expect(try await shopper.pays(calls[refused].payment).status == 202)
  }

  @Test func `is noticed only because it refuses: one that is not full does not`() async throws {
    let house = try await House.shared.value
    let shop = try await Self.shop(house, mostAtOnce: 2)
    let answers = try await Self.atOnce(try await Self.two(house, shop))
    #expect(Self.refused(answers) == nil, "\(answers.map(\.complaint))")
  }
}

extension `A server that is full` {
  private typealias Call = (shopper: Shopper, payment: JSONValue)

  private static func refused(_ answers: [JSONClient.Answer]) -> Int? { answers.firstIndex { $0.status == 503 } }

  private static func two(_ house: House, _ shop: Shopfront) async throws -> [Call] {
    var calls: [Call] = []
    for _ in 0..<2 {
      let shopper = try await Shopper.enters(house, shop, service: "collection")
      calls.append((shopper, try await shopper.payment(try await shopper.token(card: card))))
    }
    return calls
  }

  private static func atOnce(_ calls: [Call]) async throws -> [JSONClient.Answer] {
    async let first = calls[0].shopper.pays(calls[0].payment)
    async let second = calls[1].shopper.pays(calls[1].payment)
    return try await [first, second]
  }

  /// The house's first merchant at a second server, with a store of its own.
  private static func shop(_ house: House, mostAtOnce limit: Int) async throws -> Shopfront {
    var configuration = ServerConfiguration(
      environment: .simulated, directory: "\(house.directory)/full-\(limit)", host: "127.0.0.1", port: 0,
      sandboxURL: house.sandbox.base, acquirer: .init(connector: "sandbox", baseURL: house.sandbox.base, apiKey: ""))
    configuration.merchantsDirectory = house.directory + "/merchants"
    configuration.platformDirectory = house.directory + "/platform"
    configuration.allowsPrivateWebhooks = true
    configuration.maximumPaymentsInFlight = limit
    var logger = Logger(label: "full")
    logger.logLevel = .critical
    let ready = Mailbox<Int>()
    let server = try await TenderServer(configuration, clock: house.clock.wall, logger: logger) { ready.put($0) }
    Task { try await server.run() }
    let url = "http://127.0.0.1:\(try await ready.awaited)"
    return try Shopfront(House.harbourWish, house.directory, url, house.sender)
  }
}
