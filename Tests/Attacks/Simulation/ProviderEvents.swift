import Acquiring
import Auditing
import Ledger
import TenderPayments

// The events that banks send: lost, twice, late, out of order, before the answer, several in one call, by our name of the
// operation or by the bank's.
extension SimulatedWorld {
  /// An authorization was decided at once: some banks send an event all the same, perhaps before their answer arrives.
  func announce(_ request: AuthorizationRequest, _ answer: AcquirerAnswer, _ acquirer: SimulatedAcquirer) {
    let reference = request.reference.rawValue
    if hazards.includes(.foreignEvent), faults, thread.choices.chance(200) {
      forge(reference, request.amount, acquirer)
    }
    guard acquirer.profile.conduct.announcesAuthorizations else { return }
    // Some come when recovery has begun to undo the authorization.
    let delay = faults && thread.choices.chance(200) ? 55_000...150_000 : 1...20_000
    thread.after(thread.choices.milliseconds(delay), "the bank announces an authorization") { [self] in
      report(answer, reference, request.amount, acquirer)
    }
  }

  /// The same for a capture or refund.
  func announce(_ request: FollowUpRequest, _ acquirer: SimulatedAcquirer) {
    thread.after(thread.choices.milliseconds(1...20_000), "the bank announces an operation") { [self] in
      let reference = request.reference.rawValue
      guard case .answer(let answer) = acquirer.bank.inquire(reference) else { return }
      tell(answer, reference, request.amount, timeout: 3, mayUseName: request.isWhole, acquirer)
    }
  }

  /// Sends an event of what was decided; some providers say it again minutes later, by another name, when the world has
  /// moved on.
  func report(_ answer: AcquirerAnswer, _ reference: String, _ amount: Amount, _ acquirer: SimulatedAcquirer) {
    if faults, hazards.includes(.eventsLost), thread.choices.chance(300) { return met(.eventsLost) }
    // A provider that cannot be asked repeats its events until they are acknowledged.
    let timeout = acquirer.profile.isUnaskable ? Int.max : 3
    tell(answer, reference, amount, timeout: timeout, acquirer)
    guard faults, thread.choices.chance(200) else { return }
    thread.after(thread.choices.milliseconds(10_000...200_000), "old news") { [self] in
      // A decline that was reconsidered since would look like money that came back.
      if case .declined = answer, acquirer.bank.inquire(reference) != .answer(answer) { return }
      tell(answer, reference, amount, timeout: 3, acquirer)
    }
  }

  /// - Parameter mayUseName: whether the event may have the bank's name of the operation alone. No connector leaves our
  ///   own out of an event whose operation may have no name in the journal yet.
  func tell(
    _ answer: AcquirerAnswer, _ reference: String, _ amount: Amount, timeout: Int, mayUseName: Bool = false,
    _ acquirer: SimulatedAcquirer
  ) {
    switch answer {
    case .approved, .declined: break
    case .pending, .unknown, .notSent: return
    }
    tell(.answer(answer), reference, amount, timeout: timeout, mayUseName: mayUseName, acquirer)
  }

  /// Says that what an operation did has come back.
  func tell(return decline: Decline, of request: FollowUpRequest, _ acquirer: SimulatedAcquirer) {
    let content: AcquirerEvent.Content =
      acquirer.profile.conduct.namesReturns ? .returned(decline) : .answer(.declined(decline))
    tell(
      content, request.reference.rawValue, request.amount, timeout: .max,
      mayUseName: acquirer.profile.conduct == .adyen, acquirer)
  }

  private func tell(
    _ content: AcquirerEvent.Content, _ reference: String, _ amount: Amount, timeout: Int, mayUseName: Bool,
    _ acquirer: SimulatedAcquirer
  ) {
    let name = mayUseName ? acquirer.bank.operationName(of: reference) : nil
    let isByName = name != nil && thread.choices.chance(500)
    let subject: AcquirerEvent.Subject =
      isByName ? .acquirerOperation(name ?? "") : .operation(AttemptReference(reference))
    let event = AcquirerEvent(id: newEvent(), subject: subject, amount: amount, content: content)
    // By the bank's name it may mean the authorization, of which a void is a change.
    tell(ProviderMessage(event: event, answers: isByName ? nil : reference, timeout: timeout), acquirer)
  }

  func newEvent() -> String {
    ownEvents += 1
    return "event-\(ownEvents)"
  }

  /// Sends an event until it is acknowledged; sometimes twice, and a limited number of times. Some wait for others, and
  /// come with them in one call.
  func tell(_ message: ProviderMessage, _ acquirer: SimulatedAcquirer) {
    guard acquirer.profile.conduct.sendsEvents, !isDropped(message.event) else { return }
    acquirer.batch.append(message)
    guard faults, thread.choices.chance(200) else { return send(acquirer) }
    thread.after(thread.choices.milliseconds(100...10_000), "a batch of events leaves") { self.send(acquirer) }
  }

