/// What an acquirer answered. The awkward truths are cases, so that every `switch` meets them.
public enum AcquirerAnswer: Sendable, Hashable {
  case approved(Approval)
  case declined(Decline)
  /// The provider will say later; settled by inquiry or by its webhook.
  case pending(Pending)
  /// Nobody knows: the wire broke, the answer made no sense, or time ran out. Never the same as declined.
  case unknown(Interruption)
  /// Provably not one byte of the request left, so nothing happened there. Why, for the operator.
  case notSent(String)
}

/// The acquirer did what was asked.
public struct Approval: Sendable, Hashable {
  /// The acquirer's own name for the operation.
  public let acquirerReference: String
  /// Six characters from the issuer; only for authorizations.
  public let authorizationCode: String?
  /// The scheme's transaction identifier, which later merchant-initiated payments must quote.
  public let networkTransactionID: String?

  public init(acquirerReference: String, authorizationCode: String? = nil, networkTransactionID: String? = nil) {
    self.acquirerReference = acquirerReference
    self.authorizationCode = authorizationCode
    self.networkTransactionID = networkTransactionID
  }
}

/// The acquirer, the scheme or the issuer said no.
public struct Decline: Sendable, Hashable, Error {
  public let reason: DeclineReason
  /// The code on the wire, for the operator: an ISO 8583 response code or the provider's own.
  public let code: String

  public init(reason: DeclineReason, code: String) {
    self.reason = reason
    self.code = code
  }
}

/// Why a payment was declined, in the few kinds that lead to different behaviour.
public enum DeclineReason: String, Sendable, Hashable, Codable, CaseIterable {
  case doNotHonor = "do_not_honor"
  case insufficientFunds = "insufficient_funds"
  case expiredCard = "expired_card"
  case lostOrStolen = "lost_or_stolen"
  case suspectedFraud = "suspected_fraud"
  case notPermitted = "not_permitted"
  case limitExceeded = "limit_exceeded"
  case invalidCard = "invalid_card"
  case cryptogramInvalid = "cryptogram_invalid"
  case authenticationRequired = "authentication_required"
  case issuerUnavailable = "issuer_unavailable"
  /// Our request or our account at the acquirer is wrong; the shopper can do nothing.
  case configuration
  case other
}

/// The provider has taken the request and will answer later.
public struct Pending: Sendable, Hashable {
  public let acquirerReference: String
  public init(acquirerReference: String) { self.acquirerReference = acquirerReference }
}

/// Why the outcome of a request is not known.
public struct Interruption: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, Codable {
    case timeout, connectionLost, unintelligibleAnswer, serverError, acquirerUncertain
  }
  public let kind: Kind
  /// For the operator; never card data.
  public let detail: String

  public init(_ kind: Kind, detail: String = "") {
    self.kind = kind
    self.detail = detail
  }
}
