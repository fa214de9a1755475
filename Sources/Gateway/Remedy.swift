import Acquiring
import Ledger
import TenderPayments

/// What recovery does about an operation without an answer: pure, from what is known of it and what the connector can.
enum Remedy: Hashable {
  /// Ask what became of it.
  case inquire
  /// Send a capture, void or refund again under its reference.
  case sendAgain
  /// Begin to undo an authorization.
  case reverse
  /// Go on undoing it.
  case undo
  /// Only a person can find out.
  case nothing

  /// After the shopper was told *failure* an authorization is only undone. Otherwise it is asked about, or undone where
  /// nobody can be asked.
  init(for attempt: Attempt, _ acquirer: AcquirerCapabilities) {
    switch attempt.kind {
    case .reverse: self = .undo
    case .authorize where attempt.past?.told == .failure: self = acquirer.canUndo ? .reverse : .nothing
    case .authorize: self = acquirer.inquiry ? .inquire : acquirer.reversal ? .reverse : .nothing
    case .capture, .void, .refund:
      self = acquirer.inquiry ? .inquire : attempt.mayRepeat(acquirer) ? .sendAgain : .nothing
    }
  }

  /// What an inquiry's answer asks for.
  enum Finding {
    case adopt(AcquirerAnswer)
    case neverArrived
    case sendAgain
    case reverse
    case leave

    /// *Not found* means something only when the settle horizon has passed, and nothing after *pending*: the provider
    /// had it then.
    init(_ inquiry: Inquiry, about attempt: Attempt, _ acquirer: AcquirerCapabilities) {
      switch inquiry {
      case .answer(let answer): self = Finding(answer, about: attempt)
      case .unavailable: self = .leave
      case .notFound where attempt.past?.state == .pending || !attempt.isQuiet(acquirer): self = .leave
      case .notFound where attempt.kind == .authorize: self = acquirer.reversal ? .reverse : .neverArrived
      case .notFound: self = attempt.mayRepeat(acquirer) ? .sendAgain : .neverArrived
      }
    }

    private init(_ answer: AcquirerAnswer, about attempt: Attempt) {
      switch answer {
      case .approved, .declined: self = .adopt(answer)
      case .pending where attempt.past?.state != .pending: self = .adopt(answer)
      case .pending, .unknown, .notSent: self = .leave
      }
    }
  }

  /// A reversal's result as the answer to its operation. That there was nothing to undo counts only when the
  /// authorization cannot arrive any more.
  static func meaning(
    of reversal: Reversal, for attempt: Attempt, _ acquirer: AcquirerCapabilities
  ) -> AcquirerAnswer {
    switch reversal {
    case .reversed: .approved(Approval(acquirerReference: attempt.target?.rawValue ?? ""))
    case .nothingFound where attempt.isQuiet(acquirer): .notSent("there was nothing to undo")
    case .nothingFound: .unknown(Interruption(.acquirerUncertain, detail: "not there yet, or never"))
    case .refused(let code): .declined(Decline(reason: .other, code: code))
    case .unavailable(let interruption): .unknown(interruption)
    }
  }
}

extension AcquirerCapabilities {
  fileprivate var canUndo: Bool { reversal || inquiry }
}

extension Attempt {
  fileprivate func mayRepeat(_ acquirer: AcquirerCapabilities) -> Bool {
    guard let past, kind != .authorize else { return false }
    return acquirer.mayRepeat(after: past.takenAt.since(past.sentAt))
  }

  /// Whether the request cannot be on its way any more.
  fileprivate func isQuiet(_ acquirer: AcquirerCapabilities) -> Bool {
    guard let past else { return false }
    return past.takenAt >= past.quietSince.adding(acquirer.settleHorizon)
  }
}

extension Acquirer {
  /// Undoes an authorization by our reference; where the acquirer cannot, by finding it and voiding it.
  func undo(_ attempt: Attempt, _ deadline: Deadline) async -> Reversal {
    let target = InquiryRequest(reference: attempt.target ?? attempt.reference, amount: attempt.amount)
    guard !capabilities.reversal else { return await reverse(target, deadline) }
    return switch await inquire(target, deadline) {
    case .answer(.approved(let approval)): await voided(approval, attempt, deadline)
    case .answer(.declined), .notFound: .nothingFound
    case .answer: .unavailable(Interruption(.acquirerUncertain, detail: "the authorization is not decided"))
    case .unavailable(let interruption): .unavailable(interruption)
    }
  }

  private func voided(_ approval: Approval, _ attempt: Attempt, _ deadline: Deadline) async -> Reversal {
    let request = FollowUpRequest(
      reference: attempt.reference, authorization: approval.acquirerReference, amount: attempt.amount)
    return switch await void(request, deadline) {
    case .approved: .reversed
    case .declined(let decline): .refused(code: decline.code)
    case .pending: .unavailable(Interruption(.acquirerUncertain, detail: "the void is pending"))
    case .unknown(let interruption): .unavailable(interruption)
    case .notSent(let reason): .unavailable(Interruption(.connectionLost, detail: reason))
    }
  }
}