  private func send(_ acquirer: SimulatedAcquirer) {
    let batch = acquirer.batch
    acquirer.batch = []
    guard !batch.isEmpty else { return }
    send(batch, times: batch.map(\.timeout).max() ?? 0, acquirer)
  }

  private func send(_ batch: [ProviderMessage], times: Int, _ acquirer: SimulatedAcquirer) {
    guard times > 0 else { return }
    let again = { [self] in
      thread.after(thread.choices.milliseconds(1_000...20_000), "the event comes again") {
        self.send(batch, times: times - 1, acquirer)
      }
    }
    // An address of an acquirer that is not configured takes nothing.
    guard let engine, engine.routes.contains(acquirer.route), !(faults && times < 10 && thread.choices.chance(300))
    else { return again() }
    // In another order each time.
    let events = faults && thread.choices.chance(300) ? batch.reversed() : batch
    let call = acquirer.wire.call(with: events.map(\.event))
    var acknowledged = false
    engine.receive(call, through: acquirer.route, refused: refuse) { [self] in
      acknowledged = true
      evidence.reported.formUnion(batch.compactMap(\.answers))
    }
    thread.after(.seconds(15), "the provider waits no longer") { if !acknowledged { again() } }
    if faults, thread.choices.chance(200) { engine.receive(call, through: acquirer.route, refused: refuse) {} }
  }

  private func refuse(_ change: String) { evidence.impossibleChanges.insert(change) }

  /// Another acquirer sends an authentic event about an operation that is not its own.
  private func forge(_ reference: String, _ amount: Amount, _ acquirer: SimulatedAcquirer) {
    guard let other = acquirers.first(where: { $0 !== acquirer && $0.profile.conduct.sendsEvents }) else { return }
    let name = "\(newEvent())-of-another-route"
    let refusal = AcquirerAnswer.declined(Decline(reason: .other, code: "05"))
    let answer = thread.choices.chance(500) ? refusal : .approved(Approval(acquirerReference: "foreign"))
    evidence.foreignEvents.insert(name)
    let sender = settings.mutant?.defect == .believesAnyRoute ? acquirer : other
    thread.after(thread.choices.milliseconds(1...60_000), "an event of another route") { [self] in
      guard engine?.routes.contains(sender.route) == true else { return }
      met(.foreignEvent)
      let event = AcquirerEvent(
        id: name, reference: AttemptReference(reference), amount: amount, answer: answer)
      tell(ProviderMessage(event: event, answers: nil, timeout: 3), sender)
    }
  }
}

extension SimulatedWorld {
  private func isDropped(_ event: AcquirerEvent) -> Bool {
    guard settings.mutant?.defect == .dropsApprovals, case .answer(.approved) = event.content else { return false }
    return true
  }
}

// Money that no operation of ours moved.
extension SimulatedWorld {
  /// Holds come to their end. Adyen says so of some.
  func expireHolds(of acquirer: SimulatedAcquirer) {
    for hold in acquirer.bank.expireHolds() where acquirer.profile.conduct == .adyen && thread.choices.chance(500) {
      guard let name = acquirer.bank.name(of: hold.reference), let currency = Currency(code: hold.currency) else {
        continue
      }
      coverage.profiles[Coverage.expiryAsMovement, default: 0] += 1
      tell(.holdExpired, Amount(minorUnits: hold.amount, currency: currency), of: name, acquirer)
    }
  }

  func moveElsewhere() {
    let acquirer = acquirers[thread.choices.pick(acquirers.count)]
    guard acquirer.profile.conduct.sendsEvents else { return }
    let holds = acquirer.bank.evidence.filter(\.wasApproved)
    guard !holds.isEmpty else { return }
    let hold = holds[thread.choices.pick(holds.count)]
    guard let name = acquirer.bank.name(of: hold.reference), let currency = Currency(code: hold.currency) else {
      return
    }
    let part = Amount(minorUnits: max(1, hold.captured / Int64(1 + thread.choices.pick(3))), currency: currency)
    let movement: MoneyMovement
    switch thread.choices.pick(2) {
    case 0:
      guard acquirer.bank.refundByHand(hold.reference, part.minorUnits) else { return }
      movement = .refund
    default:
      guard acquirer.bank.dispute(hold.reference) else { return }
      movement = .chargeback
      if thread.choices.chance(500) {
        thread.after(thread.choices.milliseconds(20_000...300_000), "the merchant wins a dispute") { [self] in
          tell(.chargebackReversed, part, of: name, acquirer)
        }
      }
    }
    met(.movedElsewhere)
    tell(movement, part, of: name, acquirer)
  }

  private func tell(_ movement: MoneyMovement, _ amount: Amount, of name: String, _ acquirer: SimulatedAcquirer) {
    let event = AcquirerEvent(
      id: newEvent(), subject: .authorization(name), amount: amount, content: .movement(movement))
    tell(ProviderMessage(event: event, answers: nil, timeout: .max), acquirer)
  }
}
