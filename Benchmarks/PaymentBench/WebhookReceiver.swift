import LoadGenerator
import NIOCore
import StrictJSON

/// A merchant's server that receives events: it acknowledges each, at once or after a delay, and checks their order.
final class WebhookReceiver: Sendable {
  private let memory: ReceiverMemory
  private let server: MemoryServer

  /// - Parameter delay: until it answers.
  init(answeringAfter delay: Duration = .zero) async throws {
    let memory = ReceiverMemory(delay: .nanoseconds(Int64(delay.seconds * 1e9)))
    self.memory = memory
    server = try await MemoryServer { request, reply in memory.answer(request, reply) }
  }

  /// Of its only endpoint.
  var url: String { server.url + "/events" }

  /// Events that it has acknowledged, each counted once.
  func acknowledged() async throws -> Int {
    try await server.loop.submit { [memory] in memory.order.acknowledged }.get()
  }

  /// - Throws: ``BenchFailure`` when an event came before the one before it was acknowledged, or could not be read.
  func requireOrder() async throws {
    let (early, unreadable) = try await server.loop.submit { [memory] in
      (memory.order.violations, memory.unreadable)
    }.get()
    guard early == 0 else { throw BenchFailure("\(early) events came before the one before them was acknowledged") }
    guard unreadable == 0 else { throw BenchFailure("\(unreadable) events have no payment or no number") }
  }

  /// Waits until so many events have been acknowledged, or more.
  ///
  /// - Throws: ``BenchFailure`` when they have not been in time.
  func wait(for count: Int, within limit: Duration = .seconds(60)) async throws {
    let end = ContinuousClock.now + limit
    while try await acknowledged() < count {
      guard ContinuousClock.now < end else {
        throw BenchFailure("\(try await acknowledged()) of \(count) events came within \(limit)")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  func close() async throws { try await server.close() }
}

/// Touched on the receiver's event loop alone.
private final class ReceiverMemory: @unchecked Sendable {
  private let delay: TimeAmount
  private(set) var order = EventOrder()
  private(set) var unreadable = 0

  init(delay: TimeAmount) { self.delay = delay }

  func answer(_ request: HTTPMessage, _ reply: MemoryReply) {
    let event = (try? JSONReader.read(Array(request.body.readableBytesView)))?["tender"]
    guard case .string(let payment) = event?["paymentId"], case .integer(let number) = event?["sequence"] else {
      unreadable += 1
      return reply.send([], after: delay)
    }
    order.receive(number, of: payment)
    reply.send([], after: delay) { self.order.acknowledge(number, of: payment) }
  }
}
