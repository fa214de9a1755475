/// What an acquirer answered, including pending and unknown outcomes.
public enum AcquirerAnswer: Sendable, Hashable {
  /// It was done.
  case approved(Approval)
  /// It was refused. Whether the same may be approved later is the decline's class.
  case declined(Decline)
  /// The provider answers later; an inquiry or its webhook resolves the outcome.
  case pending(Pending)
  /// The outcome is unknown: the connection broke, the answer was invalid, or time ran out. Never treated as declined.
  case unknown(Interruption)
  /// No byte of the request was sent, so nothing happened at the acquirer. The text says why, for the operator.
  case notSent(String)
}

/// The acquirer approved the request, or a part of it.
public struct Approval: Sendable, Hashable {
  /// The acquirer's own name for the operation.
  public let acquirerReference: String
  /// Six characters from the issuer; only for authorizations.
  public let authorizationCode: String?
  /// The scheme's transaction identifier, which later merchant-initiated payments must quote.
  public let networkTransactionID: String?
  /// Mastercard's transaction link identifier, which later payments quote beside it.
  public let networkLinkID: String?
  /// The provider's name of the credential that it keeps for later payments; never a number of the card.
  public let storedReference: String?
  /// What was approved; nil when it is the amount that was asked for. An authorization that is approved for less does
  /// not pay its order.
  public let approvedAmount: Amount?

  /// An approval with the acquirer's data.
  public init(
    acquirerReference: String, authorizationCode: String? = nil, networkTransactionID: String? = nil,
    approvedAmount: Amount? = nil, networkLinkID: String? = nil, storedReference: String? = nil
  ) {
    self.networkLinkID = networkLinkID
    self.storedReference = storedReference
    self.acquirerReference = acquirerReference
    self.authorizationCode = authorizationCode
    self.networkTransactionID = networkTransactionID
    self.approvedAmount = approvedAmount
  }
}

/// The acquirer, the scheme or the issuer refused.
public struct Decline: Sendable, Hashable, Error {
  /// The kind of refusal, which decides what the shopper reads.
  public let reason: DeclineReason
  /// The code on the wire, for the operator: an ISO 8583 response code or the provider's own.
  public let code: String

  /// A decline with its reason and the acquirer's code.
  public init(reason: DeclineReason, code: String) {
    self.reason = reason
    self.code = code
  }

  /// Whether the same request may be approved later, and who must act first.
  public var declineClass: DeclineClass { reason.declineClass }
}

/// Whether a request that was declined may be approved later. The connector's decline table decides it with the reason.
public enum DeclineClass: String, Sendable, Hashable, Codable, CaseIterable {
  /// A repeat of the request would be declined again.
  case final
  /// A temporary failure at the issuer, the network or the provider: a repeat may be approved later.
  case retriable
  /// The credentials, the request or the account at the provider is wrong: the same request may be approved after the
  /// operator corrects it.
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
  /// The issuer or the network suspects fraud.
  case suspectedFraud = "suspected_fraud"
  /// This card may not be used for this.
  case notPermitted = "not_permitted"
  /// More, or more often, than the card allows.
  case limitExceeded = "limit_exceeded"
  /// There is no such card.
  case invalidCard = "invalid_card"
  /// The one-time cryptogram was not accepted: the payment token is old or was replaced.
  case cryptogramInvalid = "cryptogram_invalid"
  /// The issuer wants the shopper to prove who they are.
  case authenticationRequired = "authentication_required"
  /// The issuer or a system on the way to it is unavailable; another attempt may be approved.
  case issuerUnavailable = "issuer_unavailable"
  /// The request or the account at the acquirer is wrong; the shopper can do nothing.
  case configuration
  /// The hold has expired or was voided. Only captures and voids are declined for this reason.
  case holdEnded = "hold_ended"
  /// The issuer approved less than was asked for. The gateway declines the payment and reverses what is held.
  case approvedForLess = "approved_for_less"
  /// A code that is in no table.
  case other
}

extension DeclineReason {
  /// Whether the same request may be approved later, and who must act first.
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
  /// The reference for inquiries, which the provider's event also names.
  public let acquirerReference: String
  /// A request that the provider keeps under this name.
  public init(acquirerReference: String) { self.acquirerReference = acquirerReference }
}

/// Why the outcome of a request is not known.
public struct Interruption: Sendable, Hashable {
  /// What kind of interruption it was; all of them may have been approved.
  public enum Kind: String, Sendable, Hashable, Codable {
    /// No answer in time; the connection broke; an invalid answer; a server error; or the acquirer reports an unknown
    /// outcome.
    case timeout, connectionLost, unintelligibleAnswer, serverError, acquirerUncertain
  }
  /// What happened.
  public let kind: Kind
  /// For the operator; never card data.
  public let detail: String

  /// An unknown outcome and its cause.
  public init(_ kind: Kind, detail: String = "") {
    self.kind = kind
    self.detail = detail
  }
}
