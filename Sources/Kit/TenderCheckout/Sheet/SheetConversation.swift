public import TenderCheckoutAPI
package import TenderPayments
public import TenderSheet

/// Between the sheet and the server, for one basket: drives `SheetFlow`, which decides, and carries out what it says.
///
/// The device's sheet tells it what the shopper does, and waits for the answer. Every wait ends: with the server's
/// answer, when its time is up, or when the sheet is over. `nil` is always “the sheet is over: close it”.
public actor SheetConversation {
  nonisolated let basket: BasketID
  private let leg: ServerLeg
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

  private var calls: [CallID: CallOnItsWay] = [:]
  private var alarm: Task<Void, Never>?
  private var evidence = ServerLeg.Reply(ServerAnswer.lost)
  private var waiting = Waiting()
  private var result: PaymentResult?
  private var screen = Screen.empty
  /// What was asked of the device's sheet last. It is asked for one thing after the other: a sheet that is taken away
  /// while it opens leaves when it is there.
  private var stage: Task<Void, Never>?
  private var isFinished = true

  /// How many events were handed to the flow: for tests that wait until one was.
  package private(set) var eventCount = 0

  private enum Screen { case empty, opening, shown, leaving }

  private struct CallOnItsWay {
    let call: SheetCall
    let task: Task<Void, Never>
    let lostAt: Timestamp
  }

  init(
    _ leg: ServerLeg, merchantIdentifier: String, sheet: PaymentSheet, clock: SheetClock,
    report: AsyncStream<ApplePayReport>.Continuation,
    tracking: @escaping @Sendable (PlacedOrder) async -> OrderTracking? = { _ in nil }
  ) {
    self.leg = leg
    self.basket = leg.basket
    self.merchantIdentifier = merchantIdentifier
    self.sheet = sheet
    self.clock = clock
    self.report = report
    self.tracking = tracking
  }
}

// What the app does.
extension SheetConversation {
  /// Whether a sheet is there, or a payment is on its way.
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

  /// The payment that is on its way.
  var handler: ApplePayPaymentHandler? {
    guard let attempt, let prepared else { return nil }
    return ApplePayPaymentHandler(attempt, on: prepared, self)
  }

  /// After the app was started again: what became of the basket's payment?
  func resume() { handle(.returned) }

  /// Ends the sheet, if the server says that it is in time.
  func cancel() async -> Cancellation {
    switch flow.phase {
    case .open:
      takeAway()
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

  /// How the attempt that is under way ends, or the last one ended.
  func outcome() async -> PaymentResult {
    if let result { return result }
    return await withCheckedContinuation { waiting.results.append($0) }
  }
}

// What the device's sheet tells.
extension SheetConversation {
  /// The shopper changed something. The update is what the sheet shows from now on.
  public func changed(_ change: SheetChange) async -> SheetUpdate? {
    guard isBusy else { return nil }
    appeared()
    return await withCheckedContinuation { waiting in
      self.waiting.changes.append(waiting)
      handle(.changed(change))
    }
  }

  /// The shopper agreed.
  public func authorized(_ payment: AuthorizedPayment) async -> AuthorizationAnswer? {
    guard flow.phase == .open, waiting.payment == nil else { return nil }
    appeared()
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

  /// A Mac asks for the merchant session.
  public func merchantSession(validationURL: String? = nil) async -> [UInt8]? {
    guard isBusy, waiting.session == nil else { return nil }
    appeared()
    return await withCheckedContinuation { waiting in
      self.waiting.session = waiting
      handle(.merchantSessionRequested(validationURL: validationURL))
    }
  }

  /// The sheet is gone, for whatever reason.
  public func closed() {
    appeared()
    screen = .empty
    handle(.closed)
    finishIfDone()
  }
}

// The machine's effects.
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
    case .giveMerchantSession: waiting.answerSession(evidence.session)
    case .update(_, let update): waiting.answerChange(update)
    case .completePayment(let completion): complete(completion)
    case .abort: takeAway()
    case .tell(let news): tell(news)
    }
  }

  private func open() {
    guard let prepared else { return }
    (screen, isFinished) = (.opening, false)
    let opening = SheetOpening(
      merchantIdentifier: merchantIdentifier, request: prepared.request, contact: contact)
    stage = Task { [stage] in
      await stage?.value
      if await sheet.present(opening, self) { appeared() } else { refused() }
    }
  }

