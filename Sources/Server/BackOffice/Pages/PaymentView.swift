import Administration
import Crypto
import Ledger
import Telemetry
import TenderPayments

/// A payment as its page shows it.
struct PaymentView {
  let file: PaymentFile
  private let format: OfficeFormat
  private var payment: Payment { file.payment }

  init(_ file: PaymentFile, _ format: OfficeFormat) { (self.file, self.format) = (file, format) }

  /// The amount, and whose it is: `€12.50 · HK-1042`.
  var title: String {
    "\(format.amount(payment.amount)) · \(file.reference ?? format.day(payment.createdAt))"
  }

  var values: [String: Any] {
    let story = PaymentStory(file, format)
    return [
      "id": payment.id.rawValue, "payment": payment.id.rawValue, "status": payment.status.shown,
      "statusClass": payment.status.rawValue, "parts": payment.parts(format), "amount": format.amount(payment.amount),
      "brief": rows(brief), "facts": rows(facts), "money": MoneyBar(payment, format).values,
      "story": story.lines.map { $0.values(format) }, "timeline": file.timeline(format).map { $0.values(format) },
      "alarm": (file.item.alarm ?? "").spaced, "operations": file.operations.map(row), "place": format.place,
    ]
  }

  private func rows(_ facts: [(String, String?)]) -> [[String: Any]] {
    facts.compactMap { name, value in value.map { ["name": name, "value": $0] } }
  }

  /// What is looked for first.
  private var brief: [(String, String?)] {
    [
      ("Shopper’s e-mail", file.email), ("Merchant’s reference", file.reference), ("Card", payment.card.name),
      ("Merchant", payment.merchant.rawValue), ("Route", file.item.route), ("Began", format.time(payment.createdAt)),
      ("Held until", file.item.holdUntil.map { format.time($0) }),
      ("Declined because", payment.decline?.reason.shown),
    ]
  }

  private var facts: [(String, String?)] {
    [
      ("Payment", payment.id.rawValue), ("Order", payment.order.rawValue), ("Basket", payment.basket.rawValue),
      ("Card and device account number", payment.card.shown), ("Network", payment.card.network?.appleName),
      ("Kind of card", payment.card.type?.rawValue), ("Apple’s transaction", payment.transactionIdentifier),
      ("Trace", file.item.trace?.trace),
      ("Asked for", format.amount(payment.amount)), ("Authorized", amount(payment.authorized)),
      ("Captured", amount(payment.captured)), ("Released", payment.released > 0 ? amount(payment.released) : nil),
      ("Refunded", amount(payment.refunded)),
      ("Charged back", payment.chargedBack > 0 ? amount(payment.chargedBack) : nil),
      ("Authorization code", payment.authorizationCode), ("The shopper was told", payment.reportedOutcome?.rawValue),
      (
        "Payment token",
        payment.amountConfirmed
          ? "signature, time, single use and amount verified"
          : "signature, time and single use verified; the provider "
            + "opened it, so it confirmed the amount"
      ),
    ]
  }

  private func amount(_ units: Int64) -> String { format.amount(file.amount(units)) }

  private func row(_ operation: OperationRecord) -> [String: Any] {
    [
      "reference": operation.reference.rawValue, "kind": operation.kind.rawValue.spaced,
      "amount": format.amount(operation.amount), "state": operation.state.rawValue,
      "sent": format.moment(operation.sentAt), "isOpen": operation.state.isOpen,
      "code": operation.code ?? "",
    ]
  }

  /// The forms of who may operate.
  func actions(for user: OfficeUser) -> [String: Any] {
    let possible = file.possible
    var values: [String: Any] = ["any": !possible.isEmpty]
    if possible.contains(.capture) {
      values["capture"] = (["key": file.key(of: .capture)] as [String: Any]).merging(most(file.capturable)) { $1 }
      values["void"] = (["key": file.key(of: .void)] as [String: Any]).merging(most(file.capturable)) { $1 }
    }
    if possible.contains(.refund) { values["refund"] = refund(for: user) }
    if possible.contains(.inquire) { values["inquire"] = ["key": file.key(of: .inquire)] }
    if possible.contains(.acknowledge) { values["acknowledge"] = ["key": file.key(of: .acknowledge)] }
    if possible.contains(.inquire) || possible.contains(.acknowledge) {
      values["resolve"] = ["operations": file.operations.filter { $0.state.isOpen }.map(row)]
    }
    values["approvals"] = file.approvals.filter { $0.state == .waiting }.map { approval(for: user, $0) }
    return values
  }

  /// What a form may ask for at most.
  private func most(_ amount: Amount) -> [String: Any] { ["most": format.amount(amount), "typed": "\(amount)"] }

  private func refund(for user: OfficeUser) -> [String: Any] {
    let needsSecond = !user.mayRefundAlone(file.refundable, of: payment.merchant)
    return most(file.refundable).merging([
      "key": file.key(of: .refund), "needsSecond": needsSecond,
      "limits": user.limits == .none
        ? "nothing" : user.limits.amounts.map { format.amount($0) }.joined(separator: ", "),
    ]) { $1 }
  }

  private func approval(for user: OfficeUser, _ approval: RefundApproval) -> [String: Any] {
    [
      "id": approval.id, "amount": format.amount(approval.amount), "by": approval.requestedBy,
      "reason": approval.reason,
      "at": format.time(approval.requestedAt), "isOwn": approval.requestedBy.utf8.elementsEqual(user.name.utf8),
    ]
  }
}

enum Evidence {
  /// SHA-256 over the journal's hashes of the payment, which the audit chain holds too.
  static func digest(_ file: PaymentFile) -> String {
    Hex.encode(SHA256.hash(data: Array(file.audit.map(\.hash).joined(separator: "\n").utf8)))
  }
}
