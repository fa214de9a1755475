import Gateway
import HTTPServing
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypes
import Synchronization

/// The response to a payment that is above the limit. It is the router's, with the headers of its middlewares.
struct PaymentRefusal: Sendable {
  let admission: PaymentAdmission
  let middlewares: Middlewares
  let logger: Logger

  static func concerns(_ request: HTTPRequest) -> Bool {
    request.method == .post && request.path == CheckoutRoutes.payment
  }

  /// Nil when the router is to answer: a slot is free, it is another call, or its origin is not registered.
  func response(to request: HTTPRequest) -> PlainAnswer? {
    // If the caller wants the connection closed afterwards, the router answers, because it does that.
    guard admission.isFull, Self.concerns(request), request.headerFields[.connection]?.lowercased() != "close"
    else { return nil }
    let page = middlewares.gate.page(of: request.headerFields[.origin])
    if case .unknown = page { return nil }
    let recorder = middlewares.recorder
    return recorder.recording(request.method, CheckoutRoutes.payment, logger) { id in
      var answer = recorder.problems.overloaded(id)
      page.mayRead(&answer.head.headerFields)
      middlewares.securityHeaders.add(to: &answer.head.headerFields)
      return answer
    }
  }
}

/// Answers the payments for which ``PaymentRefusal`` has a response, lets all other requests through, and reserves a
/// slot for each payment among them as soon as its request has arrived whole.
final class PaymentAdmissionHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let refusal: PaymentRefusal
  /// Requests that were let through and have no complete response yet. A refusal must not overtake them.
  private var unanswered = 0
  /// The refusal of the request that is being read, sent at its end.
  private var pendingRefusal: PlainAnswer?
  /// Whether the request that is being read is a payment without a response. One that is answered before its end, as
  /// for a wrong content type, needs no slot any more.
  private var isPaymentWithoutResponse = false

  init(_ refusal: PaymentRefusal) { self.refusal = refusal }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let request): begin(request)
    case .body: break
    case .end:
      if let pendingRefusal { return send(pendingRefusal, context) }
      if isPaymentWithoutResponse { refusal.admission.reserve(for: ObjectIdentifier(context.channel)) }
      isPaymentWithoutResponse = false
    }
    if pendingRefusal == nil { context.fireChannelRead(data) }
  }

  private func begin(_ request: HTTPRequest) {
    pendingRefusal = unanswered == 0 ? refusal.response(to: request) : nil
    isPaymentWithoutResponse = unanswered == 0 && pendingRefusal == nil && PaymentRefusal.concerns(request)
    if pendingRefusal == nil { unanswered += 1 }
  }

  private func send(_ answer: PlainAnswer, _ context: ChannelHandlerContext) {
    pendingRefusal = nil
    context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
    context.write(wrapOutboundOut(.body(context.channel.allocator.buffer(bytes: answer.body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) { finishResponse(context) }
    context.write(data, promise: promise)
  }

  private func finishResponse(_ context: ChannelHandlerContext) {
    unanswered = max(0, unanswered - 1)
    isPaymentWithoutResponse = false
    refusal.admission.cancelReservation(of: ObjectIdentifier(context.channel))
  }

  func channelInactive(context: ChannelHandlerContext) {
    refusal.admission.cancelReservation(of: ObjectIdentifier(context.channel))
    context.fireChannelInactive()
  }
}
