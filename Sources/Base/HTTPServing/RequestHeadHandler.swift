import HTTPTypes
package import NIOCore
import NIOHTTP1
package import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Refuses requests by ``RequestHeadRules`` on the event loop that reads them, before any other handler sees them, and
/// ends the connection: after a malformed head the start of the next request is unknown.
///
/// Requests before it on the connection are answered first.
package final class RequestHeadHandler: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPRequestPart
  package typealias InboundOut = HTTPRequestPart
  package typealias OutboundIn = HTTPResponsePart
  package typealias OutboundOut = HTTPResponsePart

  /// Makes the answer to a refused request.
  ///
  /// - Parameter method: of the request, where the decoder got so far.
  package typealias Refusal = @Sendable (_ problem: RequestHeadProblem, _ method: String?) -> PlainAnswer

  /// How long the client has to read the answer before the connection is closed under it.
  private static let grace = TimeAmount.seconds(1)

  private let refusal: Refusal
  /// Requests that were passed on and whose responses have not ended.
  private var underWay = 0
  /// What is read of a body; nil between two requests.
  private var pieces: BodyPieces?
  /// Nothing more is read on this connection.
  private var isStopped = false
  /// The answer to the refused request.
  private var answer: PlainAnswer?
  private var isEnded = false
  private let framing = FramingHandler()

  package init(_ refusal: @escaping Refusal) { self.refusal = refusal }

  /// Looks at requests before the codec, which passes on no versions. On a channel without one every request counts as HTTP/1.1.
  package func handlerAdded(context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    guard let codec = try? pipeline.handler(type: HTTP1ToHTTPServerCodec.self) else { return }
    do { try pipeline.addHandler(framing, position: .before(codec)) } catch { context.close(promise: nil) }
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isStopped else { return }
    switch unwrapInboundIn(data) {
    case .head(let request):
      if let problem = RequestHeadRules.problem(in: request, framing.version) {
        return refuse(problem, request.method.rawValue, context)
      }
      if underWay == 0, isHeldBack(request) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
      }
      underWay += 1
      pieces = BodyPieces()
    case .body(let piece):
      guard pieces?.add(piece.readableBytes) != false else { return stop(context) }
    case .end:
      pieces = nil
      // No request follows one in HTTP/1.0.
      isStopped = framing.version == .http1_0
    }
    context.fireChannelRead(data)
    endIfIdle(context)
  }

  /// An error in a body is for what reads the body. It gets another type there, because Hummingbird answers the
  /// decoder's errors itself, also where the request has its answer.
  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isStopped else { return }
    guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
    guard pieces == nil else { return stop(context) }
    refuse(RequestHeadRules.problem(for: error), nil, context)
  }

  package func read(context: ChannelHandlerContext) {
    if !isStopped { context.read() }
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) { underWay -= 1 }
    context.write(data, promise: promise)
    endIfIdle(context)
  }

  /// Whether the client sends the body when it is asked, or a second later. HTTP/1.0 has no such answer (RFC 9110,
  /// section 10.1.1).
  private func isHeldBack(_ request: HTTPRequest) -> Bool {
    framing.version != .http1_0
      && request.headerFields[.expect]?.lowercased().utf8.elementsEqual("100-continue".utf8) == true
  }

  private func refuse(_ problem: RequestHeadProblem, _ method: String?, _ context: ChannelHandlerContext) {
    isStopped = true
    answer = refusal(problem, method)
    endIfIdle(context)
  }

  /// What reads the body sees the error and answers.
  private func stop(_ context: ChannelHandlerContext) {
    isStopped = true
    context.fireErrorCaught(MalformedBody())
    endIfIdle(context)
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

/// Frames answers as their requests want them, whoever makes them. An answer to HTTP/1.0 has that version, so that it is in
/// no chunks (RFC 9112, section 7.1). One to HEAD has no body (RFC 9110, section 9.3.2), also where it is a refusal.
private final class FramingHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The version of the request that was read last.
  private(set) var version = HTTPVersion.http1_1
  /// Requests whose answers have not ended.
  private var unanswered = CircularBuffer<(version: HTTPVersion, isHead: Bool)>()

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head(let request) = unwrapInboundIn(data) {
      version = request.version
      unanswered.append((version, request.method == .HEAD))
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var response) where unanswered.first?.version == .http1_0:
      response.version = .http1_0
      return context.write(wrapOutboundOut(.head(response)), promise: promise)
    case .body where unanswered.first?.isHead == true: promise?.succeed()
    case .end:
      _ = unanswered.popFirst()
      context.write(data, promise: promise)
    case .head, .body: context.write(data, promise: promise)
    }
  }
}

/// A body in malformed chunks, in too many of them, or without its end.
private struct MalformedBody: Error {}

/// In how many pieces a body arrives. Each costs about as much as a kilobyte does, so a body of chunks of one byte is
/// the dearest that a client can send.
private struct BodyPieces {
  /// A client that does not collect what it writes sends a payment in a few thousand pieces.
  static let most = 4_096

  private var (count, bytes) = (0, 0)

  /// - Returns: whether the body may go on.
  mutating func add(_ size: Int) -> Bool {
    count += 1
    bytes += size
    return count <= Self.most + bytes / 64
  }
}
