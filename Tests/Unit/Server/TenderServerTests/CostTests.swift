import Acquiring
import Connectors
import CostFuzzer
import Foundation
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// What callers who are not to be trusted can make the server work.
@Suite struct `The cost of a request` {
  /// `TENDER_COST_REQUESTS` and `TENDER_SEED` make other and longer runs.
  @Test func `is at most 50 ms of processor time, whatever the request is`() async throws {
    let system = try await TestSystem.shared.value
    let served = try await ServedTender(system)
    defer { served.end() }
    let target = try await Self.target(system, served)
    let (count, seed) = (Self.number("TENDER_COST_REQUESTS") ?? 240, Self.number("TENDER_SEED") ?? 15)
    let costs = try await RawConnection.onThread {
      try CostMeter(target).costs(of: count, seed: UInt64(seed))
    }
    for cost in costs {
      #expect(cost.time <= CostMeter.bar, "\(cost.name), \(cost.bytes) bytes: \(cost.time)")
      #expect(cost.status != 500 && cost.bytes <= 1 << 20, "\(cost.name): \(cost.status)")
    }
    let answered = costs.count { $0.status > 0 }
    #expect(answered > count * 9 / 10 && served.process.isRunning)
    for status in [200, 400, 422] { #expect(costs.contains { $0.status == status }) }
    // A signed event that cannot be read is an error of its sender's, and is logged as one.
    let errors = try served.lines(at: "error").filter { !$0.contains("event_unintelligible") }
    #expect(errors.isEmpty, "\(errors.prefix(3))")
    let most = try #require(costs.max { $0.time < $1.time })
    let violations = costs.count { $0.time > CostMeter.bar }
    print("cost: \(costs.count) runs, \(violations) violations; the most: \(most.name), \(most.time)")
  }

  /// The old reader compared keys as strings, and put many into a set.
  @Test func `would be over the bar if keys were compared as strings`() throws {
    let key = CostMeter.hostileKey
    var found = false
    let time = ProcessorClock.ofThread.time {
      for known in ["basketId", "quoteId", "token", "billingContact", "shippingContact"] {
        found = found || Set([key]).contains(known) || key.hasPrefix(known)
      }
    }
    #expect(!found && time > CostMeter.bar, "\(time)")
  }

  /// A name of a field, and a signature, that are long to compare as strings.
  @Test func `is as low where a provider's event is a form`() throws {
    let acquirer = Acquirer.braintree(
      BraintreeSettings(
        environment: .simulated(origin: "http://localhost"), merchantID: "m1", publicKey: "pub",
        privateKey: BraintreePrivateKey("priv"), merchantAccounts: [:]), http: .unreachable)
    for body in ["\(CostMeter.hostileKey)=1", "bt_signature=\(CostMeter.hostileKey)&bt_payload=a"] {
      let event = InboundEvent(headers: [], body: Array(body.utf8), arrivedAt: Timestamp(seconds: 0))
      let time = ProcessorClock.ofThread.time {
        #expect(throws: EventRefusal.notAuthentic) { try acquirer.readEvents(event) }
      }
      #expect(time <= CostMeter.bar, "\(body.prefix(20)): \(time)")
    }
  }

  private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

  private static func target(_ system: TestSystem, _ served: ServedTender) async throws -> CostTarget {
    let shop = try Shopfront(TestSystem.harbourMerchant, system.directory, served.url, system.sender)
    let paying = try await Shopper.enters(system, shop, service: "collection")
    let shopper = try await Shopper.enters(system, shop)
    // Opened as far as its last byte, and never good, so that the basket stays to be paid.
    let token = try Altered.token(try await paying.token(), "data")
    return CostTarget(
      port: served.port, process: served.process.id, origin: shop.origin, key: shop.key, basket: shopper.basket,
      payment: try await paying.payment(token), document: shopper.document(1250, "EUR", "delivery"))
  }
}

extension HTTPSender {
  fileprivate static let unreachable = HTTPSender { _, _ throws(TransportError) in throw .notSent("no network") }
}
