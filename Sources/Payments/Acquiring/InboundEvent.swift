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

/// What one call of a provider says, and how its receipt is acknowledged.
package struct EventBatch: Sendable, Hashable {
  /// In the order in which the provider gives them.
  package let events: [AcquirerEvent]
  /// What the provider expects as the answer once every event is recorded.
  package let acknowledgement: Acknowledgement
  /// How many items are authentic and say nothing of our money: tests, kinds that are not known, another mode.
  package var passedOver = 0
  /// For each item about another account than the route's, the provider's name of it: see
  /// ``AcquirerCapabilities/eventAccounts``.
  package var otherAccounts: [String] = []
  /// Why the call is refused once its events are recorded, so that the provider sends it again: an item is about money
  /// and cannot be read.
  package var refusal: EventRefusal?

  package init(events: [AcquirerEvent], acknowledgement: Acknowledgement = .received) {
    self.events = events
    self.acknowledgement = acknowledgement
  }

  /// One item that says nothing of our money.
  package static let nothing: EventBatch = {
    var batch = EventBatch(events: [])
    batch.passedOver = 1
    return batch
  }()

  /// One item about another account.
  package static func of(_ account: String) -> EventBatch {
    var batch = EventBatch(events: [])
    batch.otherAccounts = [account]
    return batch
  }

  /// The call with other events. One that cannot be read keeps none of the others back.
  ///
  /// - Parameter read: returns nil for what says nothing of our money.
  /// - Throws: the refusal, where the call says nothing else.
  package func reading<Item>(
    _ items: [Item], _ read: (Item) throws(EventRefusal) -> AcquirerEvent?
  ) throws(EventRefusal) -> EventBatch {
    var (events, passedOver, refusal): ([AcquirerEvent], Int, EventRefusal?) = ([], self.passedOver, self.refusal)
    for item in items {
      do throws(EventRefusal) {
        if let event = try read(item) { events.append(event) } else { passedOver += 1 }
      } catch { refusal = error }
    }
    if let refusal, events.isEmpty, passedOver == 0, otherAccounts.isEmpty { throw refusal }
    var batch = EventBatch(events: events, acknowledgement: acknowledgement)
    (batch.passedOver, batch.otherAccounts, batch.refusal) = (passedOver, otherAccounts, refusal)
    return batch
  }
}

/// The answer by which a provider knows that it need not send an event again.
package struct Acknowledgement: Sendable, Hashable {
  package let status: Int
  package let contentType: String
  package let body: String

  package init(status: Int = 200, contentType: String, body: String) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// For providers that look at the status only.
  package static let received = Acknowledgement(contentType: "application/json", body: #"{"received":true}"#)
}

/// What an authentic event says about one operation, or about money of one payment.
package struct AcquirerEvent: Sendable, Hashable {
  /// The provider's name of the event: a second one of this name is the same event.
  package let id: String
  package let subject: Subject
  package let amount: Amount
  package let content: Content
  /// The provider's name of what moved the money, where no operation of ours did; nil where it gives none.
  package let name: String?

  package init(id: String, subject: Subject, amount: Amount, content: Content, name: String? = nil) {
    self.id = id
    self.subject = subject
    self.amount = amount
    self.content = content
    self.name = name
  }

  /// An answer to one of our operations, by our name of it.
  package init(id: String, reference: AttemptReference, amount: Amount, answer: AcquirerAnswer) {
    self.init(id: id, subject: .operation(reference), amount: amount, content: .answer(answer))
  }

  /// What the event is about, by the name that the provider gives.
  package enum Subject: Sendable, Hashable {
    /// Our name of the operation.
    case operation(AttemptReference)
    /// The provider's name of the operation.
    case acquirerOperation(String)
    /// The provider's name of an operation that was done, which a person may have begun: then it moved the money of the
    /// authorization of that name.
    case operationOfAnyone(called: String, of: String, moving: MoneyMovement)
    /// The provider's name of a reversal, and our name of the authorization: the answer that gave the name may be lost.
    case reversal(of: AttemptReference, called: String)
    /// The provider's name of the authorization: for money that no operation of ours asked for.
    case authorization(String)
  }

  /// The event as a movement of money, where the operation may be a person's.
  package var asMovement: AcquirerEvent? {
    guard case .operationOfAnyone(let name, let authorization, let movement) = subject else { return nil }
    return AcquirerEvent(
      id: id, subject: .authorization(authorization), amount: amount, content: .movement(movement), name: name)
  }

  package enum Content: Sendable, Hashable {
    /// The answer to an operation of ours.
    case answer(AcquirerAnswer)
    /// What an operation of ours did has come back. Its approval was sent before, and may arrive later.
    case returned(Decline)
    /// Money moved, and no operation of ours asked for it.
    case movement(MoneyMovement)
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
  /// Authentic, and about a payment of another route of ours, whose own keys have not signed it.
  case ofAnotherRoute = "event_of_another_route"
}

extension EventRefusal {
  /// For the operator.
  package var reason: String {
    switch self {
    case .notExpected: "this acquirer sends no events"
    case .notAuthentic: "the event's signature is missing, wrong or older than five minutes"
    case .unintelligible: "the event is authentic and cannot be read"
    case .ofAnotherRoute: "the event is of another route: have the provider send it there, or give both the same key"
    }
  }
}
