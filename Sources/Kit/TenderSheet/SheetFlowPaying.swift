import TenderPayments

// The payment: sent, and then stayed with until its outcome is known or the sheet's time is up.
extension SheetFlow {
  mutating func pay(at now: Timestamp) -> [SheetEffect] {
    guard let sheet, !sheet.isClosed, sheet.payment == nil, let quote else { return [] }
    self.sheet?.mayHaveArrived = false
    return ask(\.payment, .pay(quote), at: now)
  }

  /// Once a payment may have arrived, it is asked about before it is sent again.
  mutating func paid(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    guard let call = sheet?.payment?.call, let quote else { return [] }
    switch Verdict(answer, to: call) {
    case .stands(let status):
      return showing(.success) + end(.authorized(status))
    case .refused(let code, let errors):
      return refuse(code, errors)
    case .absent:
      return stay(.pay(quote), because: answer.complaint, at: now)
    case .open:
      sheet?.mayHaveArrived = true
      return stay(.outcome, because: answer.complaint, at: now)
    }
  }

  private mutating func stay(_ call: SheetCall, because code: String, at now: Timestamp) -> [SheetEffect] {
    sheet?.payment?.call = call
    if sheet?.payment?.rest(at: now) == true { return [] }
    if sheet?.mayHaveArrived == false { return refuse(code, []) }
    let effects = showing(.failure([])) + end(.failed(.outcomeUnknown))
    rememberUnknown(at: now)
    return effects
  }

  /// With errors to correct, the sheet stays open for another attempt.
  private mutating func refuse(_ code: String, _ errors: [SheetError]) -> [SheetEffect] {
    guard let sheet else { return [] }
    if sheet.isClosed { return end(code == "basket_cancelled" ? .cancelled : .failed(code: code)) }
    guard errors.isEmpty else {
      self.sheet?.payment = nil
      return [.completePayment(.failure(errors))]
    }
    return showing(.failure([])) + end(.failed(code: code))
  }

  private func showing(_ completion: PaymentCompletion) -> [SheetEffect] {
    sheet?.isClosed == false ? [.completePayment(completion)] : []
  }

  /// Too late to cancel: the payment goes on, and its outcome is told.
  mutating func cancelled(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    if case .cancelled = answer { return end(.cancelled) }
    if answer.isPassing, sheet?.cancellation?.rest(at: now) == true { return [] }
    sheet?.cancellation = nil
    return []
  }
}

// The outcome of a payment whose sheet is gone.
extension SheetFlow {
  /// After a reload, the back button, or the app's end: the server knows what became of it.
  mutating func resume(at now: Timestamp) -> [SheetEffect] {
    guard sheet == nil else { return [] }
    quote = nil
    recovery = Recovery(errand: Self.recoveryErrand(at: now), isTold: false)
    return askForOutcome(at: now)
  }

  private mutating func rememberUnknown(at now: Timestamp) {
    var errand = Self.recoveryErrand(at: now)
    guard errand.rest(at: now) else { return }
    recovery = Recovery(errand: errand, isTold: true)
  }

  private static func recoveryErrand(at now: Timestamp) -> Errand {
    Errand(.outcome, until: now.adding(SheetLimits.recovery), pause: SheetLimits.longestPause)
  }

  mutating func askForOutcome(at now: Timestamp) -> [SheetEffect] {
    let id = nextCall()
    guard let effect = recovery?.errand.ask(id, at: now) else { return [] }
    return [effect]
  }

  mutating func recovered(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    let isTold = recovery?.isTold == true
    switch Verdict(answer, to: .outcome) {
    case .stands(let status):
      return found(.authorized(status))
    case .refused(let code, _):
      return found(.failed(code: code))
    case .absent where !isTold:
      return found(.failed(code: answer.complaint))  // nothing is on its way that could still arrive
    case .absent, .open:
      recovery?.isTold = true
      if recovery?.errand.rest(at: now) != true { recovery = nil }
      return isTold ? [] : [.tell(.failed(.outcomeUnknown))]
    }
  }

  private mutating func found(_ news: SheetNews) -> [SheetEffect] {
    recovery = nil
    return [.tell(news)]
  }
}

/// What an answer says of the payment.
private enum Verdict {
  case stands(PaymentStatus)
  case refused(code: String, errors: [SheetError])
  /// The server has not got it, and it is safe to send it again.
  case absent
  /// Nobody knows yet.
  case open

  init(_ answer: ServerAnswer, to call: SheetCall) {
    switch answer {
    case .payment(.authorizing), .payment(.unknown): self = .open
    case .payment(let status): self = status.isLive ? .stands(status) : .refused(code: status.rawValue, errors: [])
    case .refused(let refusal): self = Verdict(refusal, to: call)
    default: self = .open
    }
  }

  /// Of the answers 5xx only one says that nothing happened.
  private init(_ refusal: SheetRefusal, to call: SheetCall) {
    switch (refusal.code, refusal.status) {
    case ("payment_not_found", _): self = .absent
    case (_, 429): self = call == .outcome ? .open : .absent  // too many calls: it was not even looked at
    case ("payment_in_progress", _): self = .open
    case ("acquirer_unreachable", _): self = .refused(code: refusal.code, errors: refusal.errors)
    case (_, 500...): self = .open
    default: self = .refused(code: refusal.code, errors: refusal.errors)
    }
  }
}
