import Storage
import StrictJSON
import TenderPayments

/// What was asked for after a payment: accepted at once, and decided later.
struct AdyenModification: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case capture, cancel, refund, reversal
    case technicalCancel = "technical_cancel"

    var hasAmount: Bool { self == .capture || self == .refund }

    /// The event that tells the result.
    var eventCode: String {
      switch self {
      case .capture: "CAPTURE"
      case .cancel: "CANCELLATION"
      case .refund: "REFUND"
      case .reversal: "CANCEL_OR_REFUND"
      case .technicalCancel: "TECHNICAL_CANCEL"
      }
    }
  }

  let pspReference: String
  let account: String
  /// Nil for a cancel by a reference that names no payment.
  let payment: String?
  let kind: Kind
  /// The caller's reference; nil for what a person did in the dashboard.
  let reference: String?
  let value: Int64?

  func insert(in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO modifications (psp_reference, account, payment, kind, reference, amount, state, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, 'received', $7)
      """,
      .text(pspReference), .text(account), .text(optional: payment), .text(kind.rawValue),
      .text(optional: reference), .integer(optional: value), .time(transaction.now))
  }

  func end(_ state: String, in transaction: Transaction) throws {
    try transaction.run(
      "UPDATE modifications SET state = $2 WHERE psp_reference = $1", .text(pspReference), .text(state))
  }

  static func findReceived(before time: Int64, in transaction: Transaction) throws -> [AdyenModification] {
    try transaction.rows(
      "SELECT * FROM modifications WHERE state = 'received' AND created_at <= $1 ORDER BY created_at LIMIT 100",
      .integer(time)
    ).map(AdyenModification.init)
  }

  static func find(
    _ pspReference: String, of account: String, in transaction: Transaction
  ) throws -> AdyenModification? {
    try transaction.row(
      "SELECT * FROM modifications WHERE psp_reference = $1 AND account = $2", .text(pspReference), .text(account)
    ).map(AdyenModification.init)
  }

  private init(_ row: Row) throws {
    guard let kind = Kind(rawValue: try row.text("kind")) else { throw StorageError.column("kind") }
    self.init(
      pspReference: try row.text("psp_reference"), account: try row.text("account"),
      payment: try row.textOrNil("payment"), kind: kind, reference: try row.textOrNil("reference"),
      value: try row.integerOrNil("amount"))
  }

  init(pspReference: String, account: String, payment: String?, kind: Kind, reference: String?, value: Int64?) {
    self.pspReference = pspReference
    self.account = account
    self.payment = payment
    self.kind = kind
    self.reference = reference
    self.value = value
  }
}
