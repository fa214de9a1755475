import TenderPayments

// The sheet before the shopper agrees: its merchant session, and what each choice costs.
extension SheetFlow {
  mutating func requestMerchantSession(_ url: String?, at now: Timestamp) -> [SheetEffect] {
    guard sheet?.isClosed == false else { return [] }
    return ask(\.validation, .merchantSession(validationURL: url), at: now)
  }

  mutating func validated(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    if case .merchantSession = answer {
      sheet?.validation = nil
      sheet?.sessionEnds = now.adding(SheetLimits.merchantSession)
      return [.giveMerchantSession]
    }
    if answer.isPassing, sheet?.validation?.rest(at: now) == true { return [] }
    return abort(answer.complaint)
  }

  mutating func enqueue(_ change: SheetChange, at now: Timestamp) -> [SheetEffect] {
    guard sheet?.isClosed == false else { return [] }
    let errand = Errand(.update(change), until: now.adding(SheetLimits.answer))
    sheet?.changes.append(PendingChange(change: change, errand: errand))
    return sheet?.changes.count == 1 ? askFirstChange(at: now) : []
  }

  /// The newest quote is the one to pay. A total that the server did not confirm is never shown, nor an old one paid
  /// with a new choice: rather no sheet.
  mutating func updated(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    if case .update(let update, let quote) = answer, let done = sheet?.changes.removeFirst() {
      self.quote = quote
      return [.update(done.change.moment, update)] + askFirstChange(at: now)
    }
    if answer.isPassing, sheet?.changes[0].errand.rest(at: now) == true { return [] }
    return abort(answer.complaint)
  }

  mutating func askFirstChange(at now: Timestamp) -> [SheetEffect] {
    guard sheet?.changes.isEmpty == false else { return [] }
    let id = nextCall()
    guard let effect = sheet?.changes[0].errand.ask(id, at: now) else { return [] }
    return [effect]
  }
}
