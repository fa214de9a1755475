import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypes

/// What a payment that a full server does not take is told, made without a task.
///
/// The answer is that of the router behind its middlewares. There, a refusal waits its turn among the payments that are
/// under way.
struct OverloadRefusal: Sendable {
  let door: PaymentDoor
  let recorder: CallRecorder
  let gate: CrossOriginGate
  let logger: Logger

  static func concerns(_ request: HTTPRequest) -> Bool { request.method == .post && request.path == Routes.payment }

  /// Nil when the router is to answer: there is a place inside, it is another call, or its page is nobody's.
  func answer(to request: HTTPRequest) -> PlainAnswer? {
    // One who wants the connection closed afterwards is left to the router, which does that.
    guard door.isFull, Self.concerns(request), request.headerFields[.connection]?.lowercased() != "close"
    else { return nil }
    let page = gate.page(of: request.headerFields[.origin])
    if case .unknown = page { return nil }
    return recorder.recording(request.method, Routes.payment, logger) { id in
      var answer = recorder.problems.overloaded(id)
      page.mayRead(&answer.head.headerFields)
      SecurityHeaders.add(to: &answer.head.headerFields)
      return answer
    }
  }
}

/// Answers calls that ``OverloadRefusal`` has an answer for on the event loop that reads them, lets all others through,
/// and keeps a place for each payment among them as soon as all of it is here.
final class OverloadHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let refusal: OverloadRefusal
  /// Calls that were let through and have no answer yet: one behind them must not overtake them.
  private var underWay = 0
  /// What the call that is being read is told at its end.
  private var answer: PlainAnswer?
  private var isPayment = false

  init(_ refusal: OverloadRefusal) { self.refusal = refusal }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let request):
      answer = underWay == 0 ? refusal.answer(to: request) : nil
      isPayment = underWay == 0 && OverloadRefusal.concerns(request)
      if answer == nil { underWay += 1 }
    case .body: break
    case .end:
      if let answer { return send(answer, context) }
      // Whoever is slow with the body holds nobody's place.
      if isPayment { refusal.door.keep(for: ObjectIdentifier(context.channel)) }
    }
    if answer == nil { context.fireChannelRead(data) }
  }

  private func send(_ answer: PlainAnswer, _ context: ChannelHandlerContext) {
    self.answer = nil
    context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
    context.write(wrapOutboundOut(.body(context.channel.allocator.buffer(bytes: answer.body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      underWay -= 1
      refusal.door.release(ObjectIdentifier(context.channel))
    }
    context.write(data, promise: promise)
  }

  func channelInactive(context: ChannelHandlerContext) {
    refusal.door.release(ObjectIdentifier(context.channel))
    context.fireChannelInactive()
  }
}
