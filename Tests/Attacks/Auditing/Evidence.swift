/// Everything that four parties wrote down, each on its own: Tender's journal, the acquirer's ledger, the client's
/// journal, and what arrived at the merchant's server.
package struct Evidence: Sendable {
  package var orders: [PlannedOrder] = []
  package var payments: [JournalPayment] = []
  package var operations: [JournalOperation] = []
  package var outbox: [BookedEvent] = []
  package var holds: [AcquirerHold] = []
  package var calls: [ClientCall] = []
  package var keyed: [KeyedCall] = []
  package var followUps: [FollowUpCall] = []
  package var charges: [ChargeCall] = []
  package var deliveries: [SinkDelivery] = []
  /// Deliveries that the engine gave up and an operator sent again. They arrive after those that came later.
  package var deadLetters: Set<DeadLetter> = []
  /// Which acquirer was asked about which operation, of every request that arrived anywhere.
  package var questions: Set<AcquirerQuestion> = []
  /// Voids that arrived at the acquirer before the hold had come to its end, by our reference, in true time.
  package var earlyVoids: Set<String> = []
  /// Idempotency keys that were older than their promised memory before they had a final answer.
  package var outlivedKeys: Set<String> = []
  /// Routes whose acquirer answers no inquiries.
  package var unaskable: Set<String> = []
  /// Operations whose final answer came as an event, by our reference, and was acknowledged.
  package var reported: Set<String> = []
  /// Events that came through another route than that of the operation that they name.
  package var foreignEvents: Set<String> = []
  /// Events that the journal posted.
  package var believedEvents: Set<String> = []
  /// Changes that an event asked for and the state table does not allow.
  package var impossibleChanges: Set<String> = []
  /// The violations of the audit chain.
  package var chain: [String] = []
  /// Holds that nothing accounted for any more before they expired.
  package var heldForNothing: Set<String> = []
  /// Secrets of the run that were found where they must not be.
  package var leaks: [String] = []

  package init() {}
}

/// What a shopper agreed to pay.
package struct PlannedOrder: Sendable, Hashable {
  package let id: String
  package let amount: Int64
  package let currency: String

  package init(id: String, amount: Int64, currency: String) {
    (self.id, self.amount, self.currency) = (id, amount, currency)
  }
}

/// A row of `payments`.
package struct JournalPayment: Sendable, Hashable {
  package var id: String
  package var order: String
  package var status: String
  package var isLive: Bool
  package var amount: Int64
  package var currency: String
  package var authorized: Int64
  package var captured: Int64
  package var refunded: Int64
  package var chargedBack: Int64
  /// In flight, of any kind.
  package var reserved: Int64
  package var reportedOutcome: String?
  /// Every reason for which a person was called to this payment, acknowledged or not.
  package var alarms: Set<String>
  package var isCaptureDue: Bool
  /// Whether the order wanted its money taken at once.
  package var capturesAtOnce: Bool
  /// The acquirer that the payment was made with.
  package var connector: String

  package init(
    id: String, order: String, status: String, isLive: Bool, amount: Int64, currency: String, authorized: Int64,
    captured: Int64, refunded: Int64, chargedBack: Int64 = 0, reserved: Int64 = 0, reportedOutcome: String? = nil,
    alarms: Set<String> = [],
    isCaptureDue: Bool = false, capturesAtOnce: Bool = false, connector: String = ""
  ) {
    (self.id, self.order, self.status, self.isLive) = (id, order, status, isLive)
    (self.amount, self.currency) = (amount, currency)
    (self.authorized, self.captured, self.refunded, self.reserved) = (authorized, captured, refunded, reserved)
    (self.reportedOutcome, self.alarms, self.isCaptureDue) = (reportedOutcome, alarms, isCaptureDue)
    (self.capturesAtOnce, self.connector, self.chargedBack) = (capturesAtOnce, connector, chargedBack)
  }
}

/// A row of `operations`.
package struct JournalOperation: Sendable, Hashable {
  package var reference: String
  package var payment: String
  package var kind: String
  package var state: String
  package var amount: Int64
  /// Who wanted it.
  package var cause: String
  /// Where it went; empty where the record does not say.
  package var route: String
  /// The first operation of the request that asked for it, where that is another one.
  package var partOf: String?
  /// As merchants know it: its payment and its place among the payment's operations.
  package var name: String

  package init(
    reference: String, payment: String, kind: String, state: String, amount: Int64, cause: String = "merchant",
    route: String = "", partOf: String? = nil, number: Int64 = 0
  ) {
    (self.reference, self.payment, self.kind, self.state, self.amount) = (reference, payment, kind, state, amount)
    (self.cause, self.route, self.partOf, self.name) = (cause, route, partOf, "\(payment)_\(number)")
  }

  var isOpen: Bool { ["sending", "pending", "unknown"].contains(state) }
}

/// A row of `outbox`.
package struct BookedEvent: Sendable, Hashable {
  package var payment: String
  package var sequence: Int64
  package var news: News

  package init(payment: String, sequence: Int64, news: News) {
    (self.payment, self.sequence, self.news) = (payment, sequence, news)
  }

  /// What an event says of its payment; balances in minor units.
  package struct News: Sendable, Hashable {
    package var status: String
    package var captured: Int64
    package var refunded: Int64

    package init(_ status: String, captured: Int64 = 0, refunded: Int64 = 0) {
      (self.status, self.captured, self.refunded) = (status, captured, refunded)
    }
  }
}

