import Acquiring
import Ledger
import TenderPayments

/// What recovery does about an operation without an answer. It depends only on the operation and the connector's
/// capabilities.
enum RecoveryAction: Hashable {
  /// Inquire about it.
  case inquire
  /// Send a capture, void or refund again under its reference.
  case sendAgain
  /// Begin the reversal of an authorization.
  case reverse
  /// Ask for the reversal.
  case undo
  /// Record that nothing was sent: the first of two steps has no stored result, and the holder of the lease stores it
  /// before it takes the second.
  case neverSent
  /// Record that nothing happened: a verification without an answer holds nothing.
  case giveUp
  /// Only an operator can find out.
  case nothing

  /// After *failure* was reported to the shopper an authorization is only reversed. Otherwise recovery inquires, or
  /// reverses where the acquirer has no inquiry.
  init(for attempt: Attempt, _ acquirer: AcquirerCapabilities) {
    switch attempt.kind {
    // Accepted: its event tells the result. Asked for again, it would get another name there.
    case .reverse where acquirer.reversal && attempt.past?.state == .pending:
      self = acquirer.inquiry ? .inquire : .nothing
    // A void that may have been done comes first: to an inquiry the authorization looks approved before and after it.
    case .reverse: self = acquirer.reversal || attempt.past?.sentUntil == nil ? .undo : .inquire
    case .authorize where attempt.verifiesCard: self = .giveUp
    case .authorize where attempt.lacksFirstStep(acquirer): self = .neverSent
    case .authorize where attempt.past?.reportedOutcome == .failure:
      self = acquirer.canUndo || attempt.canBeInquired(acquirer) ? .reverse : .nothing
    case .authorize: self = attempt.canBeInquired(acquirer) ? .inquire : acquirer.reversal ? .reverse : .nothing
    case .capture, .void, .refund, .increment:
      self = attempt.canBeInquired(acquirer) ? .inquire : attempt.mayRepeat(acquirer) ? .sendAgain : .nothing
    // They are never sent.
    case .chargeback, .chargebackReversal: self = .nothing
    }
  }

  /// What recovery does after an inquiry.
  enum Finding {
    case adopt(AcquirerAnswer)
    case neverArrived
    case sendAgain
    case reverse
    case undo
    case leave

    /// *Not found* means something only when the settle horizon has passed, and nothing after *pending*: the provider
    /// had it then.
    init(_ inquiry: Inquiry, about attempt: Attempt, _ acquirer: AcquirerCapabilities) {
      switch inquiry {
      case .answer(let answer): self = Finding(answer.believed(for: attempt), about: attempt)
      case .unavailable: self = .leave
      case .notFound where attempt.past?.state == .pending || !attempt.isSilent(acquirer): self = .leave
      case .notFound where attempt.kind == .reverse: self = .undo
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
    case .accepted(let name): .pending(Pending(acquirerReference: name))
    case .nothingFound where attempt.isQuiet(acquirer): .notSent("there was nothing to undo")
    case .nothingFound: .unknown(Interruption(.acquirerUncertain, detail: "not there yet, or never"))
    case .refused(let code): .declined(Decline(reason: .other, code: code))
    case .unavailable(let interruption): .unknown(interruption)
    }
  }

  /// How an authorization is undone where the acquirer has no reversal, by the result of an inquiry.
  enum Undoing {
    case void(FollowUpRequest)
    case nothingToUndo
    case leave

    init(_ inquiry: Inquiry, for attempt: Attempt, _ acquirer: AcquirerCapabilities) {
      switch inquiry {
      case .answer(.approved(let approval)):
        self = .void(
          FollowUpRequest(
            reference: attempt.reference, authorization: approval.acquirerReference,
            amount: approval.approvedAmount ?? attempt.undoneAmount, merchantAccount: attempt.merchantAccount))
      case .answer(.declined), .notFound: self = attempt.isQuiet(acquirer) ? .nothingToUndo : .leave
      case .answer, .unavailable: self = .leave
      }
    }
  }
}

extension AcquirerCapabilities {
  fileprivate var canUndo: Bool { reversal || inquiry }
}

extension Attempt {
  /// The question about this operation. A reversal is done by a void where the acquirer has no reversal.
  var inquiry: InquiryRequest {
    InquiryRequest(
      reference: reference, amount: amount, kind: InquiredOperation(kind), authorization: authorization,
      capture: capture, acquirerReference: acquirerReference, merchantAccount: merchantAccount, sentAt: past?.sentAt)
  }

  /// What a reversal undoes: the authorization.
  var undoing: InquiryRequest {
    InquiryRequest(
      reference: target ?? reference, amount: undoneAmount, acquirerReference: past?.undoneName,
      merchantAccount: merchantAccount, sentAt: past?.undoneSentAt)
  }

  /// Whether the second of two steps cannot have been taken. A process that has lost the lease cannot store the result
  /// of the first any more.
  fileprivate func lacksFirstStep(_ acquirer: AcquirerCapabilities) -> Bool {
    guard let past, past.state == .sending, past.prepared == nil else { return false }
    return acquirer.preparedInstruments.contains(past.isSealed ? .sealed : .network)
  }

  fileprivate func canBeInquired(_ acquirer: AcquirerCapabilities) -> Bool {
    acquirer.inquiry || acquirer.inquiryByName && acquirerReference != nil
  }

  func mayRepeat(_ acquirer: AcquirerCapabilities) -> Bool {
    guard let past, kind != .authorize else { return false }
    return acquirer.mayRepeat(after: past.leasedAt.since(past.sentAt))
  }

  /// Whether no request of this operation can be on its way any more.
  func isSilent(_ acquirer: AcquirerCapabilities) -> Bool {
    guard let past, let sentUntil = past.sentUntil else { return false }
    return past.leasedAt >= sentUntil.adding(acquirer.settleHorizon)
  }

  /// Whether no request of the authorization that a reversal undoes can be under way any more.
  fileprivate func isQuiet(_ acquirer: AcquirerCapabilities) -> Bool {
    guard let past else { return false }
    return past.leasedAt >= past.quietSince.adding(acquirer.settleHorizon)
  }
}

extension InquiredOperation {
  fileprivate init(_ kind: OperationKind) {
    switch kind {
    case .authorize: self = .authorization
    case .capture: self = .capture
    case .void, .reverse: self = .void
    case .increment: self = .increment
    case .refund, .chargeback, .chargebackReversal: self = .refund
    }
  }
}
