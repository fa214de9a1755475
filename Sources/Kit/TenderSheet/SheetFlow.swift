public import TenderPayments

/// The state machine of one basket's payment sheet, as a value: it maps events to effects.
///
/// The web kit and the app kit behave like it: tests run all three against the transcripts in `Tests/Support/Flows`. It
/// answers every event of the sheet within 30 seconds, never pays twice, and never reports a payment as failed that may
/// have succeeded.
///
/// The caller passes events, carries out the effects in order, and passes `woke` at `wakeAt`.
public struct SheetFlow: Sendable, Hashable {
  var quote: QuoteID?
  var sheet: OpenSheet?
  /// The call for the outcome of a payment whose sheet is closed.
  var recovery: Recovery?
  private var callsMade = 0

  /// A flow without a basket.
  public init() {}

  /// Handles an event and returns the effects in order.
  public mutating func handle(_ event: SheetEvent, at now: Timestamp) -> [SheetEffect] {
    switch event {
    case .prepared(let quote): prepare(quote)
    case .pressed: press()
    case .returned: resume(at: now)
    case .notOpened: end(.failed(.sheetNotOpened))
    case .merchantSessionRequested(let url): requestMerchantSession(url, at: now)
    case .changed(let change): enqueue(change, at: now)
    case .authorized: pay(at: now)
    case .closed: close(at: now)
    case .answered(let id, let answer): receive(answer, to: id, at: now)
    case .woke: wake(at: now)
    }
  }

  /// When to pass `woke` unless an event comes first; nil when nothing is due.
  public var wakeAt: Timestamp? {
    let pending = [sheet?.validation, sheet?.changes.first?.retry, sheet?.payment, sheet?.cancellation]
    let moments = (pending + [recovery?.retry]).map { $0?.wakeAt } + [sheet?.end]
    return moments.compactMap { $0 }.min()
  }

  /// The phase of the flow.
  public var phase: Phase {
    if let sheet { return sheet.payment == nil ? .open : .paying }
    if recovery != nil { return .recovering }
    return quote == nil ? .unprepared : .ready
  }

  /// The phases of a flow.
  public enum Phase: Sendable, Hashable {
    /// No basket; a basket is ready; a sheet is open; a payment is in progress.
    case unprepared, ready, open, paying
    /// The sheet is closed, and it is not known whether the basket was paid.
    case recovering
  }
}

/// The state of an open sheet, or of one that closed while a payment is in progress.
struct OpenSheet: Sendable, Hashable {
  var validation: RetryingCall?
  /// Answered in order, because each price depends on the choice before.
  var changes: [PendingChange] = []
  var payment: RetryingCall?
  /// Whether the payment was sent and not answered.
  var mayHaveArrived = false
  var cancellation: RetryingCall?
  var isClosed = false
  var sessionEnds: Timestamp?

  /// When the merchant session ends; nil once a payment has begun.
  var end: Timestamp? { payment == nil ? sessionEnds : nil }
}

struct PendingChange: Sendable, Hashable {
  let change: SheetChange
  var retry: RetryingCall
}

struct Recovery: Sendable, Hashable {
  var retry: RetryingCall
  /// Whether `outcome_unknown` was reported.
  var isReported: Bool
}

// Before the sheet, and its ends.
extension SheetFlow {
  /// Ignored while a sheet is open.
  private mutating func prepare(_ quote: QuoteID) -> [SheetEffect] {
    guard sheet == nil else { return [] }
    self.quote = quote
    recovery = nil
    return []
  }

  private mutating func press() -> [SheetEffect] {
    guard sheet == nil else { return [] }  // the second of two clicks
    guard quote != nil, recovery == nil else { return [.report(.unavailable(.notPrepared))] }
    sheet = OpenSheet()
    return [.open]
  }

  /// Ends the sheet with a report. Later events of this sheet are ignored.
  mutating func end(_ report: SheetReport) -> [SheetEffect] {
    guard sheet != nil else { return [] }
    sheet = nil
    quote = nil
    return [.report(report)]
  }

  /// Closes a sheet that cannot be answered.
  mutating func abort(_ code: String) -> [SheetEffect] {
    [.abort] + end(.failed(code: code))
  }

  /// If no payment was sent, the basket is unchanged and may be paid later. Otherwise the server decides whether the
  /// cancellation is in time.
  private mutating func close(at now: Timestamp) -> [SheetEffect] {
    guard let sheet, !sheet.isClosed else { return [] }
    guard sheet.payment != nil else { return end(.cancelled) }
    self.sheet?.isClosed = true
    return ask(\.cancellation, .cancel, at: now)
  }
}

// Calls.
extension SheetFlow {
  mutating func nextCall() -> CallID {
    callsMade += 1
    return CallID(number: callsMade)
  }

  mutating func ask(
    _ place: WritableKeyPath<OpenSheet, RetryingCall?>, _ call: SheetCall, at now: Timestamp
  ) -> [SheetEffect] {
    var retry = RetryingCall(call, until: now.adding(SheetLimits.answer))
    let effect = retry.ask(nextCall(), at: now)
    sheet?[keyPath: place] = retry
    return [effect]
  }

  private mutating func receive(_ answer: ServerAnswer, to id: CallID, at now: Timestamp) -> [SheetEffect] {
    if sheet?.validation?.id == id { return receiveSession(answer, at: now) }
    if sheet?.changes.first?.retry.id == id { return receiveUpdate(answer, at: now) }
    if sheet?.payment?.id == id { return receivePayment(answer, at: now) }
    if sheet?.cancellation?.id == id { return receiveCancellation(answer, at: now) }
    if recovery?.retry.id == id { return receiveOutcome(answer, at: now) }
    return []  // an answer for an ended sheet
  }

  /// Handles the first due call; `wakeAt` stays due for the others.
  private mutating func wake(at now: Timestamp) -> [SheetEffect] {
    if let sheet, let end = sheet.end, end <= now { return abort(SheetReport.Code.sessionExpired.rawValue) }
    if let due = due(\.validation, now) { return due ? receiveSession(.lost, at: now) : askAgain(\.validation, now) }
    if let first = sheet?.changes.first?.retry, first.wakeAt <= now {
      return first.nextCall == nil ? receiveUpdate(.lost, at: now) : askFirstChange(at: now)
    }
    if let due = due(\.payment, now) { return due ? receivePayment(.lost, at: now) : askAgain(\.payment, now) }
    if let due = due(\.cancellation, now) {
      return due ? receiveCancellation(.lost, at: now) : askAgain(\.cancellation, now)
    }
    if let retry = recovery?.retry, retry.wakeAt <= now {
      return retry.nextCall == nil ? receiveOutcome(.lost, at: now) : askForOutcome(at: now)
    }
    return []
  }

  /// Nil: not due. True: its time limit has passed. False: its pause has ended.
  private func due(_ place: KeyPath<OpenSheet, RetryingCall?>, _ now: Timestamp) -> Bool? {
    guard let retry = sheet?[keyPath: place], retry.wakeAt <= now else { return nil }
    return retry.nextCall == nil
  }

  private mutating func askAgain(
    _ place: WritableKeyPath<OpenSheet, RetryingCall?>, _ now: Timestamp
  ) -> [SheetEffect] {
    let id = nextCall()
    guard let effect = sheet?[keyPath: place]?.ask(id, at: now) else { return [] }
    return [effect]
  }
}