/// An authorization in the acquirer's own ledger, approved or not.
package struct AcquirerHold: Sendable, Hashable {
  package var reference: String
  /// The merchant's name of the order.
  package var order: String
  /// By what the acquirer would know the same payment token again.
  package var token: String
  package var amount: Int64
  package var currency: String
  package var wasApproved: Bool
  /// What stands: held and not let go of, taken or not.
  package var authorized: Int64
  package var captured: Int64
  package var refunded: Int64
  /// Whether the acquirer approved, or is going to approve, less than was asked for.
  package var isForLess: Bool
  /// Whether the acquirer releases what a final capture left only when the hold expires.
  package var keepsRest: Bool

  package init(
    reference: String, order: String, token: String, amount: Int64, currency: String, wasApproved: Bool,
    authorized: Int64, captured: Int64, refunded: Int64, isForLess: Bool = false, keepsRest: Bool = false
  ) {
    (self.isForLess, self.keepsRest) = (isForLess, keepsRest)
    (self.reference, self.order, self.token) = (reference, order, token)
    (self.amount, self.currency, self.wasApproved) = (amount, currency, wasApproved)
    (self.authorized, self.captured, self.refunded) = (authorized, captured, refunded)
  }

  /// Whether money is held or was taken.
  var stands: Bool { wasApproved && authorized > 0 }
}

/// An answer that a client received, written by the client.
package struct ClientCall: Sendable, Hashable {
  package enum Outcome: String, Sendable, Hashable {
    case success, failure, pending
    /// Refused. The refusal may mean that another call is under way.
    case refused
    /// Refused with the promise that this call did nothing.
    case nothing
    /// The client has asked; the answer, if it got one, is another entry.
    case asked
  }

  package var order: String
  /// Which payment token, or which idempotency key.
  package var key: String
  package var outcome: Outcome
  package var payment: String?
  /// The balances that came with the answer.
  package var captured: Int64
  package var refunded: Int64

  package init(
    order: String, key: String, outcome: Outcome, payment: String?, captured: Int64 = 0, refunded: Int64 = 0
  ) {
    (self.order, self.key, self.outcome, self.payment) = (order, key, outcome, payment)
    (self.captured, self.refunded) = (captured, refunded)
  }
}

/// A merchant's request under an idempotency key, or its answer. On a payment it uses keys for everything, or for
/// nothing.
package struct KeyedCall: Sendable, Hashable {
  package struct Reply: Sendable, Hashable {
    /// The operation that it names.
    package var operation: String
    package var body: String
    /// Whether it said to be the answer for good.
    package var isFinal: Bool
    /// Whether it said that the payment waits for the capture that it asked for. What came of that capture may follow.
    package var waits: Bool

    package init(operation: String, body: String, isFinal: Bool, waits: Bool = false) {
      (self.operation, self.body, self.isFinal, self.waits) = (operation, body, isFinal, waits)
    }
  }

  package var key: String
  /// The payment; of an authorization the order, because its payment has no name yet.
  package var payment: String
  package var kind: String
  /// Nil for the request; the answer is another entry.
  package var reply: Reply?

  package init(key: String, payment: String, kind: String, reply: Reply? = nil) {
    (self.key, self.payment, self.kind, self.reply) = (key, payment, kind, reply)
  }
}

/// A merchant's call that charges a period of an agreement, or the order that began it with its first period.
package struct ChargeCall: Sendable, Hashable {
  /// The merchant's name of it, which the acquirer knows.
  package var order: String
  package var agreement: String
  package var period: Int64
  /// Whether the agreement had ended before: so an answer had said, or its terms say.
  package var isAfterEnd: Bool
  /// Whether an answer had said before that the card must never be tried again.
  package var isAfterStop: Bool
  /// Whether the server had followed Apple's notification before that the card is unlinked.
  package var isAfterUnlink: Bool

  package init(
    order: String, agreement: String, period: Int64, isAfterEnd: Bool = false, isAfterStop: Bool = false,
    isAfterUnlink: Bool = false
  ) {
    (self.order, self.agreement, self.period) = (order, agreement, period)
    (self.isAfterEnd, self.isAfterStop, self.isAfterUnlink) = (isAfterEnd, isAfterStop, isAfterUnlink)
  }
}

/// A merchant's call for a capture, void, refund or increment, or an answer to it that promises that nothing was done.
package struct FollowUpCall: Sendable, Hashable {
  /// Its idempotency key; without one, a name of its own.
  package var name: String
  package var payment: String
  package var kind: String
  /// ``ClientCall/Outcome/asked`` or ``ClientCall/Outcome/nothing``.
  package var outcome: ClientCall.Outcome

  package init(name: String, payment: String, kind: String, outcome: ClientCall.Outcome) {
    (self.name, self.payment, self.kind, self.outcome) = (name, payment, kind, outcome)
  }
}

/// A webhook delivery that was given up after its last try.
package struct DeadLetter: Sendable, Hashable {
  package var payment: String
  package var sequence: Int64

  package init(payment: String, sequence: Int64) { (self.payment, self.sequence) = (payment, sequence) }
}

/// A request that arrived at an acquirer.
package struct AcquirerQuestion: Sendable, Hashable {
  package var connector: String
  /// Our reference of the operation that it is about.
  package var reference: String

  package init(connector: String, reference: String) { (self.connector, self.reference) = (connector, reference) }
}

/// A webhook as the merchant's server took it, in the order of arrival.
package struct SinkDelivery: Sendable, Hashable {
  package var payment: String
  package var sequence: Int64
  package var news: BookedEvent.News
  package var id: String
  package var isAuthentic: Bool

  package init(payment: String, sequence: Int64, news: BookedEvent.News, id: String, isAuthentic: Bool) {
    (self.payment, self.sequence, self.news, self.id) = (payment, sequence, news, id)
    self.isAuthentic = isAuthentic
  }
}
