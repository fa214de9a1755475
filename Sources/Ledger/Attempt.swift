public import TenderPayments

/// What an acquirer can be asked to do to a payment.
public enum OperationKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// Hold money.
  case authorize
  /// Take held money.
  case capture
  /// Let go of what is held and not taken.
  case void
  /// Give back taken money.
  case refund
  /// The gateway's own undo of an authorization whose answer never came.
  case reverse
}

/// How far an operation has come.
public enum OperationState: String, Sendable, Hashable, Codable, CaseIterable {
  /// Written; the acquirer is being asked, or the process died while it was.
  case sending
  case approved
  case declined
  /// The acquirer will say later.
  case pending
  /// Nobody knows what the acquirer did.
  case unknown
  /// Provably nothing reached the acquirer.
  case failed

  /// Whether an answer is still to come.
  public var isOpen: Bool {
    switch self {
    case .sending, .pending, .unknown: true
    case .approved, .declined, .failed: false
    }
  }
}

/// The right to ask the acquirer once. It exists only after it is durable: only the journal makes one.
public struct Attempt: Sendable, Hashable {
  /// Our name of the operation at the acquirer, which an inquiry asks for.
  public let reference: AttemptReference
  public let payment: PaymentID
  public let kind: OperationKind
  public let amount: Amount
  /// The acquirer's name of the authorization that this operation follows; nil for the authorization itself.
  public let authorization: String?
  /// Counts the takeovers of this operation. An answer that comes back to a former holder is dropped.
  let fence: Int64
}

/// What came of claiming an order for a payment token.
public enum Claim: Sendable, Hashable {
  /// The attempt is durable: ask the acquirer.
  case new(Attempt)
  /// The order, or this very payment token, has its answer already: give it again.
  case known(Payment)
  /// The order's payment is not settled yet.
  case running(Payment)
  /// The payment token has paid another order.
  case tokenReused
}

/// One operation as the ledger keeps it, for the people who look after payments.
public struct OperationRecord: Sendable, Hashable {
  public let reference: AttemptReference
  public let kind: OperationKind
  public let amount: Amount
  public let state: OperationState
  public let acquirerReference: String?
  /// The response code of a decline, or the kind of interruption.
  public let code: String?
  public let sentAt: Timestamp
  public let answeredAt: Timestamp?
}

/// What the shopper has been told. Once it was *failure*, a late approval may only be reversed.
public enum Telling: String, Sendable, Hashable, Codable {
  case success, pending, failure

  init(_ status: PaymentStatus) {
    switch status {
    case .authorizing, .pending, .unknown: self = .pending
    case .declined, .failed, .voided: self = .failure
    case .authorized, .partiallyCaptured, .captured, .partiallyRefunded, .refunded: self = .success
    }
  }
}
