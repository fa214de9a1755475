import Storage
package import TenderPayments

/// What an acquirer can be asked to do to a payment.
package enum OperationKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// Hold money.
  case authorize
  /// Capture held money.
  case capture
  /// Release what is held and not captured.
  case void
  /// Refund captured money.
  case refund
  /// Raise what is held.
  case increment
  /// The gateway's own undo of an authorization whose answer never came.
  case reverse
  /// The cardholder's bank took captured money back. Only a provider reports it.
  case chargeback
  /// A dispute ended in the merchant's favour. Only a provider reports it.
  case chargebackReversal = "chargeback_reversal"

  /// Whether it follows an authorization: a capture, void, refund or increment.
  var isFollowUp: Bool { [.capture, .void, .refund, .increment].contains(self) }
}

/// Who or what began an operation.
package enum OperationCause: String, Sendable, Hashable, Codable, CaseIterable {
  /// The authorized payment sheet.
  case shopper
  /// A call of the merchant, or of an operator at the command line.
  case merchant
  /// The order has immediate capture.
  case order
  /// The hold expired.
  case expiry
  /// Recovery, to reverse an authorization.
  case recovery
  /// The provider, a card scheme or a person in the provider's dashboard: no request of ours.
  case provider
  /// Done before the store was restored, lost with what it had, and adopted since.
  case restore

  /// As the table has it. A restored row, which no request of this store's asked for, has a column of its own.
  var stored: String { self == .restore ? OperationCause.provider.rawValue : rawValue }
}

extension Row {
  func cause() throws -> OperationCause { try integerOrNil("restored") == nil ? value("cause") : .restore }
}

/// The state of an operation.
package enum OperationState: String, Sendable, Hashable, Codable, CaseIterable {
  /// Written; the acquirer is being asked, or the process died while it was.
  case sending
  case approved
  case declined
  /// The acquirer will answer later.
  case pending
  /// It is not known what the acquirer did.
  case unknown
  /// Provably the acquirer did nothing.
  case failed
  /// An authorization that a reversal undid.
  case reversed
  /// A capture or refund that the acquirer approved first and returned later.
  case returned

  /// Whether an answer is still to come.
  package var isOpen: Bool {
    switch self {
    case .sending, .pending, .unknown: true
    case .approved, .declined, .failed, .reversed, .returned: false
    }
  }
}

/// The right to ask the acquirer once. It exists only after it is durable: only the journal makes one.
package struct Attempt: Sendable, Hashable {
  /// Our name of the operation at the acquirer, which an inquiry asks for.
  package internal(set) var reference: AttemptReference
  package let payment: PaymentID
  /// The only acquirer that may be asked: connector and account.
  package let route: String
  /// The merchant's account there, as the payment keeps it; nil where the route has only one.
  package let merchantAccount: String?
  /// The type of the payment's authorization, which decides what parts can be moved; nil where the provider has none.
  package let authorizationType: AuthorizationType?
  package let kind: OperationKind
  package let amount: Amount
  /// Whether this capture is the last one; what is left of the hold is released with it.
  package let isFinal: Bool
  /// Whether the amount is all that was authorized (a capture, a void) or all that the refunded capture took.
  package let isWhole: Bool
  /// The acquirer's name of the authorization that this operation follows; nil for the authorization itself.
  package let authorization: String?
  /// The acquirer's name of this operation, where an answer gave one.
  package var acquirerReference: String?
  /// What a reversal undoes: our name of the authorization. What a refund gives back: our name of the capture.
  package let target: AttemptReference?
  /// The acquirer's name of the capture that a refund gives back.
  package var capture: String?
  /// The first operation of the request, where one request began several: a refund that gives back several captures, or
  /// an authorization that is captured in the same call.
  package var partOf: AttemptReference?
  /// Counts the captures of a payment from 1, also those that were declined; nil for other operations.
  package var captureNumber: Int?
  /// The amount that the undone authorization asked for, which an inquiry about it names. A reversal's own amount is
  /// less when the authorization was approved for less; of any other operation it is its own.
  package let undoneAmount: Amount
  package let cause: OperationCause
  /// What is known of an attempt whose lease was acquired; nil for one that was just begun.
  package let past: Past?
  /// What of the hold is released when this capture is approved, in minor units.
  let releases: Int64
  /// Counts the leases of this operation. An answer that comes back to a former holder is dropped.
  let fence: Int64

  /// Whether it is an authorization of nothing, by which no money can move: whatever becomes of it, nothing is held.
  package var verifiesCard: Bool { kind == .authorize && amount.minorUnits == 0 }

  /// The operation by which its request is known.
  package var request: AttemptReference { partOf ?? reference }

  /// What happened to an operation until its lease was acquired.
  package struct Past: Sendable, Hashable {
    package let state: OperationState
    package let sentAt: Timestamp
    /// Until when a request can have left under this operation's own reference, by any holder of its lease; nil
    /// before the acquirer was asked.
    package let sentUntil: Timestamp?
    /// Since when no request of the authorization that a reversal undoes was sent; for every other operation its own.
    package let quietSince: Timestamp
    /// When the authorization that a reversal undoes was first sent; for every other operation its own.
    package let undoneSentAt: Timestamp
    /// The acquirer's name of the authorization that a reversal undoes, if an answer or an event has given one.
    package let undoneName: String?
    /// The provider's name of the instrument, stored between the two steps of an authorization.
    package let prepared: String?
    /// Whether the provider opens the payment token.
    package let isSealed: Bool
    /// How often recovery tried to resolve it, this time not counted.
    package let tries: Int
    /// The outcome that was reported to the shopper.
    package let reportedOutcome: ReportedOutcome?
    /// When this lease was acquired, by the database's clock.
    package let leasedAt: Timestamp
  }
}

