public import TenderPayments

/// A request to hold money. Only the gateway makes one, out of an instrument that it has confirmed against the order
/// and an attempt that is durable.
public struct AuthorizationRequest: Sendable {
  /// Our name of the operation.
  public let reference: AttemptReference
  public let merchantReference: String
  public let amount: Amount
  public let instrument: PaymentInstrument

  package init(
    reference: AttemptReference, merchantReference: String, amount: Amount, instrument: PaymentInstrument
  ) {
    self.reference = reference
    self.merchantReference = merchantReference
    self.amount = amount
    self.instrument = instrument
  }
}

/// A request that follows an authorization: a capture, a void, a refund.
public struct FollowUpRequest: Sendable, Hashable {
  /// Our name of this operation.
  public let reference: AttemptReference
  /// The acquirer's name of the authorization.
  public let authorization: String
  public let amount: Amount
  /// Whether this capture is the last one: the acquirer lets go of the rest.
  public let isFinal: Bool

  package init(reference: AttemptReference, authorization: String, amount: Amount, isFinal: Bool = false) {
    self.reference = reference
    self.authorization = authorization
    self.amount = amount
    self.isFinal = isFinal
  }
}

/// A question about an operation, or the wish to undo it, by the one name that both sides know for certain: ours.
public struct InquiryRequest: Sendable, Hashable {
  public let reference: AttemptReference
  /// What the operation was about. An answer about another amount is not its answer.
  public let amount: Amount

  package init(reference: AttemptReference, amount: Amount) {
    self.reference = reference
    self.amount = amount
  }
}
