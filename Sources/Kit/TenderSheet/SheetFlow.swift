public import TenderPayments

/// One basket's way through the payment sheet, as a value: events in, effects out.
///
/// The web kit and the app kit behave like this machine; `Tests/Support/Flows` holds all three to the same transcripts. It
/// answers every event of the sheet within its 30 seconds, never pays twice, and never calls a payment failed that may
/// have succeeded.
///
/// Whoever drives it hands in what happens, carries out the effects in their order, and hands in `woke` at `wakeAt`.
public struct SheetFlow: Sendable, Hashable {
  var quote: QuoteID?
  var sheet: OpenSheet?
  /// Asks what became of a payment whose sheet is gone.
  var recovery: Recovery?
  private var callsMade = 0

  /// A flow that has nothing to pay yet.
  public init() {}

  /// Takes in what happened, and tells what to do about it, in this order.
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

  /// When to hand in `woke`, if nothing happens before. Nil: there is nothing to wait for.
  public var wakeAt: Timestamp? {
    let errands = [sheet?.validation, sheet?.changes.first?.errand, sheet?.payment, sheet?.cancellation]
    let moments = (errands + [recovery?.errand]).map { $0?.wakeAt } + [sheet?.end]
    return moments.compactMap { $0 }.min()
  }

  /// Where the flow stands.
  public var phase: Phase {
    if let sheet { return sheet.payment == nil ? .open : .paying }
    if recovery != nil { return .recovering }
    return quote == nil ? .unprepared : .ready
  }

  /// Where a flow stands.
  public enum Phase: Sendable, Hashable {
    /// Nothing to pay; a basket to pay; a sheet on the screen; a payment on its way.
    case unprepared, ready, open, paying
    /// The sheet is gone, and it is not known whether the basket was paid.
    case recovering
  }
}

/// What is known of a sheet that is open, or that closed with a payment on its way.
struct OpenSheet: Sendable, Hashable {
  var validation: Errand?
  /// Answered one after the other, because each price rests on the choice before.
  var changes: [PendingChange] = []
  var payment: Errand?
  /// Whether the payment was sent without an answer.
  var mayHaveArrived = false
  var cancellation: Errand?
  var isClosed = false
  var sessionEnds: Timestamp?

  /// When the sheet can no longer be paid. A payment that has begun is no longer the session's matter.
  var end: Timestamp? { payment == nil ? sessionEnds : nil }
}

struct PendingChange: Sendable, Hashable {
  let change: SheetChange
  var errand: Errand
}

struct Recovery: Sendable, Hashable {
  var errand: Errand
  /// Whether `outcome_unknown` was told.
  var isTold: Bool
}

// Before the sheet, and its ends.
extension SheetFlow {
  /// What is prepared while a sheet is open waits for the next one.
  private mutating func prepare(_ quote: QuoteID) -> [SheetEffect] {
    guard sheet == nil else { return [] }
    self.quote = quote
    recovery = nil
    return []
  }

  private mutating func press() -> [SheetEffect] {
    guard sheet == nil else { return [] }  // the second of two clicks
    guard quote != nil, recovery == nil else { return [.tell(.unavailable(.notPrepared))] }
    sheet = OpenSheet()
    return [.open]
  }

  /// The one way out: nothing that happens later to this sheet is told any more.
  mutating func end(_ news: SheetNews) -> [SheetEffect] {
    guard sheet != nil else { return [] }
    sheet = nil
    quote = nil
    return [.tell(news)]
  }

  /// For a sheet that waits for something it will not get.
  mutating func abort(_ code: String) -> [SheetEffect] {
    [.abort] + end(.failed(code: code))
  }

  /// Before anything was sent, the basket stays as it is and may be paid later. After that, whether closing came in
  /// time is the server's to say.
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
    _ place: WritableKeyPath<OpenSheet, Errand?>, _ call: SheetCall, at now: Timestamp
  ) -> [SheetEffect] {
    var errand = Errand(call, until: now.adding(SheetLimits.answer))
    let effect = errand.ask(nextCall(), at: now)
    sheet?[keyPath: place] = errand
    return [effect]
  }

  private mutating func receive(_ answer: ServerAnswer, to id: CallID, at now: Timestamp) -> [SheetEffect] {
    if sheet?.validation?.id == id { return validated(answer, at: now) }
    if sheet?.changes.first?.errand.id == id { return updated(answer, at: now) }
    if sheet?.payment?.id == id { return paid(answer, at: now) }
    if sheet?.cancellation?.id == id { return cancelled(answer, at: now) }
    if recovery?.errand.id == id { return recovered(answer, at: now) }
    return []  // of a sheet that is over
  }

  /// Looks at the first thing whose time has come; the others keep `wakeAt` at now, and are looked at next.
  private mutating func wake(at now: Timestamp) -> [SheetEffect] {
    if let sheet, let end = sheet.end, end <= now { return abort(SheetNews.Code.sessionExpired.rawValue) }
    if let due = due(\.validation, now) { return due ? validated(.lost, at: now) : askAgain(\.validation, now) }
    if let first = sheet?.changes.first?.errand, first.wakeAt <= now {
      return first.nextCall == nil ? updated(.lost, at: now) : askFirstChange(at: now)
    }
    if let due = due(\.payment, now) { return due ? paid(.lost, at: now) : askAgain(\.payment, now) }
    if let due = due(\.cancellation, now) { return due ? cancelled(.lost, at: now) : askAgain(\.cancellation, now) }
    if let errand = recovery?.errand, errand.wakeAt <= now {
      return errand.nextCall == nil ? recovered(.lost, at: now) : askForOutcome(at: now)
    }
    return []
  }

  /// Nil: not yet. True: its time is up. False: it has rested.
  private func due(_ place: KeyPath<OpenSheet, Errand?>, _ now: Timestamp) -> Bool? {
    guard let errand = sheet?[keyPath: place], errand.wakeAt <= now else { return nil }
    return errand.nextCall == nil
  }

  private mutating func askAgain(
    _ place: WritableKeyPath<OpenSheet, Errand?>, _ now: Timestamp
  ) -> [SheetEffect] {
    let id = nextCall()
    guard let effect = sheet?[keyPath: place]?.ask(id, at: now) else { return [] }
    return [effect]
  }
}
