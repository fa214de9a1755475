import TenderPayments

// The sheet before authorization: its merchant session and the price of each change.
extension SheetFlow {
  mutating func requestMerchantSession(_ url: String?, at now: Timestamp) -> [SheetEffect] {
    guard sheet?.isClosed == false else { return [] }
    return ask(\.validation, .merchantSession(validationURL: url), at: now)
  }

  mutating func receiveSession(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    if case .merchantSession = answer {
      sheet?.validation = nil
      sheet?.sessionEnds = now.adding(SheetLimits.merchantSession)
      return [.giveMerchantSession]
    }
    if answer.isPassing, sheet?.validation?.rest(at: now) == true { return [] }
    return abort(answer.failureCode)
  }

  mutating func enqueue(_ change: SheetChange, at now: Timestamp) -> [SheetEffect] {
    guard sheet?.isClosed == false else { return [] }
    let retry = RetryingCall(.update(change), until: now.adding(SheetLimits.answer))
    sheet?.changes.append(PendingChange(change: change, retry: retry))
    return sheet?.changes.count == 1 ? askFirstChange(at: now) : []
  }

  /// The newest quote is the one to pay. If the server does not confirm a new total, the sheet closes: it must not show
  /// an unconfirmed total or pay an outdated one.
  mutating func receiveUpdate(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    if case .update(let update, let quote) = answer, let done = sheet?.changes.removeFirst() {
      self.quote = quote
      return [.update(done.change.moment, update)] + askFirstChange(at: now)
    }
    if answer.isPassing, sheet?.changes[0].retry.rest(at: now) == true { return [] }
    return abort(answer.failureCode)
  }

  mutating func askFirstChange(at now: Timestamp) -> [SheetEffect] {
    guard sheet?.changes.isEmpty == false else { return [] }
    let id = nextCall()
    guard let effect = sheet?.changes[0].retry.ask(id, at: now) else { return [] }
    return [effect]
  }
}
