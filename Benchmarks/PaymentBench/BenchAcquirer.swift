import LoadGenerator
import NIOCore
import NIOPosix
import StrictJSON

/// An acquirer with the sandbox's protocol that works in memory: it approves, at once or after a delay. The sandbox's own
/// flushes a ledger to disk, which would distort the measurement.
///
/// It remembers the orders, to check at the end that none was charged twice.
final class BenchAcquirer: Sendable {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let memory = AcquirerMemory()
  private let channel: any Channel

  init() async throws {
    let memory = memory
    channel = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 4_096)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcquirerLine(memory)) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

  /// Sets the time until it answers.
  func answers(after delay: Duration) async throws {
    try await group.next().submit { [memory] in memory.delay = .nanoseconds(Int64(delay.seconds * 1e9)) }.get()
  }

  /// The number of approvals, and how many of them were for an order that had an approval before.
  func approvals() async throws -> (all: Int, doubles: Int) {
    try await group.next().submit { [memory] in (memory.approvals, memory.approvals - memory.orders.count) }.get()
  }

  func close() async throws { try await group.shutdownGracefully() }
}

/// Touched on the acquirer's event loop alone.
private final class AcquirerMemory: @unchecked Sendable {
  var delay = TimeAmount.zero
  var approvals = 0
  var orders: Set<String> = []

  func answer(_ message: HTTPMessage) -> [UInt8] {
    guard let asked = try? JSONReader.read(Array(message.body.readableBytesView)) else { return [] }
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

private final class AcquirerLine: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer

  private let memory: AcquirerMemory
  private var reader = MessageReader()

  init(_ memory: AcquirerMemory) { self.memory = memory }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    reader.append(&bytes)
    do {
      while let message = try reader.next() { answer(message, on: context.channel) }
    } catch { context.close(promise: nil) }
  }

  private func answer(_ message: HTTPMessage, on channel: any Channel) {
    let body = memory.answer(message)
    var bytes = ByteBuffer()
    bytes.writeString(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n")
    bytes.writeBytes(body)
    guard memory.delay > .zero else { return channel.writeAndFlush(bytes, promise: nil) }
    channel.eventLoop.scheduleTask(in: memory.delay) { [bytes] in channel.writeAndFlush(bytes, promise: nil) }
  }
}