/// The result of claiming an order for a payment token.
package enum Claim: Sendable, Hashable {
  /// The attempt is durable: ask the acquirer.
  case new(Attempt)
  /// The order, or this very payment token, has its answer already: give it again.
  case known(Payment)
  /// The outcome of the order's payment is open.
  case running(Payment)
  /// The payment token has paid another order.
  case tokenReused
}

/// Leaves the transaction of a claim, and so rolls it back, with the reason.
package struct ClaimRefused: Error, Sendable, Hashable {
  /// Never `.new`.
  package let claim: Claim

  /// Whether what is in the way is the claim that this attempt was made by: its commit was in doubt, and is done.
  package func isBy(_ attempt: Attempt?) -> Bool {
    guard case .running(let payment) = claim else { return false }
    return payment.id == attempt?.payment
  }
}

/// One operation as the ledger keeps it, for operators.
package struct OperationRecord: Sendable, Hashable {
  package let reference: AttemptReference
  /// Its place among the payment's operations, by which merchants know it: 0 for the authorization.
  package let number: Int
  /// The merchant's own name of it; nil where the request gave none.
  package let merchantReference: String?
  package let kind: OperationKind
  package let amount: Amount
  package let isFinal: Bool
  package let cause: OperationCause
  package let state: OperationState
  package let acquirerReference: String?
  /// The response code of a decline, or the kind of interruption.
  package let code: String?
  /// Why it was declined; nil for what was not declined.
  package let decline: Decline?
  /// How often recovery tried to resolve it.
  package let tries: Int
  package let sentAt: Timestamp
  package let answeredAt: Timestamp?
}

extension OperationRecord {
  /// - Parameter earlier: an earlier state, and when it was recorded; nil for what the row says.
  init(_ row: Row, as earlier: (state: OperationState, at: Timestamp)? = nil) throws {
    let state = try earlier?.state ?? row.value("state")
    // A late approval leaves the reason of the decline in the row.
    let isApproved = state == .approved
    self.init(
      reference: try row.value("reference"), number: Int(try row.integer("number")),
      merchantReference: try row.textOrNil("merchant_reference"), kind: try row.value("kind"),
      amount: try row.amount("amount"),
      isFinal: try row.integer("is_final") == 1, cause: try row.cause(), state: state,
      acquirerReference: try row.textOrNil("acquirer_reference"), code: isApproved ? nil : try row.textOrNil("code"),
      decline: isApproved ? nil : try row.decline(code: "code"),
      tries: Int(try row.integer("tries")), sentAt: try row.time("sent_at"),
      answeredAt: try earlier?.at ?? row.timeOrNil("answered_at"))
  }
}

extension ReportedOutcome {
  /// What a status means to a shopper. An open outcome is reported as `whenOpen`.
  init(_ status: PaymentStatus, whenOpen: ReportedOutcome) {
    switch status {
    case .authorizing, .pending, .unknown: self = whenOpen
    case .declined, .failed, .voided: self = .failure
    case .authorized, .partiallyCaptured, .captured, .partiallyRefunded, .refunded, .verified: self = .success
    }
  }
}

/// To whom an answer is reported at the moment it is recorded.
package enum Recipient: Sendable, Hashable {
  /// The shopper, to whom `whenOpen` is reported while the outcome is open. The report is written in the same commit.
  case shopper(whenOpen: ReportedOutcome)
  /// No caller waits: recovery acts on its own, bound by what was reported before.
  case noCaller
}
