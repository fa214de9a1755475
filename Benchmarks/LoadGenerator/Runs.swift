import NIOCore

/// What both kinds of run share: starting a request, writing down its answer, ending. On one event loop alone.
class Run: @unchecked Sendable {
  let lines: Lines
  let requests: [ByteBuffer]
  private let promise: EventLoopPromise<LoadReport>
  private let began = NIODeadline.now()
  private var report = LoadReport()
  private(set) var next = 0
  private var underWay = 0
  private var isOver = false

  init(_ lines: Lines, _ requests: [ByteBuffer]) {
    (self.lines, self.requests) = (lines, requests)
    promise = lines.loop.makePromise()
  }

  var now: Duration { .nanoseconds((NIODeadline.now() - began).nanoseconds) }

  func deadline(_ offset: Duration) -> NIODeadline { began + .nanoseconds(Int64(offset.seconds * 1e9)) }

  /// - Parameter limit: what has no answer then never gets one.
  func result(within limit: Duration) -> EventLoopFuture<LoadReport> {
    lines.loop.scheduleTask(deadline: deadline(limit)) { self.end() }
    return promise.futureResult
  }

  func begin(due: Duration) {
    let request = next
    next += 1
    underWay += 1
    lines.send(requests[request]) { message in self.note(message, request, due) }
  }

  private func note(_ message: HTTPMessage?, _ request: Int, _ due: Duration) {
    guard !isOver else { return }
    underWay -= 1
    report.elapsed = now
    if let message {
      report.answers.append(
        .init(
          request: request, status: message.status, hasRetryAfter: message.hasRetryAfter,
          microseconds: Int64((now - due).seconds * 1e6)))
    } else {
      report.drops += 1
    }
    oneIsDone()
  }

  /// For the kinds of run to go on from.
  func oneIsDone() {}

  func endWhenDone() { if underWay == 0 { end() } }

  private func end() {
    guard !isOver else { return }
    isOver = true
    report.drops += underWay
    promise.succeed(report)
  }
}

final class OpenRun: Run, @unchecked Sendable {
  private let due: [Duration]

  init(_ lines: Lines, _ requests: [ByteBuffer], _ schedule: Schedule) {
    due = Array(schedule.offsets.prefix(requests.count))
    super.init(lines, requests)
  }

  func start(until limit: Duration) -> EventLoopFuture<LoadReport> {
    let result = result(within: limit)
    sendWhatIsDue()
    return result
  }

  private func sendWhatIsDue() {
    while next < due.count, due[next] <= now { begin(due: due[next]) }
    guard next < due.count else { return endWhenDone() }
    lines.loop.scheduleTask(deadline: deadline(due[next])) { self.sendWhatIsDue() }
  }

  override func oneIsDone() { if next == due.count { endWhenDone() } }
}

final class ClosedRun: Run, @unchecked Sendable {
  private let length: Duration

  init(_ lines: Lines, _ requests: [ByteBuffer], _ length: Duration) {
    self.length = length
    super.init(lines, requests)
  }

  func start(width: Int, until limit: Duration) -> EventLoopFuture<LoadReport> {
    let result = result(within: limit)
    for _ in 0..<min(width, requests.count) { begin(due: now) }
    return result
  }

  override func oneIsDone() {
    guard next < requests.count, now < length else { return endWhenDone() }
    begin(due: now)
  }
}
