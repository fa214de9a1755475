import HTTPTypes
package import NIOCore
package import NIOHTTPTypes
package import Settings

/// Closes a connection that is late, and one that is idle when the limit of connections needs its place.
///
/// The time that the server itself takes for a response is not limited here: each use case has a deadline of its own.
///
/// When the server is about to end, each response says that it is the connection's last one.
package final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPRequestPart
  package typealias InboundOut = HTTPRequestPart
  package typealias OutboundIn = HTTPResponsePart
  package typealias OutboundOut = HTTPResponsePart

  private let limit: ConnectionLimit
  private let times: ConnectionTimes
  private let draining: Draining
  private let onLate: @Sendable (Lateness) -> Void
  private var connection: ConnectionLimit.Connection?
  /// Requests whose headers have arrived and that have no complete response.
  private var unanswered = 0
  private var isReceiving = false
  /// Whether a request's headers have arrived, the first one's at least.
  private var hasReceived = false
  /// Whether the response that is being written is announced as the last one.
  private var closesAfterResponse = false
  /// When callers may keep the connection no longer, set once the listener has ended. The server's own work does not count.
  private var last: NIODeadline?
  /// Whether no further request is taken.
  private var isDeaf = false
  private var arrival: (deadline: NIODeadline, lateness: Lateness)?
  private var reading: NIODeadline?
  private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?

  /// What a connection was late with.
  package enum Lateness: String, Sendable { case header, body, idle, unread }

  package init(
    _ limit: ConnectionLimit, _ times: ConnectionTimes = ConnectionTimes(), draining: Draining = Draining(),
    onLate: @escaping @Sendable (Lateness) -> Void = { _ in }
  ) {
    (self.limit, self.times, self.draining, self.onLate) = (limit, times, draining, onLate)
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    let this = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    connection = limit.add { loop.execute { this.value.handler.closeIfIdle(this.value.context) } }
    expect(.header, within: times.headerSeconds, context)
  }

  package func handlerRemoved(context: ChannelHandlerContext) { end() }

  package func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head where isDeaf || last.map { $0 <= context.eventLoop.now } ?? false:
      isDeaf = true
      if unanswered == 0 { context.close(promise: nil) }
      return
    case .body where isDeaf, .end where isDeaf: return
    case .head:
      unanswered += 1
      (isReceiving, hasReceived) = (true, true)
      expect(.body, within: times.bodySeconds, context)
    case .body: break
    case .end:
      isReceiving = false
      arrival = nil
      if unanswered == 0 { expect(.idle, within: times.idleSeconds, context) }
    }
    noteBusy()
    context.fireChannelRead(data)
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head) where draining.isUnderWay:
      return context.write(wrapOutboundOut(.head(announced(head))), promise: promise)
    case .head, .body: return context.write(data, promise: promise)
    case .end: break
    }
    unanswered = max(0, unanswered - 1)
    noteBusy()
    guard isIdle else { return context.write(data, promise: promise) }
    expect(.idle, within: times.idleSeconds, context)
    guard limit.wantsRoom || closesAfterResponse else { return context.write(data, promise: promise) }
    context.writeAndFlush(data, promise: promise)
    context.close(promise: nil)
  }

  /// With `Connection: close`, where no other request of the connection waits.
  private func announced(_ head: HTTPResponse) -> HTTPResponse {
    closesAfterResponse = unanswered == 1 && !isReceiving && head.status.kind != .informational
    guard closesAfterResponse else { return head }
    var head = head
    head.headerFields[.connection] = "close"
    return head
  }

  /// The listener ends. A connection that was accepted and has sent nothing yet gets an answer to its first request, if it
  /// comes soon. Who is slow with a body, or reads no answer, keeps no others waiting for the next server.
  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is ChannelShouldQuiesceEvent, draining.isUnderWay else {
      return context.fireUserInboundEventTriggered(event)
    }
    last = context.eventLoop.now + .seconds(Self.lastSeconds)
    guard hasReceived else { return expect(.header, within: min(times.headerSeconds, Self.lastHeader), context) }
    if isReceiving { expect(.body, within: times.bodySeconds, context) }
    if reading != nil { limitReading(context) }
    context.fireUserInboundEventTriggered(event)
  }

  private static let (lastHeader, lastSeconds) = (2, Int64(5))

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    reading = nil
    if !context.channel.isWritable { limitReading(context) }
    noteBusy()
    context.fireChannelWritabilityChanged()
  }

  private func limitReading(_ context: ChannelHandlerContext) {
    let end = context.eventLoop.now + .seconds(Int64(times.unreadSeconds))
    reading = min(end, reading ?? end, last ?? end)
    schedule(context)
  }

  private var isIdle: Bool { unanswered == 0 && !isReceiving }

  /// A connection whose caller sends no request or reads no response can be closed when its place is needed.
  private var isBusy: Bool { unanswered > 0 && !isReceiving && reading == nil }

  private func noteBusy() { connection?.setBusy(isBusy) }

  private func closeIfIdle(_ context: ChannelHandlerContext) {
    guard let connection else { return }
    guard !isBusy else { return limit.keep(connection) }
    context.close(promise: nil)
  }

  private func end() {
    timer?.task.cancel()
    timer = nil
    connection.map(limit.remove)
    connection = nil
  }
}

extension ConnectionHandler {
  private func expect(_ lateness: Lateness, within seconds: Int, _ context: ChannelHandlerContext) {
    let end = context.eventLoop.now + .seconds(Int64(seconds))
    arrival = (min(end, last ?? end), lateness)
    schedule(context)
  }

  private var next: (deadline: NIODeadline, lateness: Lateness)? {
    [arrival, reading.map { ($0, .unread) }].compactMap { $0 }.min { $0.deadline < $1.deadline }
  }

  /// Keeps one timer that fires no later than the next deadline. It is left alone when the deadline moves away: most
  /// requests set and cancel none.
  private func schedule(_ context: ChannelHandlerContext) {
    guard let next, timer.map({ next.deadline < $0.deadline }) ?? true else { return }
    timer?.task.cancel()
    let this = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    let task = context.eventLoop.scheduleTask(deadline: next.deadline) {
      this.value.handler.fire(this.value.context)
    }
    timer = (task, next.deadline)
  }

  private func fire(_ context: ChannelHandlerContext) {
    timer = nil
    guard let next else { return }
    guard next.deadline <= context.eventLoop.now else { return schedule(context) }
    onLate(next.lateness)
    context.close(promise: nil)
  }
}
