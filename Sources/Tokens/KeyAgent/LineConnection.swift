import NIOCore
import TenderPayments
import TokenCalls

/// One connection of a ``TokenLineServer``. Reads a line, sends its answer, and only then takes the next line.
///
/// Closes the connection when the client is silent for too long, or after the answer to a line that is too long.
final class LineConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// What the connection waits for. Each state has a time limit of its own.
  private enum State {
    case nextLine
    case restOfLine
    /// Until the answer is sent, and the turn after it begins.
    case sending
  }

  private let limits: AgentConnection.Limits
  /// The answer is card data, which is wiped here.
  private let answer: ([UInt8]) -> [UInt8]
  private var received = ByteBuffer()
  private var state: State?
  private var timer: Scheduled<Void>?

  init(limits: AgentConnection.Limits, answer: @escaping ([UInt8]) -> [UInt8]) {
    (self.limits, self.answer) = (limits, answer)
  }

  func channelActive(context: ChannelHandlerContext) { proceed(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var piece = Self.unwrapInboundIn(data)
    received.writeBuffer(&piece)
    proceed(context)
  }

  func channelInactive(context: ChannelHandlerContext) { timer?.cancel() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Answers the next line among the received bytes, or reads more.
  private func proceed(_ context: ChannelHandlerContext) {
    guard state != .sending else { return }
    let length = received.readableBytesView.firstIndex(of: UInt8(ascii: "\n")).map { $0 - received.readerIndex }
    guard (length ?? received.readableBytes) <= TokenKeys.lineLimit else {
      return send(TokenKeys.answerToLongLine, context, isLast: true)
    }
    guard let length, let line = received.readBytes(length: length) else { return read(context) }
    received.moveReaderIndex(forwardBy: 1)
    received.discardReadBytes()
    send(answer(line), context, isLast: false)
  }

  private func read(_ context: ChannelHandlerContext) {
    enter(received.readableBytes > 0 ? .restOfLine : .nextLine, context)
    context.read()
  }

  /// Sends the answer, wipes it, and goes on with the next line once it is sent.
  private func send(_ answer: consuming [UInt8], _ context: ChannelHandlerContext, isLast: Bool) {
    enter(.sending, context)
    var buffer = ByteBufferAllocator().buffer(capacity: answer.count + 1)
    buffer.writeBytes(answer)
    answer.wipe()
    buffer.writeInteger(UInt8(ascii: "\n"))
    let sent = buffer
    let this = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    context.writeAndFlush(Self.wrapOutboundOut(buffer)).whenComplete { result in
      sent.wipe()
      guard case .success = result, !isLast else { return this.value.context.close(promise: nil) }
      // A write that succeeds at once would answer all lines that were received on one stack.
      this.eventLoop.execute {
        guard this.value.context.channel.isActive else { return }
        this.value.handler.state = nil
        this.value.handler.proceed(this.value.context)
      }
    }
  }

  /// Starts the time limit of the state, unless the connection is already in it.
  private func enter(_ state: State, _ context: ChannelHandlerContext) {
    guard state != self.state else { return }
    self.state = state
    timer?.cancel()
    let limit = state == .nextLine ? limits.idle : limits.message
    timer = context.eventLoop.scheduleTask(in: TimeAmount(limit)) { [channel = context.channel] in
      channel.close(promise: nil)
    }
  }
}
