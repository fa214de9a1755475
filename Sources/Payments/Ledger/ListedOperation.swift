package import TenderPayments

/// An operation that a provider lists, or a report or a merchant's orders name: done, or taken on.
package struct ListedOperation: Sendable, Hashable {
  package enum Result: Sendable, Hashable {
    case approved
    case declined
    /// The provider has not decided it.
    case pending
  }

  /// Our name of it; the provider's, of what no operation of ours asked for. A reversal has its authorization's.
  package let reference: AttemptReference
  package let kind: OperationKind
  package let amount: Amount
  package let time: Timestamp
  /// Our name of the authorization; nil where that is not said.
  package let authorization: AttemptReference?
  /// The provider's name of it, by which what follows an authorization is asked for.
  package let name: String?
  package let result: Result
  /// Whether it is an authorization that was reversed since, so that it holds nothing.
  package let isReversed: Bool

  package init(
    reference: AttemptReference, kind: OperationKind, amount: Amount, time: Timestamp,
    authorization: AttemptReference? = nil, name: String? = nil, result: Result = .approved, isReversed: Bool = false
  ) {
    (self.reference, self.kind, self.amount, self.time) = (reference, kind, amount, time)
    (self.authorization, self.name) = (authorization, name)
    (self.result, self.isReversed) = (result, isReversed)
  }

  /// Nil for what a person did with a hold: Stripe lists a capture under the time of its intent.
  func ownTime(at now: Timestamp) -> Timestamp? {
    BasketMark.time(of: reference, at: now) ?? (kind == .authorize ? time : nil)
  }

  /// Whether it ends a hold. Providers name the authorized amount then, also where a part was captured.
  var endsHold: Bool { kind.endsHold }

  /// As the journal has what ended a hold that it knows.
  var bookedKind: OperationKind { endsHold ? .void : kind }

  /// Whether its reference is our own name of it. A reversal has its authorization's.
  func isOurs(at now: Timestamp) -> Bool {
    kind != .reverse && BasketMark.time(of: reference, at: now) != nil
  }
}

extension OperationKind {
  var endsHold: Bool { self == .void || self == .reverse }
}
