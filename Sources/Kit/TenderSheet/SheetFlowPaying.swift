import TenderPayments

// The payment: sent, and followed until its outcome is known or the sheet's time limit passes.
extension SheetFlow {
  mutating func pay(at now: Timestamp) -> [SheetEffect] {
    guard let sheet, !sheet.isClosed, sheet.payment == nil, let quote else { return [] }
    self.sheet?.mayHaveArrived = false
    return ask(\.payment, .pay(quote), at: now)
  }

  /// If the payment may have arrived, asks for its outcome before sending it again.
  mutating func receivePayment(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    guard let call = sheet?.payment?.call, let quote else { return [] }
    switch Verdict(answer, to: call) {
    case .stands(let status):
      return showing(.success) + end(.authorized(status))
    case .refused(let code, let errors):
      return refuse(code, errors)
    case .absent:
      return stay(.pay(quote), because: answer.failureCode, at: now)
    case .open:
      sheet?.mayHaveArrived = true
      return stay(.outcome, because: answer.failureCode, at: now)
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

  /// Reports a refusal. With errors to correct, the sheet stays open for another attempt.
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

  /// Handles the answer to a cancellation. If it is too late, the payment continues and its outcome is reported.
  mutating func receiveCancellation(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    if case .cancelled = answer { return end(.cancelled) }
    if answer.isPassing, sheet?.cancellation?.rest(at: now) == true { return [] }
    sheet?.cancellation = nil
    return []
  }
}

// The outcome of a payment whose sheet is closed.
extension SheetFlow {
  /// Asks the server for the outcome after a reload, the back button or a restart of the app.
  mutating func resume(at now: Timestamp) -> [SheetEffect] {
    guard sheet == nil else { return [] }
    quote = nil
    recovery = Recovery(retry: Self.recoveryCall(at: now), isReported: false)
    return askForOutcome(at: now)
  }

  private mutating func rememberUnknown(at now: Timestamp) {
    var retry = Self.recoveryCall(at: now)
    guard retry.rest(at: now) else { return }
    recovery = Recovery(retry: retry, isReported: true)
  }

  private static func recoveryCall(at now: Timestamp) -> RetryingCall {
    RetryingCall(.outcome, until: now.adding(SheetLimits.recovery), pause: SheetLimits.longestPause)
  }

  mutating func askForOutcome(at now: Timestamp) -> [SheetEffect] {
    let id = nextCall()
    guard let effect = recovery?.retry.ask(id, at: now) else { return [] }
    return [effect]
  }

  mutating func receiveOutcome(_ answer: ServerAnswer, at now: Timestamp) -> [SheetEffect] {
    let isReported = recovery?.isReported == true
    switch Verdict(answer, to: .outcome) {
    case .stands(let status):
      return endRecovery(.authorized(status))
    case .refused(let code, _):
      return endRecovery(.failed(code: code))
    case .absent where !isReported:
      return endRecovery(.failed(code: answer.failureCode))  // no payment can still arrive
    case .absent, .open:
      recovery?.isReported = true
      if recovery?.retry.rest(at: now) != true { recovery = nil }
      return isReported ? [] : [.report(.failed(.outcomeUnknown))]
    }
  }

  private mutating func endRecovery(_ report: SheetReport) -> [SheetEffect] {
    recovery = nil
    return [.report(report)]
  }
}

/// What an answer means for the payment.
private enum Verdict {
  case stands(PaymentStatus)
  case refused(code: String, errors: [SheetError])
  /// The server does not have it, so it can be sent again safely.
  case absent
  /// The outcome is not known yet.
  case open

  init(_ answer: ServerAnswer, to call: SheetCall) {
    switch answer {
    case .payment(.authorizing), .payment(.unknown): self = .open
    case .payment(let status): self = status.isLive ? .stands(status) : .refused(code: status.rawValue, errors: [])
    case .refused(let refusal): self = Verdict(refusal, to: call)
    default: self = .open
    }
  }

  /// Only one 5xx answer means that nothing happened.
  private init(_ refusal: SheetRefusal, to call: SheetCall) {
    switch (refusal.code, refusal.status) {
    case ("payment_not_found", _): self = .absent
    case (_, 429): self = call == .outcome ? .open : .absent  // too many calls: the server did not process it
    case ("payment_in_progress", _): self = .open
    case ("acquirer_unreachable", _): self = .refused(code: refusal.code, errors: refusal.errors)
    case (_, 500...): self = .open
    default: self = .refused(code: refusal.code, errors: refusal.errors)
    }
  }
}
