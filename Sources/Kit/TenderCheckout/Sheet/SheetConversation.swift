public import TenderCheckoutAPI
package import TenderPayments
public import TenderSheet

/// Connects the sheet and the server for one basket: passes events to `SheetFlow` and carries out its effects.
///
/// The device's sheet calls it for each event and waits for the answer. Every wait ends: with the server's answer, at
/// its time limit, or when the sheet has ended. `nil` always means that the sheet has ended and must be closed.
public actor SheetConversation {
  nonisolated let basket: BasketID
  private let serverCalls: ServerCalls
  private let merchantIdentifier: String
  private let sheet: PaymentSheet
  private let clock: SheetClock
  private let report: AsyncStream<ApplePayReport>.Continuation
  private let tracking: @Sendable (PlacedOrder) async -> OrderTracking?

  private var flow = SheetFlow()
  private var prepared: PreparedSheet?
  private var contact: FullContact?
  private var shown: SheetUpdate?
  private var quote: QuoteID?
  private var attempt: AuthorizedPayment?

  private var calls: [CallID: PendingCall] = [:]
  private var alarm: Task<Void, Never>?
  private var lastReply = ServerCalls.Reply(ServerAnswer.lost)
  private var waiting = Waiting()
  private var result: PaymentResult?
  private var screen = Screen.empty
  /// The last call to the device's sheet. Calls are made one after another: a sheet that is dismissed while it opens is
  /// dismissed once it is shown.
  private var stage: Task<Void, Never>?
  private var isFinished = true

  /// How many events the flow has handled, for tests that wait for one.
  package private(set) var eventCount = 0

  private enum Screen { case empty, opening, shown, leaving }

  private struct PendingCall {
    let call: SheetCall
    let task: Task<Void, Never>
    let lostAt: Timestamp
  }

  init(
    _ serverCalls: ServerCalls, merchantIdentifier: String, sheet: PaymentSheet, clock: SheetClock,
    report: AsyncStream<ApplePayReport>.Continuation,
    tracking: @escaping @Sendable (PlacedOrder) async -> OrderTracking? = { _ in nil }
  ) {
    self.serverCalls = serverCalls
    self.basket = serverCalls.basket
    self.merchantIdentifier = merchantIdentifier
    self.sheet = sheet
    self.clock = clock
    self.report = report
    self.tracking = tracking
  }
}

// Calls of the app.
extension SheetConversation {
  /// Whether a sheet is shown or a payment is in progress.
  var isBusy: Bool { flow.phase == .open || flow.phase == .paying }

  var isRecovering: Bool { flow.phase == .recovering }

  func prepare(_ sheet: PreparedSheet, contact: FullContact? = nil) {
    guard !isBusy else { return }
    prepared = sheet
    self.contact = contact
    quote = sheet.quote
    shown = SheetUpdate(keeping: sheet.request.total, sheet.request.lineItems)
    handle(.prepared(sheet.quote))
  }

  func press() {
    if !isBusy {
      finish()
      result = nil
    }
    handle(.pressed)
  }

  /// The payment in progress.
  var handler: ApplePayPaymentHandler? {
    guard let attempt, let prepared else { return nil }
    return ApplePayPaymentHandler(attempt, on: prepared, self)
  }

  /// Asks for the outcome of the basket's payment after a restart of the app.
  func resume() { handle(.returned) }

  /// Cancels the payment, if the server allows it.
  func cancel() async -> Cancellation {
    switch flow.phase {
    case .open:
      dismissSheet()
      handle(.closed)
      return .cancelled
    case .paying:
      return await withCheckedContinuation { waiting in
        self.waiting.cancellations.append(waiting)
        handle(.closed)
      }
    case .recovering: return .tooLate
    case .unprepared, .ready: return result == .cancelled ? .cancelled : .tooLate
    }
  }

  /// The result of the current attempt, or of the last one.
  func outcome() async -> PaymentResult {
    if let result { return result }
    return await withCheckedContinuation { waiting.results.append($0) }
  }
}

// Events of the device's sheet.
extension SheetConversation {
  /// The shopper changed something. Returns what the sheet shows from now on.
  public func apply(_ change: SheetChange) async -> SheetUpdate? {
    guard isBusy else { return nil }
    markShown()
    return await withCheckedContinuation { waiting in
      self.waiting.changes.append(waiting)
      handle(.changed(change))
    }
  }

  /// The shopper authorized the payment.
  public func authorize(_ payment: AuthorizedPayment) async -> AuthorizationAnswer? {
    guard flow.phase == .open, waiting.payment == nil else { return nil }
    markShown()
    attempt = payment
    result = nil
    let completion = await withCheckedContinuation { waiting in
      self.waiting.payment = waiting
      handle(.authorized)
    }
    guard case .success = completion, case .success(let order) = result else {
      return completion.map { AuthorizationAnswer($0) }
    }
    return AuthorizationAnswer(.success, tracking: await tracking(order))
  }

  /// A Mac requests the merchant session.
  public func merchantSession(validationURL: String? = nil) async -> [UInt8]? {
    guard isBusy, waiting.session == nil else { return nil }
    markShown()
    return await withCheckedContinuation { waiting in
      self.waiting.session = waiting
      handle(.merchantSessionRequested(validationURL: validationURL))
    }
  }

  /// The sheet is closed, for any reason.
  public func close() {
    markShown()
    screen = .empty
    handle(.closed)
    finishIfDone()
  }
}

// Effects of the flow.
extension SheetConversation {
  private func handle(_ event: SheetEvent) {
    eventCount += 1
    for effect in flow.handle(event, at: clock.now()) { carryOut(effect) }
    setAlarm()
  }

