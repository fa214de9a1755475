import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import TenderPayments

/// Makes the answers to requests whose head is refused: counted and logged as every call, without a route.
struct RequestHeadRefusal: Sendable {
  let recorder: CallRecorder
  let securityHeaders: SecurityHeaders
  let logger: Logger

  /// - Parameter method: of the request, where the decoder got so far.
  func answer(_ problem: Problem, to method: String?) -> PlainAnswer {
    let id = recorder.random.hex(12)
    recorder.metrics.refusals.count(["code": problem.code])
    var logger = logger
    logger[metadataKey: "requestId"] = .string(id)
    recorder.record(method ?? "unknown", "unmatched", problem.status, since: .now, logger)
    var answer = problem.answer(requestID: id)
    answer.head.headerFields[.requestID] = id
    answer.head.headerFields[.connection] = "close"
    securityHeaders.add(to: &answer.head.headerFields)
    return answer
  }
}

/// Refuses requests by ``RequestHeadRules`` on the event loop that reads them, before any other handler sees them, and
/// ends the connection: after a malformed head the start of the next request is unknown.
///
/// Requests before it on the connection are answered first.
final class RequestHeadHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// How long the client has to read the answer before the connection is closed under it.
  private static let grace = TimeAmount.seconds(1)

  private let refusal: RequestHeadRefusal
  /// Requests that were passed on and whose responses have not ended.
  private var underWay = 0
  /// Of the body that is being read; nil between two requests.
  private var pieces: BodyPieces?
  /// Nothing more is read on this connection.
  private var isStopped = false
  /// The answer to the refused request.
  private var answer: PlainAnswer?
  private var isEnded = false

  init(_ refusal: RequestHeadRefusal) { self.refusal = refusal }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isStopped else { return }
    switch unwrapInboundIn(data) {
    case .head(let request):
      if let problem = RequestHeadRules.problem(in: request) {
        return refuse(problem, request.method.rawValue, context)
      }
      underWay += 1
      pieces = BodyPieces()
    case .body(let piece):
      guard pieces?.add(piece.readableBytes) != false else { return stop(BodyPieces.TooMany(), context) }
    case .end: pieces = nil
    }
    context.fireChannelRead(data)
  }

  /// An error in a body is for the handler that reads the body.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isStopped else { return }
    guard let error = error as? HTTPParserError, pieces == nil else { return context.fireErrorCaught(error) }
    refuse(RequestHeadRules.problem(for: error), nil, context)
  }

  func read(context: ChannelHandlerContext) {
    if !isStopped { context.read() }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) { underWay -= 1 }
    context.write(data, promise: promise)
    endIfIdle(context)
  }

  private func refuse(_ problem: Problem, _ method: String?, _ context: ChannelHandlerContext) {
    isStopped = true
    answer = refusal.answer(problem, to: method)
    endIfIdle(context)
  }

  /// The handler that reads the body sees the error and answers.
  private func stop(_ error: any Error, _ context: ChannelHandlerContext) {
    isStopped = true
    context.fireErrorCaught(error)
  }

  private func endIfIdle(_ context: ChannelHandlerContext) {
    guard isStopped, underWay == 0, !isEnded else { return }
    isEnded = true
    if let answer { write(answer, context) }
    close(context)
  }

  private func write(_ answer: PlainAnswer, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
    context.write(wrapOutboundOut(.body(context.channel.allocator.buffer(bytes: answer.body))), promise: nil)
    context.write(wrapOutboundOut(.end(nil)), promise: nil)
  }

  /// Closes in two steps: an answer is lost when a connection is closed while there is something to read on it.
  private func close(_ context: ChannelHandlerContext) {
    context.flush()
    context.close(mode: .output, promise: nil)
    let channel = context.channel
    context.eventLoop.scheduleTask(in: Self.grace) { channel.close(promise: nil) }
  }
}

/// In how many pieces a body arrives. Each costs about as much as a kilobyte does, so a body of chunks of one byte is
/// the dearest that a client can send.
private struct BodyPieces {
  /// A client that does not collect what it writes sends a payment in a few thousand pieces.
  static let most = 4_096

  struct TooMany: Error {}

  private var (count, bytes) = (0, 0)

  /// - Returns: whether the body may go on.
  mutating func add(_ size: Int) -> Bool {
    count += 1
    bytes += size
    return count <= Self.most + bytes / 64
  }
}