  /// The device says so; or the sheet does, by the first thing that happens on it.
  private func appeared() {
    guard screen == .opening else { return }
    screen = .shown
    report.yield(.presented)
  }

  private func refused() {
    screen = .empty
    handle(.notOpened)
    finishIfDone()
  }

  private func ask(_ id: CallID, _ call: SheetCall, within time: Duration) {
    let context = ServerLeg.Context(sheet: prepared, shown: shown, quote: quote, payment: attempt)
    let leg = leg
    let task = Task { [weak self] in
      let reply = await leg.reply(to: call, context, within: time)
      await self?.receive(reply, to: id)
    }
    calls[id] = CallOnItsWay(call: call, task: task, lostAt: clock.now().adding(time))
  }

  /// An answer that comes after it was given up says nothing any more.
  private func receive(_ reply: ServerLeg.Reply, to id: CallID) {
    guard let known = calls.removeValue(forKey: id) else { return }
    evidence = reply
    if let payment = reply.payment { attempt = payment }
    if case .update(let update, let quote) = reply.answer { (shown, self.quote) = (update, quote) }
    if case (.cancel, .refused) = (known.call, reply.answer) { waiting.answerCancellations(.tooLate) }
    handle(.answered(id, reply.answer))
  }

  private func complete(_ completion: PaymentCompletion) {
    if case .success = completion, let order = evidence.order { result = .success(PlacedOrder(order, of: basket)) }
    if case .failure(let errors) = completion, !errors.isEmpty { end(.failure(failure(refusalCode, errors))) }
    waiting.answerPayment(completion)
  }

  private var refusalCode: String {
    if case .refused(let refusal) = evidence.answer { refusal.code } else { SheetNews.Code.connectionLost.rawValue }
  }

  private func failure(_ code: String, _ errors: [SheetError] = []) -> PaymentFailure {
    PaymentFailure(code: code, detail: Self.words[code] ?? evidence.detail ?? code, sheetErrors: errors)
  }

  private static let words: [String: String] = [
    SheetNews.Code.notPrepared.rawValue: "There is nothing to pay yet: prepare a basket first.",
    SheetNews.Code.sheetNotOpened.rawValue: "The device refused to show the sheet: look at the payment request.",
    SheetNews.Code.sessionExpired.rawValue: "The sheet was open for longer than its merchant session lasts.",
  ]
}

// How it ends.
extension SheetConversation {
  private func tell(_ news: SheetNews) {
    switch news {
    case .authorized: stand()
    case .failed(code: SheetNews.Code.outcomeUnknown.rawValue): close(.unknown, as: .unknown)
    case .failed(let code):
      let failure = failure(code)
      close(.failure(failure), as: .failed(failure))
    case .cancelled: close(.cancelled, as: .cancelled)
    case .unavailable(let code): report.yield(.unavailable(failure(code)))
    }
  }

  private func stand() {
    guard let answer = evidence.order else { return }
    let order = PlacedOrder(answer, of: basket)
    close(.success(order), as: .completed(order))
  }

  private func close(_ result: PaymentResult, as news: ApplePayReport) {
    attempt = nil
    end(result)
    report.yield(news)
    if waiting.hangs { takeAway() }
    waiting.release()
    finishIfDone()
  }

  private func end(_ result: PaymentResult) {
    self.result = result
    waiting.answerResults(result)
    waiting.answerCancellations(result == .cancelled ? .cancelled : .tooLate)
  }

  private func takeAway() {
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

  /// Tells the end of a sheet, once.
  private func finish() {
    guard !isFinished, let result else { return }
    isFinished = true
    report.yield(.finished(result))
  }
}

// Time.
extension SheetConversation {
  /// The next moment at which something is due.
  package var nextMoment: Timestamp? { ([flow.wakeAt] + calls.values.map(\.lostAt)).compactMap { $0 }.min() }

  /// Looks at everything that is due. Calls without an answer are lost; the flow is woken when it wants to be.
  package func tick() {
    let now = clock.now()
    // Each round ends a call or moves the flow on; the bound only keeps a mistake from spinning.
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
    // Held strongly: who has something to find out stays, also when another basket has taken its place.
    alarm = Task {
      await clock.sleep(moment)
      if !Task.isCancelled { tick() }
    }
  }
}
