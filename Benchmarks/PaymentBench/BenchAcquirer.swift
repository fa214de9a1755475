import LoadGenerator
import NIOCore
import StrictJSON

/// An acquirer with the sandbox's protocol that works in memory: it approves, at once or after a delay. The sandbox's own
/// flushes a ledger to disk, which would distort the measurement.
///
/// It remembers the orders, to check at the end that none was charged twice.
final class BenchAcquirer: Sendable {
  private let memory: AcquirerMemory
  private let server: MemoryServer

  init() async throws {
    let memory = AcquirerMemory()
    self.memory = memory
    server = try await MemoryServer { request, reply in memory.answer(request, reply) }
  }

  var url: String { server.url }

  /// Sets the time until it answers.
  func answers(after delay: Duration) async throws {
    try await server.loop.submit { [memory] in memory.delay = .nanoseconds(Int64(delay.seconds * 1e9)) }.get()
  }

  /// The number of approvals, and how many of them were for an order that had an approval before.
  func approvals() async throws -> (all: Int, doubles: Int) {
    try await server.loop.submit { [memory] in (memory.approvals, memory.approvals - memory.orders.count) }.get()
  }

  func close() async throws { try await server.close() }
}

/// Touched on the acquirer's event loop alone.
private final class AcquirerMemory: @unchecked Sendable {
  var delay = TimeAmount.zero
  var approvals = 0
  var orders: Set<String> = []

  func answer(_ request: HTTPMessage, _ reply: MemoryReply) { reply.send(approval(of: request), after: delay) }

  private func approval(of request: HTTPMessage) -> [UInt8] {
    guard let asked = try? JSONReader.read(Array(request.body.readableBytesView)) else { return [] }
    if case .string(let order) = asked["merchantReference"] {
      approvals += 1
      orders.insert(order)
    }
    let answer: JSONValue = [
      "reference": asked["reference"] ?? .null, "acquirerReference": .string("A\(approvals)"), "result": "approved",
      "responseCode": "00", "authorizationCode": "Z01234", "networkTransactionId": .string("N\(approvals)"),
      "amount": asked["amount"] ?? .null, "currency": asked["currency"] ?? .null,
    ]
    return answer.serialized()
  }
}
