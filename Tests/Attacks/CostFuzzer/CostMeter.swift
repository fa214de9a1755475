import Foundation
package import StrictJSON
import TenderTesting

/// The server that is measured, and what a caller needs to pass its first checks.
package struct CostTarget: Sendable {
  let port: Int
  let process: Int32
  let origin: String
  let key: (merchant: String, id: String, secret: String)
  let basket: String
  /// Bodies that the server accepts.
  let (payment, document): (JSONValue, JSONValue)
  /// Signs the events of the sandbox's acquirer.
  let eventKey: String

  /// - Parameters:
  ///   - payment: the body of a payment of the basket.
  ///   - document: the body with which the merchant's server stored the basket.
  package init(
    port: Int, process: Int32, origin: String, key: (merchant: String, id: String, secret: String), basket: String,
    payment: JSONValue, document: JSONValue, eventKey: String = "sandbox-acquirer-key"
  ) {
    (self.port, self.process, self.origin, self.key, self.basket) = (port, process, origin, key, basket)
    (self.payment, self.document, self.eventKey) = (payment, document, eventKey)
  }
}

/// What one request has cost.
package struct RequestCost: Sendable {
  package let name: String
  package let status: Int
  package let time: Duration
  /// Of the request, as it was sent.
  package let bytes: Int
}

/// Sends hostile requests one by one and reads after each how much processor time the server has used.
package struct CostMeter {
  /// The most that a request of at most 1 MiB may cost: 50 ms. A debug build is allowed ten times as much, because
  /// nothing in it is optimised; the costs that matter are quadratic, and a thousand times as much.
  package static var bar: Duration {
    #if DEBUG
      .milliseconds(500)
    #else
      .milliseconds(50)
    #endif
  }

  /// A key of JSON that is long to compare as a string.
  package static let hostileKey = HostileText.all[0].filling(57_000)

  private let target: CostTarget
  private let clock: ProcessorClock

  package init(_ target: CostTarget) throws {
    self.target = target
    clock = try ProcessorClock(of: target.process)
  }

  /// Sends `count` requests, which follow from the seed. One that is over the bar is sent again, and its cheapest run
  /// counts, because the server also does other things.
  package func costs(of count: Int, seed: UInt64) throws -> [RequestCost] {
    var requests = HostileRequests(target, seed: seed)
    waitUntilIdle()
    return try (0..<count).map { number in
      let request = requests.request(number)
      var cost = try cost(of: request)
      for _ in 0..<2 where cost.time > Self.bar { cost = try min(cost, self.cost(of: request)) }
      return cost
    }
  }

  private func min(_ one: RequestCost, _ other: RequestCost) -> RequestCost { one.time < other.time ? one : other }

  private func cost(of request: HostileRequest) throws -> RequestCost {
    let bytes = request.bytes(to: target)
    let start = clock.now
    let status = try HostileConnection(port: target.port).status(of: bytes)
    waitUntilIdle()
    return RequestCost(name: request.name, status: status, time: clock.now - start, bytes: bytes.count)
  }

  /// Waits until the server has nothing to do.
  private func waitUntilIdle() {
    var (last, calm) = (clock.now, 0)
    while calm < 2, !TestRun.isOver {
      usleep(500)
      let now = clock.now
      calm = now - last < .microseconds(100) ? calm + 1 : 0
      last = now
    }
  }
}
