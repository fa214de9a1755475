package import HTTPTransport
package import TenderPayments

/// A call that an acquirer or provider made by itself, as it arrived.
package struct InboundEvent: Sendable {
  package let headers: [HTTPField]
  /// The bytes that were signed, as they arrived.
  package let body: [UInt8]
  package let arrivedAt: Timestamp

  package init(headers: [HTTPField], body: [UInt8], arrivedAt: Timestamp) {
    self.headers = headers
    self.body = body
    self.arrivedAt = arrivedAt
  }

  /// The first header of this name, whatever its case.
  package func header(_ name: String) -> String? { headers.first(named: name) }
}

/// What an authentic event says about one operation.
package struct AcquirerEvent: Sendable, Hashable {
  /// The provider's name of the event: a second one of this name is the same event.
  package let id: String
  /// Our name of the operation.
  package let reference: AttemptReference
  package let amount: Amount
  package let answer: AcquirerAnswer

  package init(id: String, reference: AttemptReference, amount: Amount, answer: AcquirerAnswer) {
    self.id = id
    self.reference = reference
    self.amount = amount
    self.answer = answer
  }
}

/// Why an event is not believed, or not understood.
package enum EventRefusal: String, Error, Sendable, Hashable, CaseIterable {
  /// The acquirer of this connector sends no events.
  case notExpected = "event_not_expected"
  /// The signature is missing or wrong, or too old to be believed again.
  case notAuthentic = "event_not_authentic"
  /// Authentic, and not of the form that was agreed.
  case unintelligible = "event_unintelligible"
}

extension EventRefusal {
  /// For the operator.
  package var reason: String {
    switch self {
    case .notExpected: "this acquirer sends no events"
    case .notAuthentic: "the event's signature is missing, wrong or older than five minutes"
    case .unintelligible: "the event is authentic and cannot be read"
    }
  }
}
