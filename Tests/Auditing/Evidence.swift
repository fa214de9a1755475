/// Everything that four parties wrote down, each on its own: Tender's journal, the acquirer's ledger, the client's
/// journal, and what arrived at the merchant's server.
public struct Evidence: Sendable {
  public var orders: [PlannedOrder] = []
  public var payments: [BookedPayment] = []
  public var operations: [BookedMove] = []
  public var outbox: [BookedEvent] = []
  public var holds: [AcquirerHold] = []
  public var calls: [ClientCall] = []
  public var keyed: [KeyedCall] = []
  public var deliveries: [SinkDelivery] = []
  /// Deliveries that the engine gave up and an operator sent again. They arrive after those that came later.
  public var deadLetters: Set<DeadLetter> = []
  /// Which acquirer was asked about which operation, of every request that arrived anywhere.
  public var questions: Set<AcquirerQuestion> = []
  /// Voids that arrived at the acquirer before the hold had come to its end, by our reference, in true time.
  public var earlyVoids: Set<String> = []
  /// Idempotency keys that were older than their promised memory before they had a final answer.
  public var outlivedKeys: Set<String> = []
  /// What reading the audit chain complained of.
  public var chain: [String] = []
  /// Secrets of the run that were found where they must not be.
  public var leaks: [String] = []

  public init() {}
}

/// What a shopper agreed to pay.
public struct PlannedOrder: Sendable, Hashable {
  public let id: String
  public let amount: Int64
  public let currency: String

  public init(id: String, amount: Int64, currency: String) {
    (self.id, self.amount, self.currency) = (id, amount, currency)
  }
}

/// A row of `payments`.
public struct BookedPayment: Sendable, Hashable {
  public var id: String
  public var order: String
  public var status: String
  public var isLive: Bool
  public var amount: Int64
  public var currency: String
  public var authorized: Int64
  public var captured: Int64
  public var refunded: Int64
  /// In flight, of any kind.
  public var reserved: Int64
  public var told: String?
  /// Every reason for which a person was called to this payment, acknowledged or not.
  public var alarms: Set<String>
  public var isCaptureDue: Bool
  /// Whether the order wanted its money taken at once.
  public var capturesAtOnce: Bool
  /// The acquirer that the payment was made with.
  public var connector: String

  public init(
    id: String, order: String, status: String, isLive: Bool, amount: Int64, currency: String, authorized: Int64,
    captured: Int64, refunded: Int64, reserved: Int64 = 0, told: String? = nil, alarms: Set<String> = [],
    isCaptureDue: Bool = false, capturesAtOnce: Bool = false, connector: String = ""
  ) {
    (self.id, self.order, self.status, self.isLive) = (id, order, status, isLive)
    (self.amount, self.currency) = (amount, currency)
    (self.authorized, self.captured, self.refunded, self.reserved) = (authorized, captured, refunded, reserved)
    (self.told, self.alarms, self.isCaptureDue) = (told, alarms, isCaptureDue)
    (self.capturesAtOnce, self.connector) = (capturesAtOnce, connector)
  }
}

/// A row of `operations`.
public struct BookedMove: Sendable, Hashable {
  public var reference: String
  public var payment: String
  public var kind: String
  public var state: String
  public var amount: Int64
  /// Who wanted it.
  public var cause: String

  public init(
    reference: String, payment: String, kind: String, state: String, amount: Int64, cause: String = "merchant"
  ) {
    (self.reference, self.payment, self.kind, self.state, self.amount) = (reference, payment, kind, state, amount)
    self.cause = cause
  }

  var isOpen: Bool { ["sending", "pending", "unknown"].contains(state) }
}

/// A row of `outbox`.
public struct BookedEvent: Sendable, Hashable {
  public var payment: String
  public var sequence: Int64
  public var news: News

  public init(payment: String, sequence: Int64, news: News) {
    (self.payment, self.sequence, self.news) = (payment, sequence, news)
  }

  /// What an event says of its payment; balances in minor units.
  public struct News: Sendable, Hashable {
    public var status: String
    public var captured: Int64
    public var refunded: Int64

