import Administration
import Crypto
import Ledger
import Orders
import Storage
import TenderPayments
import Webhooks

/// Everything that the store holds of one payment, for its page and its evidence.
struct PaymentFile: Sendable {
  let item: PaymentPage.Item
  let reference: String?
  /// The shopper's address; nil where there is none, or the contact was deleted.
  let email: String?
  let operations: [OperationRecord]
  let audit: [AuditLine]
  let events: [OutboxEvent]
  let deliveries: [Delivery]
  let approvals: [RefundApproval]
  /// What operators did to it, the newest first.
  let actions: [OfficeAudit.Entry]

  var payment: Payment { item.payment }

  /// Nil when there is no such payment.
  static func find(_ id: PaymentID, in store: Transaction) throws -> PaymentFile? {
    guard let item = try PaymentPage.Item.find(id, in: store) else { return nil }
    return PaymentFile(
      item: item, reference: try MerchantReferences.reference(of: item.payment.order, in: store),
      email: try OrderContacts.email(of: item.payment.order, in: store),
      operations: try OperationRecord.all(of: id, in: store), audit: try AuditLine.all(of: id, in: store),
      events: try OutboxEvent.all(of: id, in: store),
      deliveries: try WebhookDispatcher.deliveries(of: id, in: store),
      approvals: try RefundApprovals(store: store).all(of: id),
      actions: try OfficeAudit(store).entries(subject: id.rawValue))
  }

  /// The idempotency key of the next operation of a kind. It follows from what the page shows: whoever looks at the same
  /// state sends the same key, so a second click, a repeat after a lost answer, and another operator at the same moment
  /// all get the one operation.
  func key(of operation: PaymentAdministration.Operation) -> String {
    let parts = [
      "tender office", payment.id.rawValue, operation.rawValue, "\(operations.count)", "\(payment.authorized)",
      "\(payment.captured)", "\(payment.refunded)", "\(operation == .refund ? approvals.count : 0)",
    ]
    return Hex.encode(SHA256.hash(data: Array(parts.joined(separator: "|").utf8)).prefix(16))
  }

  /// What may be asked for at this moment; the ledger has the last word.
  var possible: Set<PaymentAdministration.Operation> {
    var possible: Set<PaymentAdministration.Operation> = []
    if [.authorized, .partiallyCaptured].contains(payment.status) { possible.formUnion([.capture, .void]) }
    if payment.kept > 0 { possible.insert(.refund) }
    if !payment.status.isResolved || operations.contains(where: { $0.state.isOpen }) { possible.insert(.inquire) }
    if item.alarm != nil { possible.insert(.acknowledge) }
    return possible
  }

  func amount(_ units: Int64) -> Amount { Amount(minorUnits: units, currency: payment.amount.currency) }

  /// What is left to refund.
  var refundable: Amount { amount(payment.kept) }
  /// What is left to capture.
  var capturable: Amount { amount(payment.uncaptured) }
}

/// A line of a payment's history.
struct TimelineEntry: Sendable {
  let at: Timestamp
  /// `asked`, `answered`, `recorded`, `event`, `webhook` or `operator`: what the line is drawn as.
  let kind: String
  let text: String
  var detail = ""

  func values(_ format: OfficeFormat) -> [String: Any] {
    ["at": format.moment(at), "kind": kind, "text": text, "detail": detail]
  }
}

extension PaymentFile {
  /// Every operation, change, event, webhook and operator's action, oldest first. What came of an action the operations
  /// say.
  func timeline(_ format: OfficeFormat) -> [TimelineEntry] {
    let asked = actions.filter { !$0.action.action.hasSuffix(".outcome") }
    let all = operations.flatMap { lines($0, format) } + audit.map(line) + deliveryLines(format) + asked.map(line)
    return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }

  private func lines(_ operation: OperationRecord, _ format: OfficeFormat) -> [TimelineEntry] {
    let name = "\(operation.kind.rawValue) of \(format.amount(operation.amount))"
    let asked = TimelineEntry(
      at: operation.sentAt, kind: "asked", text: "Asked \(item.route): \(name)",
      detail: "cause: \(operation.cause.rawValue), our reference \(operation.reference)")
    guard let answeredAt = operation.answeredAt else { return [asked] }
    let parts = [
      operation.code.map { "code \($0)" }, operation.decline?.reason.rawValue,
      operation.acquirerReference.map { "the provider's reference \($0)" },
      "after \(format.duration(answeredAt.since(operation.sentAt)))",
    ]
    return [
      asked,
      TimelineEntry(
        at: answeredAt, kind: "answered", text: "\(name): \(operation.state.rawValue)",
        detail: parts.compactMap(\.self).joined(separator: ", ")),
    ]
  }

  private func line(_ line: AuditLine) -> TimelineEntry {
    let change = line.before.map { $0 == line.after ? "" : " (\($0.shown) → \(line.after.shown))" } ?? ""
    return TimelineEntry(
      at: line.at, kind: "recorded", text: "Journal: \(line.event)\(change)",
      detail: "entry \(line.number), hash \(line.hash.prefix(16))…")
  }

  private func deliveryLines(_ format: OfficeFormat) -> [TimelineEntry] {
    events.flatMap { event in
      let own = deliveries.filter { $0.sequence == event.sequence }
      let sent = own.map { delivery in
        "endpoint \(delivery.endpoint) at \(delivery.url): \(delivery.state.rawValue)"
          + (delivery.result.map { ", \($0)" } ?? "") + (delivery.failedTries(format).map { ", \($0)" } ?? "")
      }
      return [
        TimelineEntry(
          at: event.happenedAt, kind: "webhook", text: "Event \(event.sequence): payment \(event.status.shown)",
          detail: sent.isEmpty ? "no endpoint receives it" : sent.joined(separator: "; "))
      ]
    }
  }

  private func line(_ entry: OfficeAudit.Entry) -> TimelineEntry {
    let action = entry.action
    return TimelineEntry(
      at: entry.at, kind: "operator", text: "\(action.actor): \(action.action)",
      detail: [action.after, action.reason].filter { !$0.isEmpty }.joined(separator: "; "))
  }
}
