import TenderPayments

/// A call to the server that is repeated until it is answered or its time limit passes.
struct RetryingCall: Sendable, Hashable {
  var call: SheetCall
  let until: Timestamp
  /// Nil between two attempts and before the first.
  private(set) var id: CallID?
  private(set) var nextCall: Timestamp?
  private var pause: Duration

  init(_ call: SheetCall, until: Timestamp, pause: Duration = SheetLimits.firstPause) {
    self.call = call
    self.until = until
    self.pause = pause
  }

  /// When the flow must check it again.
  var wakeAt: Timestamp { nextCall ?? until }

  mutating func ask(_ id: CallID, at now: Timestamp) -> SheetEffect {
    self.id = id
    nextCall = nil
    return .ask(id, call, within: min(call.timeout, until.since(now)))
  }

  /// Pauses before the next attempt. Returns false when no time is left for one.
  mutating func rest(at now: Timestamp) -> Bool {
    let next = now.adding(pause)
    guard next < until else { return false }
    id = nil
    nextCall = next
    pause = min(pause * 2, SheetLimits.longestPause)
    return true
  }
}

extension SheetCall {
  fileprivate var timeout: Duration {
    if case .pay = self { SheetLimits.payment } else { SheetLimits.call }
  }
}