    public init(_ status: String, captured: Int64 = 0, refunded: Int64 = 0) {
      (self.status, self.captured, self.refunded) = (status, captured, refunded)
    }
  }
}

/// An authorization in the acquirer's own ledger, approved or not.
public struct AcquirerHold: Sendable, Hashable {
  public var reference: String
  /// The merchant's name of the order.
  public var order: String
  /// By what the acquirer would know the same payment token again.
  public var token: String
  public var amount: Int64
  public var currency: String
  public var wasApproved: Bool
  /// What stands: held and not let go of, taken or not.
  public var authorized: Int64
  public var captured: Int64
  public var refunded: Int64

  public init(
    reference: String, order: String, token: String, amount: Int64, currency: String, wasApproved: Bool,
    authorized: Int64, captured: Int64, refunded: Int64
  ) {
    (self.reference, self.order, self.token) = (reference, order, token)
    (self.amount, self.currency, self.wasApproved) = (amount, currency, wasApproved)
    (self.authorized, self.captured, self.refunded) = (authorized, captured, refunded)
  }

  /// Whether money is held or was taken.
  var stands: Bool { wasApproved && authorized > 0 }
}

/// What a client was told, written by the client when it heard it.
public struct ClientCall: Sendable, Hashable {
  public enum Heard: String, Sendable, Hashable {
    case success, failure, pending
    /// Refused. The refusal may mean that another call is under way.
    case refused
    /// Refused with the promise that this call did nothing.
    case nothing
    /// The client has asked; what it heard, if it did, is another entry.
    case asked
  }

  public var order: String
  /// Which payment token, or which idempotency key.
  public var key: String
  public var heard: Heard
  public var payment: String?
  /// The balances that came with the answer.
  public var captured: Int64
  public var refunded: Int64

  public init(
    order: String, key: String, heard: Heard, payment: String?, captured: Int64 = 0, refunded: Int64 = 0
  ) {
    (self.order, self.key, self.heard, self.payment) = (order, key, heard, payment)
    (self.captured, self.refunded) = (captured, refunded)
  }
}

/// What a merchant asked for under an idempotency key, or heard of it. On a payment it uses keys for everything, or for
/// nothing.
public struct KeyedCall: Sendable, Hashable {
  public struct Reply: Sendable, Hashable {
    /// The operation that it names.
    public var operation: String
    public var body: String
    /// Whether it said to be the answer for good.
    public var isFinal: Bool

    public init(operation: String, body: String, isFinal: Bool) {
      (self.operation, self.body, self.isFinal) = (operation, body, isFinal)
    }
  }

  public var key: String
  /// The payment; of an authorization the order, because its payment has no name yet.
  public var payment: String
  public var kind: String
  /// Nil when it asked; what it heard is another entry.
  public var reply: Reply?

  public init(key: String, payment: String, kind: String, reply: Reply? = nil) {
    (self.key, self.payment, self.kind, self.reply) = (key, payment, kind, reply)
  }
}

/// A webhook delivery that was given up after its last try.
public struct DeadLetter: Sendable, Hashable {
  public var payment: String
  public var sequence: Int64

  public init(payment: String, sequence: Int64) { (self.payment, self.sequence) = (payment, sequence) }
}

/// A request that arrived at an acquirer.
public struct AcquirerQuestion: Sendable, Hashable {
  public var connector: String
  /// Our reference of the operation that it is about.
  public var reference: String

  public init(connector: String, reference: String) { (self.connector, self.reference) = (connector, reference) }
}

/// A webhook as the merchant's server took it, in the order of arrival.
public struct SinkDelivery: Sendable, Hashable {
  public var payment: String
  public var sequence: Int64
  public var news: BookedEvent.News
  public var id: String
  public var isAuthentic: Bool

  public init(payment: String, sequence: Int64, news: BookedEvent.News, id: String, isAuthentic: Bool) {
    (self.payment, self.sequence, self.news, self.id) = (payment, sequence, news, id)
    self.isAuthentic = isAuthentic
  }
}
