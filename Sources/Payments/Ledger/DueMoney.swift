package import Storage
package import TenderPayments

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

  /// The authorization that the capture which is due belongs to, as to one request: its call had been answered before the
  /// authorization was resolved. Nil where the call was to capture, and what it did is its answer.
  package func requestOfDueCapture(of payment: PaymentID, in store: Transaction) throws -> AttemptReference? {
    let record = try PaymentRecord.lock(payment, in: store)
    let authorization = try Operations.all(of: payment, in: store).first { $0.kind == .authorize }
    return authorization.flatMap { record.awaitsCapture(of: $0) ? $0.reference : nil }
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

extension PaymentRecord {
  /// Whether recovery is to begin the first capture, at the moment in which the authorization was resolved with no caller
  /// waiting for it.
  func awaitsCapture(of authorization: OperationRecord) -> Bool {
    guard captureMode == .immediate, captureDelay == nil, balances.status == .authorized, let captureDue,
      let resolvedAt = authorization.answeredAt
    else { return false }
    return captureDue <= resolvedAt
  }
}
