import TenderSheet

/// The callers that wait for an answer. Each is resumed exactly once, at the latest when the sheet ends.
struct Waiting {
  var changes: [CheckedContinuation<SheetUpdate?, Never>] = []
  var payment: CheckedContinuation<PaymentCompletion?, Never>?
  var session: CheckedContinuation<[UInt8]?, Never>?
  var results: [CheckedContinuation<PaymentResult, Never>] = []
  var cancellations: [CheckedContinuation<Cancellation, Never>] = []

  /// Whether the sheet still waits for an answer.
  var hangs: Bool { !changes.isEmpty || payment != nil || session != nil }

  /// Answers the oldest change.
  mutating func answerChange(_ update: SheetUpdate) {
    guard !changes.isEmpty else { return }
    changes.removeFirst().resume(returning: update)
  }

  mutating func answerPayment(_ completion: PaymentCompletion?) {
    payment?.resume(returning: completion)
    payment = nil
  }

  mutating func answerSession(_ bytes: [UInt8]?) {
    session?.resume(returning: bytes)
    session = nil
  }

  mutating func answerResults(_ result: PaymentResult) {
    for one in results { one.resume(returning: result) }
    results = []
  }

  mutating func answerCancellations(_ answer: Cancellation) {
    for one in cancellations { one.resume(returning: answer) }
    cancellations = []
  }

  /// Resumes every caller with nil, because the sheet has ended.
  mutating func release() {
    for change in changes { change.resume(returning: nil) }
    changes = []
    answerPayment(nil)
    answerSession(nil)
  }
}
