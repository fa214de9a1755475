import NIOCore
import TenderPayments

/// A question for the agent and the promise of its answer.
struct AgentCall: Sendable {
  let question: [UInt8]
  let deadline: Deadline
  let answer: EventLoopPromise<ByteBuffer>
}

/// The client's side of a connection: one call at a time. When its deadline passes, the call fails and the connection is
/// closed.
final class AgentExchange: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = AgentCall
  typealias OutboundOut = ByteBuffer

  private var reader = MessageReader(limit: AgentMessages.answerLimit)
  private var waiting: (answer: EventLoopPromise<ByteBuffer>, timer: Scheduled<Void>)?

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let call = Self.unwrapOutboundIn(data)
    let limit = TimeAmount(call.deadline.remaining)
    let timer = context.eventLoop.scheduleTask(in: limit) { [channel = context.channel] in
      call.answer.fail(SocketError.late)
      channel.close(promise: nil)
    }
    waiting = (call.answer, timer)
    context.write(Self.wrapOutboundOut(ByteBuffer(framing: call.question)), promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var received = Self.unwrapInboundIn(data)
    do throws(SocketError) {
      guard let answer = try reader.next(in: &received) else { return }
      guard received.readableBytes == 0 else { throw SocketError("it sends more than an answer") }
      finish { $0.succeed(answer) }
    } catch {
      finish { $0.fail(error) }
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    let error = reader.isAtStart ? SocketError.closed : SocketError("the connection ended inside a message")
    finish { $0.fail(error) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func finish(_ complete: (EventLoopPromise<ByteBuffer>) -> Void) {
    guard let (answer, timer) = waiting else { return }
    waiting = nil
    timer.cancel()
    complete(answer)
  }
}

extension SocketError {
  static let late = SocketError("no answer in time")
  static let closed = SocketError("it closed the connection", isStale: true)
}
