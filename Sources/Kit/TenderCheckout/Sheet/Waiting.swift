import TenderSheet

/// Who waits for what. Each is answered exactly once, or released when the sheet is over.
struct Waiting {
  var changes: [CheckedContinuation<SheetUpdate?, Never>] = []
  var payment: CheckedContinuation<PaymentCompletion?, Never>?
  var session: CheckedContinuation<[UInt8]?, Never>?
  var results: [CheckedContinuation<PaymentResult, Never>] = []
  var cancellations: [CheckedContinuation<Cancellation, Never>] = []

  /// Whether the sheet itself still waits for something.
  var hangs: Bool { !changes.isEmpty || payment != nil || session != nil }

  /// Changes are answered in the order in which they were made.
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

  /// The sheet is over: nothing that it waits for will come.
  mutating func release() {
    for change in changes { change.resume(returning: nil) }
    changes = []
    answerPayment(nil)
    answerSession(nil)
  }
}
