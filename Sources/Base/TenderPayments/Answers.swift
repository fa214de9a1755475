/// What an acquirer answered. The awkward truths are cases, so that every `switch` meets them.
public enum AcquirerAnswer: Sendable, Hashable {
  /// It was done.
  case approved(Approval)
  /// It was refused. Whether the same may be approved later is the decline's class.
  case declined(Decline)
  /// The provider will say later; settled by inquiry or by its webhook.
  case pending(Pending)
  /// Nobody knows: the wire broke, the answer made no sense, or time ran out. Never the same as declined.
  case unknown(Interruption)
  /// Provably not one byte of the request left, so nothing happened there. Why, for the operator.
  case notSent(String)
}

/// The acquirer did what was asked, or a part of it.
public struct Approval: Sendable, Hashable {
  /// The acquirer's own name for the operation.
  public let acquirerReference: String
  /// Six characters from the issuer; only for authorizations.
  public let authorizationCode: String?
  /// The scheme's transaction identifier, which later merchant-initiated payments must quote.
  public let networkTransactionID: String?
  /// What was approved; nil when it is the amount that was asked for. An authorization that is approved for less does
  /// not pay its order.
  public let approvedAmount: Amount?

  /// What an acquirer tells of something that it did.
  public init(
    acquirerReference: String, authorizationCode: String? = nil, networkTransactionID: String? = nil,
    approvedAmount: Amount? = nil
  ) {
    self.acquirerReference = acquirerReference
    self.authorizationCode = authorizationCode
    self.networkTransactionID = networkTransactionID
    self.approvedAmount = approvedAmount
  }
}

/// The acquirer, the scheme or the issuer said no.
public struct Decline: Sendable, Hashable, Error {
  /// The kind of refusal, which decides what the shopper reads.
  public let reason: DeclineReason
  /// The code on the wire, for the operator: an ISO 8583 response code or the provider's own.
  public let code: String

  /// A refusal, in our words and in the acquirer's.
  public init(reason: DeclineReason, code: String) {
    self.reason = reason
    self.code = code
  }

  /// Whether the same request may be approved later, and who has to do something first.
  public var declineClass: DeclineClass { reason.declineClass }
}

/// Whether a request that was declined may be approved later. The connector's decline table decides it with the reason.
public enum DeclineClass: String, Sendable, Hashable, Codable, CaseIterable {
  /// The same request would be declined again.
  case final
  /// A fault of the moment at the issuer, the network or the provider: the same request may be approved later.
  case retriable
  /// Our credentials, our request or our account at the provider is wrong: the same request may be approved after the
  /// operator has corrected it.
  case configuration
}

/// Why a payment was declined, in the few kinds that lead to different behaviour.
public enum DeclineReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// The issuer gives no reason.
  case doNotHonor = "do_not_honor"
  /// The account does not cover it.
  case insufficientFunds = "insufficient_funds"
  /// The card is past its month.
  case expiredCard = "expired_card"
  /// The card was reported.
  case lostOrStolen = "lost_or_stolen"
  /// Somebody's rules took it for fraud.
  case suspectedFraud = "suspected_fraud"
  /// This card may not be used for this.
  case notPermitted = "not_permitted"
  /// More, or more often, than the card allows.
  case limitExceeded = "limit_exceeded"
  /// There is no such card.
  case invalidCard = "invalid_card"
  /// The one-time cryptogram was not accepted: the payment token is old, or it is another's.
  case cryptogramInvalid = "cryptogram_invalid"
  /// The issuer wants the shopper to prove who they are.
  case authenticationRequired = "authentication_required"
  /// The issuer or a system between it and us does not work at the moment; another attempt may be approved.
  case issuerUnavailable = "issuer_unavailable"
  /// Our request or our account at the acquirer is wrong; the shopper can do nothing.
  case configuration
  /// The acquirer holds no money for this payment any more: the hold has expired or was voided. Only captures and
  /// voids are declined for it.
  case holdEnded = "hold_ended"
  /// The issuer approved less than was asked for. The gateway declines the payment and reverses what is held.
  case approvedForLess = "approved_for_less"
  /// A code that is in no table.
  case other
}

extension DeclineReason {
  /// Whether the same request may be approved later, and who has to do something first.
  public var declineClass: DeclineClass {
    switch self {
    case .issuerUnavailable: .retriable
    case .configuration: .configuration
    case .doNotHonor, .insufficientFunds, .expiredCard, .lostOrStolen, .suspectedFraud, .notPermitted, .limitExceeded,
      .invalidCard, .cryptogramInvalid, .authenticationRequired, .holdEnded,
      .approvedForLess, .other:
      .final
    }
  }
}

/// The provider has taken the request and will answer later.
public struct Pending: Sendable, Hashable {
  /// What to ask for, and what the provider's event will name.
  public let acquirerReference: String
  /// A request that the provider keeps under this name.
  public init(acquirerReference: String) { self.acquirerReference = acquirerReference }
}

/// Why the outcome of a request is not known.
public struct Interruption: Sendable, Hashable {
  /// What kind of interruption it was; all of them may have been approved.
  public enum Kind: String, Sendable, Hashable, Codable {
    /// No answer in time; the line broke; an answer that is none; an error of the server's; or the acquirer says so
    /// itself.
    case timeout, connectionLost, unintelligibleAnswer, serverError, acquirerUncertain
  }
  /// What happened.
  public let kind: Kind
  /// For the operator; never card data.
  public let detail: String

  /// An outcome that is not known, and what is known of that.
  public init(_ kind: Kind, detail: String = "") {
    self.kind = kind
    self.detail = detail
  }
}
