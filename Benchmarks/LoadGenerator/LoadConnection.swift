import NIOCore

/// A connection to the server, with at most one request under way. Touched on its event loop alone.
final class LoadConnection: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer

  private var reader = MessageReader()
  private var channel: (any Channel)?
  private var waiting: (@Sendable (HTTPMessage?) -> Void)?

  /// - Parameter answered: receives the answer, or nil when the connection broke.
  func send(_ request: ByteBuffer, answered: @escaping @Sendable (HTTPMessage?) -> Void) {
    waiting = answered
    guard let channel, channel.isActive else { return finish(nil) }
    channel.writeAndFlush(request, promise: nil)
  }

  var isOpen: Bool { channel?.isActive ?? false }

  func close() { channel?.close(promise: nil) }

  func handlerAdded(context: ChannelHandlerContext) { channel = context.channel }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    reader.append(&bytes)
    do { if let message = try reader.next() { finish(message) } } catch { context.close(promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) { finish(nil) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func finish(_ message: HTTPMessage?) {
    let waiting = waiting
    self.waiting = nil
    waiting?(message)
  }
}
