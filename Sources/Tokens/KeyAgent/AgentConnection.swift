import NIOCore
import TenderPayments

/// One connection of a key agent. Reads a question, sends its answer, and only then takes the next question.
///
/// Closes the connection when the client is silent for too long, or sends an invalid request.
final class AgentConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The time limits of a connection.
  struct Limits {
    /// Between two messages.
    let idle: Duration
    /// For the rest of a message once its length has arrived, and for sending an answer.
    let message: Duration
  }

  /// What the connection waits for. Each state has a time limit of its own.
  private enum State {
    case nextMessage
    case restOfMessage
    case sending
  }

  private let limits: Limits
  private let keys: HeldKeys
  private var reader = MessageReader(limit: AgentMessages.questionLimit)
  private var received = ByteBuffer()
  private var state: State?
  private var timer: Scheduled<Void>?

  init(keys: HeldKeys, limits: Limits) {
    self.keys = keys
    self.limits = limits
  }

  func channelActive(context: ChannelHandlerContext) { proceed(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received = Self.unwrapInboundIn(data)
    proceed(context)
  }

  func channelInactive(context: ChannelHandlerContext) { timer?.cancel() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Answers the next message among the received bytes, or reads more.
  private func proceed(_ context: ChannelHandlerContext) {
    do throws(SocketError) {
      guard let message = try reader.next(in: &received) else { return read(context) }
      guard let question = AgentQuestion(Array(message.readableBytesView)) else { return context.close(promise: nil) }
      send(keys.answer(to: question, within: limits.message), context)
    } catch {
      context.close(promise: nil)
    }
  }

  private func read(_ context: ChannelHandlerContext) {
    enter(reader.isInsideMessage ? .restOfMessage : .nextMessage, context)
    context.read()
  }

  /// Sends the answer, wipes it, and goes on with the next question once it is sent.
  private func send(_ answer: consuming AgentAnswer, _ context: ChannelHandlerContext) {
    enter(.sending, context)
    var bytes = answer.bytes
    answer.wipe()
    let buffer = ByteBuffer(framing: bytes)
    bytes.wipe()
    let this = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    context.writeAndFlush(Self.wrapOutboundOut(buffer)).whenComplete { result in
      buffer.wipe()
      if case .success = result { this.value.handler.proceed(this.value.context) }
    }
  }

  /// Starts the time limit of the state, unless the connection is already in it.
  private func enter(_ state: State, _ context: ChannelHandlerContext) {
    guard state != self.state else { return }
    self.state = state
    timer?.cancel()
    let limit = state == .nextMessage ? limits.idle : limits.message
    timer = context.eventLoop.scheduleTask(in: TimeAmount(limit)) { [channel = context.channel] in
      channel.close(promise: nil)
    }
  }
}
