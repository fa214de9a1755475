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
  /// hold it always lets go, and of a hold that has ended it says so.
  func decideLater(_ kind: String, _ request: FollowUpRequest, _ acquirer: SimulatedAcquirer) {
    let isWhole = kind == "void" && acquirer.bank.isWhole(request)
    let (reference, approves) = (request.reference.rawValue, isWhole || !thread.choices.chance(300))
    thread.after(thread.choices.milliseconds(500...100_000), "the bank decides a follow-up") { [self] in
      guard let answer = acquirer.bank.decide(followUp: reference, approves: approves) else { return }
      report(answer, reference, request.amount, acquirer)
      let mayReturn = kind != "void" && acquirer.profile.conduct.takesBack(kind)
      if case .approved = answer, mayReturn, faults, thread.choices.chance(60) {
        takeBackLater(kind, request, wasAccepted: true, acquirer)
      }
      let reconsiders = acquirer.profile.conduct.reconsiders && hazards.includes(.reconsidered)
      if !approves, reconsiders { reconsiderLater(reference, request.amount, acquirer) }
    }
  }

  private func reconsiderLater(_ reference: String, _ amount: Amount, _ acquirer: SimulatedAcquirer) {
    // After the last repeat of the event of the decline: events carry no order.
    thread.after(thread.choices.milliseconds(310_000...450_000), "the bank approves after all") { [self] in
      guard isReported(reference, acquirer), let answer = acquirer.bank.reconsider(reference) else { return }
      met(.reconsidered)
      tell(answer, reference, amount, timeout: .max, acquirer)
    }
  }

  /// How many of a thousand cancels fail while things go wrong.
  private static let failingCancels = 600

  /// A cancel by our reference was accepted; its event has the bank's name of the cancel.
  func decideLater(_ request: InquiryRequest, cancel name: String, _ acquirer: SimulatedAcquirer) {
    let fails = faults && thread.choices.chance(Self.failingCancels)
    thread.after(thread.choices.milliseconds(500...60_000), "the bank decides a cancel") { [self] in
      guard let answer = acquirer.bank.decide(cancel: name, fails: fails) else { return }
      if case .declined = answer { acquirer.wire.did(fails ? .cancelFailed : .cancelEmpty) }
      let isKnown = acquirer.bank.knows(request.reference.rawValue)
      let event = AcquirerEvent(
        id: newEvent(), subject: .reversal(of: request.reference, called: name),
        amount: isKnown ? request.amount : Amount(minorUnits: 0, currency: request.amount.currency),
        content: .answer(answer))
      let target: String? = if case .approved = answer { request.reference.rawValue } else { nil }
      tell(ProviderMessage(event: event, answers: target, timeout: .max), acquirer)
    }
  }

  /// - Parameter wasAccepted: whether an event said that it was done, and not the answer.
  func takeBackLater(
    _ kind: String, _ request: FollowUpRequest, wasAccepted: Bool, _ acquirer: SimulatedAcquirer
  ) {
    let bank = acquirer.bank
    thread.after(thread.choices.milliseconds(20_000...300_000), "the bank thinks again") { [self] in
      // An approval that arrives after a mere decline would be taken for a second thought.
      guard
        acquirer.profile.conduct.namesReturns || !wasAccepted && isReported(request.reference.rawValue, acquirer)
          || evidence.reported.contains(request.reference.rawValue),
        let authorization = bank.evidence.first(where: { bank.name(of: $0.reference) == request.authorization }),
        takesBack(kind, request, authorization, bank)
      else { return }
      tell(return: Decline(reason: .other, code: "93"), of: request, acquirer)
    }
  }

  /// Whether no event about the operation is on its way that a later one could overtake.
  private func isReported(_ reference: String, _ acquirer: SimulatedAcquirer) -> Bool {
    !(acquirer.profile.isUnaskable || acquirer.profile.conduct == .stripe) || evidence.reported.contains(reference)
  }

  private func takesBack(
    _ kind: String, _ request: FollowUpRequest, _ authorization: AcquirerHold, _ bank: SimulatedBank
  ) -> Bool {
    let (reference, amount) = (request.reference.rawValue, request.amount.minorUnits)
    return kind == "capture"
      ? bank.takeBack(capture: reference, of: authorization.reference, amount)
      : bank.takeBack(refund: reference, of: authorization.reference, amount)
  }
}