  private func carryOut(_ effect: SheetEffect) {
    switch effect {
    case .open: open()
    case .ask(let id, let call, let time): ask(id, call, within: time)
    case .giveMerchantSession: waiting.answerSession(lastReply.session)
    case .update(_, let update): waiting.answerChange(update)
    case .completePayment(let completion): complete(completion)
    case .abort: dismissSheet()
    case .report(let report): publish(report)
    }
  }

  private func open() {
    guard let prepared else { return }
    (screen, isFinished) = (.opening, false)
    let opening = SheetOpening(
      merchantIdentifier: merchantIdentifier, request: prepared.request, contact: contact)
    stage = Task { [stage] in
      await stage?.value
      if await sheet.present(opening, self) { markShown() } else { markNotOpened() }
    }
  }

  /// The sheet is shown: reported by the device, or implied by the sheet's first event.
  private func markShown() {
    guard screen == .opening else { return }
    screen = .shown
    report.yield(.presented)
  }

  private func markNotOpened() {
    screen = .empty
    handle(.notOpened)
    finishIfDone()
  }

  private func ask(_ id: CallID, _ call: SheetCall, within time: Duration) {
    let context = ServerCalls.Context(sheet: prepared, shown: shown, quote: quote, payment: attempt)
    let serverCalls = serverCalls
    let task = Task { [weak self] in
      let reply = await serverCalls.reply(to: call, context, within: time)
      await self?.receive(reply, to: id)
    }
    calls[id] = PendingCall(call: call, task: task, lostAt: clock.now().adding(time))
  }

  /// Ignores an answer that arrives after its time limit.
  private func receive(_ reply: ServerCalls.Reply, to id: CallID) {
    guard let known = calls.removeValue(forKey: id) else { return }
    lastReply = reply
    if let payment = reply.payment { attempt = payment }
    if case .update(let update, let quote) = reply.answer { (shown, self.quote) = (update, quote) }
    if case (.cancel, .refused) = (known.call, reply.answer) { waiting.answerCancellations(.tooLate) }
    handle(.answered(id, reply.answer))
  }

  private func complete(_ completion: PaymentCompletion) {
    if case .success = completion, let order = lastReply.order { result = .success(PlacedOrder(order, of: basket)) }
    if case .failure(let errors) = completion, !errors.isEmpty { end(.failure(failure(refusalCode, errors))) }
    waiting.answerPayment(completion)
  }

  private var refusalCode: String {
    if case .refused(let refusal) = lastReply.answer { refusal.code } else { SheetReport.Code.connectionLost.rawValue }
  }

  private func failure(_ code: String, _ errors: [SheetError] = []) -> PaymentFailure {
    PaymentFailure(code: code, detail: Self.words[code] ?? lastReply.detail ?? code, sheetErrors: errors)
  }

  private static let words: [String: String] = [
    SheetReport.Code.notPrepared.rawValue: "There is nothing to pay yet: prepare a basket first.",
    SheetReport.Code.sheetNotOpened.rawValue: "The device refused to show the sheet: look at the payment request.",
    SheetReport.Code.sessionExpired.rawValue: "The sheet was open for longer than its merchant session lasts.",
  ]
}

// The end of a sheet.
extension SheetConversation {
  private func publish(_ report: SheetReport) {
    switch report {
    case .authorized: reportOrder()
    case .failed(code: SheetReport.Code.outcomeUnknown.rawValue): close(.unknown, as: .unknown)
    case .failed(let code):
      let failure = failure(code)
      close(.failure(failure), as: .failed(failure))
    case .cancelled: close(.cancelled, as: .cancelled)
    case .unavailable(let code): self.report.yield(.unavailable(failure(code)))
    }
  }

  private func reportOrder() {
    guard let answer = lastReply.order else { return }
    let order = PlacedOrder(answer, of: basket)
    close(.success(order), as: .completed(order))
  }

  private func close(_ result: PaymentResult, as applePayReport: ApplePayReport) {
    attempt = nil
    end(result)
    report.yield(applePayReport)
    if waiting.hangs { dismissSheet() }
    waiting.release()
    finishIfDone()
  }

  private func end(_ result: PaymentResult) {
    self.result = result
    waiting.answerResults(result)
    waiting.answerCancellations(result == .cancelled ? .cancelled : .tooLate)
  }

  private func dismissSheet() {
    guard screen == .opening || screen == .shown else { return }
    screen = .leaving
    stage = Task { [stage] in
      await stage?.value
      await sheet.dismiss()
      if screen == .leaving { screen = .empty }
      finishIfDone()
    }
  }

  private func finishIfDone() {
    if screen == .empty, !isBusy { finish() }
  }

  /// Reports the end of a sheet, once.
  private func finish() {
    guard !isFinished, let result else { return }
    isFinished = true
    report.yield(.finished(result))
  }
}

// Time.
extension SheetConversation {
  /// The time of the next due action.
  package var nextMoment: Timestamp? { ([flow.wakeAt] + calls.values.map(\.lostAt)).compactMap { $0 }.min() }

  /// Handles everything that is due: reports calls without an answer as lost, and wakes the flow.
  package func tick() {
    let now = clock.now()
    // Each round ends a call or advances the flow; the bound prevents an endless loop after a defect.
    for _ in 0..<64 {
      if let lost = calls.first(where: { $0.value.lostAt <= now }) {
        lost.value.task.cancel()
        calls[lost.key] = nil
        handle(.answered(lost.key, .lost))
      } else if let wake = flow.wakeAt, wake <= now {
        handle(.woke)
      } else {
        return
      }
    }
  }

  private func setAlarm() {
    alarm?.cancel()
    guard let moment = nextMoment else { return }
    // Holds self strongly, so that an unknown outcome is resolved even after another basket has replaced this one.
    alarm = Task {
      await clock.sleep(moment)
      if !Task.isCancelled { tick() }
    }
  }
}
