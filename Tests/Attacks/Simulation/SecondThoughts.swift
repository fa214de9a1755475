import Acquiring
import Auditing
import Ledger
import TenderPayments

// The bank's second thoughts.
extension SimulatedWorld {
  func decideLater(
    _ request: AuthorizationRequest, _ verdict: SimulatedBank.Verdict, _ acquirer: SimulatedAcquirer
  ) {
    guard case .later(let approves) = verdict else { return }
    let reference = request.reference.rawValue
    thread.after(thread.choices.milliseconds(500...200_000), "the bank decides") { [self] in
      guard let answer = acquirer.bank.decide(reference, approves: approves) else { return }
      report(answer, reference, request.amount, acquirer)
    }
  }

  /// A provider that takes sealed tokens accepts a capture, void or refund first, and decides later. The whole of a
  /// hold it always lets go.
  func decideLater(_ kind: String, _ request: FollowUpRequest, _ acquirer: SimulatedAcquirer) {
    let isWhole = kind == "void" && acquirer.bank.isWhole(request)
    let (reference, approves) = (request.reference.rawValue, isWhole || !thread.choices.chance(300))
    thread.after(thread.choices.milliseconds(500...100_000), "the bank decides a follow-up") { [self] in
      guard let answer = acquirer.bank.decide(followUp: reference, approves: approves) else { return }
      report(answer, reference, request.amount, acquirer)
      if !approves, hazards.includes(.reconsidered) { reconsiderLater(reference, request.amount, acquirer) }
    }
  }

  private func reconsiderLater(_ reference: String, _ amount: Amount, _ acquirer: SimulatedAcquirer) {
    // After the last repeat of the event of the decline: events carry no order.
    thread.after(thread.choices.milliseconds(310_000...450_000), "the bank approves after all") { [self] in
      guard let answer = acquirer.bank.reconsider(reference) else { return }
      met(.reconsidered)
      tell(ProviderEvent(answer, reference, amount, newEvent(), from: acquirer), patience: .max)
    }
  }

  func takeBackLater(_ kind: String, _ request: FollowUpRequest, _ acquirer: SimulatedAcquirer) {
    let bank = acquirer.bank
    thread.after(thread.choices.milliseconds(20_000...300_000), "the bank thinks again") { [self] in
      guard
        let authorization = bank.evidence.first(where: { bank.name(of: $0.reference) == request.authorization }),
        takesBack(kind, request, authorization, bank)
      else { return }
      let refusal = AcquirerAnswer.declined(Decline(reason: .other, code: "93"))
      tell(
        ProviderEvent(refusal, request.reference.rawValue, request.amount, newEvent(), from: acquirer), patience: .max)
    }
  }

  private func takesBack(
    _ kind: String, _ request: FollowUpRequest, _ authorization: AcquirerHold, _ bank: SimulatedBank
  ) -> Bool {
    let (reference, amount) = (request.reference.rawValue, request.amount.minorUnits)
    return kind == "capture"
      ? bank.takeBack(capture: reference, of: authorization.reference, amount)
      : bank.takeBack(refund: reference, of: authorization.reference, amount)
  }

  /// Sends an event of what was decided; some providers say it again minutes later, by another name, when the world has
  /// moved on.
  private func report(
    _ answer: AcquirerAnswer, _ reference: String, _ amount: Amount, _ acquirer: SimulatedAcquirer
  ) {
    tell(ProviderEvent(answer, reference, amount, newEvent(), from: acquirer), patience: 3)
    guard faults, thread.choices.chance(200) else { return }
    thread.after(thread.choices.milliseconds(10_000...200_000), "old news") { [self] in
      // A decline that was reconsidered since would look like money that came back.
      if case .declined = answer, acquirer.bank.inquire(reference) != .answer(answer) { return }
      tell(ProviderEvent(answer, reference, amount, newEvent(), from: acquirer), patience: 3)
    }
  }

  func newEvent() -> String {
    ownEvents += 1
    return "event-\(ownEvents)"
  }

  /// Sends an event until it is acknowledged; sometimes twice, and a limited number of times.
  func tell(_ event: ProviderEvent?, patience: Int) {
    guard let event, patience > 0, !isDropped(event) else { return }
    let again = { [self] in
      thread.after(thread.choices.milliseconds(1_000...20_000), "the event comes again") {
        self.tell(event, patience: patience - 1)
      }
    }
    // An address of an acquirer that is not configured takes nothing.
    guard let engine, event.route == engine.connector, !(faults && patience < 10 && thread.choices.chance(300))
    else { return again() }
    var acknowledged = false
    engine.receive(event) { acknowledged = true }
    thread.after(.seconds(15), "the provider waits no longer") { if !acknowledged { again() } }
    if faults, thread.choices.chance(200) { engine.receive(event) {} }
  }
}

extension SimulatedWorld {
  private func isDropped(_ event: ProviderEvent) -> Bool {
    guard settings.mutant?.defect == .dropsApprovals, case .approved = event.outcome else { return false }
    return true
  }
}

extension ProviderEvent {
  init?(
    _ answer: AcquirerAnswer, _ reference: String, _ amount: Amount, _ id: String, from acquirer: SimulatedAcquirer
  ) {
    let outcome: Outcome
    switch answer {
    case .approved(let approval): outcome = .approved(approval)
    case .declined(let decline): outcome = .declined(decline)
    default: return nil
    }
    self.init(
      route: acquirer.name, id: id, reference: AttemptReference(reference), amount: amount, outcome: outcome)
  }
}
