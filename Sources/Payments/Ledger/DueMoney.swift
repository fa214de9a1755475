import Storage
import TenderPayments

// Immediate captures and expired holds: when recovery tries again, and when an operator is alarmed.
extension Journal {
  /// How many tries of an immediate capture fail before the alarm: about a quarter of an hour after the first.
  static let captureTriesBeforeAlarm = 5

  /// How long cards hold money as a rule, where the acquirer names no end.
  static var usualHold: Duration { .seconds(86_400 * 7) }

  /// Schedules the immediate capture. The call that authorized captures; recovery captures if that call died, and after
  /// every answer that leaves a chance. Otherwise an alarm is raised.
  func scheduleCapture(
    _ record: inout PaymentRecord, _ attempt: Attempt, _ answer: AcquirerAnswer, _ recipient: Recipient,
    in store: Transaction
  ) throws {
    guard record.captureMode == .immediate, record.balances.status == .authorized else { return }
    switch (attempt.kind, answer) {
    case (.authorize, .approved):
      record.captureDue = store.now.adding(
        record.captureDelay ?? (recipient == .noCaller ? .zero : Self.lease))
    case (.capture, .declined(let decline)) where decline.declineClass == .final:
      record.raise(.captureDeclined)
    case (.capture, .declined(let decline)):
      if decline.declineClass == .configuration { record.raise(.captureMisconfigured) }
      try captureAgain(&record, in: store)
    case (.capture, .notSent): try captureAgain(&record, in: store)
    default: break
    }
  }

  private func captureAgain(_ record: inout PaymentRecord, in store: Transaction) throws {
    let tries = try Operations.count(.capture, cause: .order, of: record.payment.id, in: store)
    let next = store.now.adding(Backoff.capture.pause(after: tries))
    let isInTime = next < record.holdUntil ?? record.payment.createdAt.adding(Self.usualHold)
    if isInTime { record.captureDue = next }
    if !isInTime || tries >= Self.captureTriesBeforeAlarm { record.raise(.captureOverdue) }
  }

  /// Ends an expired hold after its void, or schedules another void. Only an acquirer that voided it, or says that it
  /// holds nothing any more, ends the hold.
  func scheduleExpiry(
    _ record: inout PaymentRecord, _ attempt: Attempt, _ outcome: Outcome, in store: Transaction
  ) throws {
    guard attempt.kind == .void, attempt.cause == .expiry else { return }
    switch outcome {
    case .approved:
      if record.captureMode == .immediate { record.raise(.uncapturedHoldEnded) }
    case .declined:
      let tries = try Operations.count(.void, cause: .expiry, of: record.payment.id, in: store)
      record.holdUntil = store.now.adding(Backoff.expiry.pause(after: tries))
      record.raise(.voidRefused)
    case .pending, .unknown, .nothing, .returned: break
    }
  }
}
