package import TenderPayments

/// A request to hold money. Only the gateway makes one, out of an instrument that it has confirmed against the order
/// and an attempt that is durable.
package struct AuthorizationRequest: Sendable {
  /// Our name of the operation.
  package let reference: AttemptReference
  package let merchantReference: String
  package let amount: Amount
  package let instrument: PaymentInstrument

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
package struct FollowUpRequest: Sendable, Hashable {
  /// Our name of this operation.
  package let reference: AttemptReference
  /// The acquirer's name of the authorization.
  package let authorization: String
  package let amount: Amount
  /// Whether this capture is the last one: the acquirer releases the rest.
  package let isFinal: Bool

  package init(reference: AttemptReference, authorization: String, amount: Amount, isFinal: Bool = false) {
    self.reference = reference
    self.authorization = authorization
    self.amount = amount
    self.isFinal = isFinal
  }
}

/// A question about an operation, or the wish to undo it, by the one name that both sides know for certain: ours.
package struct InquiryRequest: Sendable, Hashable {
  package let reference: AttemptReference
  /// What the operation was about. An answer about another amount is not its answer.
  package let amount: Amount

  package init(reference: AttemptReference, amount: Amount) {
    self.reference = reference
    self.amount = amount
  }
}
