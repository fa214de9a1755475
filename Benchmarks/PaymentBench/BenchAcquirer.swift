import LoadGenerator
import NIOCore
import NIOPosix
import StrictJSON

/// An acquirer that speaks the sandbox's wire from memory: it approves, at once or after a while. The sandbox's own
/// writes a ledger with fsync, and would be what is measured.
///
/// It keeps what it was asked, so that at the end nobody was charged twice.
final class BenchAcquirer: Sendable {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let book = AcquirerMemory()
  private let channel: any Channel

  init() async throws {
    let book = book
    channel = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 4_096)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcquirerLine(book)) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

  /// From now on it takes so long to answer.
  func answers(after delay: Duration) async throws {
    try await group.next().submit { [book] in book.delay = .nanoseconds(Int64(delay.seconds * 1e9)) }.get()
  }

  /// What it has approved: how many, and how many of them for an order that it had approved before.
  func approvals() async throws -> (all: Int, doubles: Int) {
    try await group.next().submit { [book] in (book.approvals, book.approvals - book.orders.count) }.get()
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

  private let book: AcquirerMemory
  private var reader = MessageReader()

  init(_ book: AcquirerMemory) { self.book = book }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    reader.append(&bytes)
    do {
      while let message = try reader.next() { answer(message, on: context.channel) }
    } catch { context.close(promise: nil) }
  }

  private func answer(_ message: HTTPMessage, on channel: any Channel) {
    let body = book.answer(message)
    var bytes = ByteBuffer()
    bytes.writeString(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n")
    bytes.writeBytes(body)
    guard book.delay > .zero else { return channel.writeAndFlush(bytes, promise: nil) }
    channel.eventLoop.scheduleTask(in: book.delay) { [bytes] in channel.writeAndFlush(bytes, promise: nil) }
  }
}
