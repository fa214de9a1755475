import Administration
import Crypto
import Ledger
import Telemetry
import TenderPayments

/// A payment as its page shows it.
struct PaymentView {
  let file: PaymentFile
  private var payment: Payment { file.payment }

  init(_ file: PaymentFile) { self.file = file }

  var values: [String: Any] {
    [
      "id": payment.id.rawValue, "payment": payment.id.rawValue, "status": payment.status.shown,
      "statusClass": payment.status.rawValue, "parts": payment.shownParts,
      "amount": payment.amount.shown, "facts": facts.map { ["name": $0.0, "value": $0.1] },
      "timeline": file.timeline.map(\.values), "alarm": file.item.alarm ?? "",
      "operations": file.operations.map(Self.values),
    ]
  }

  private var facts: [(String, String)] {
    let all: [(String, String?)] = [
      ("Payment", payment.id.rawValue), ("Merchant", payment.merchant.rawValue),
      ("Merchant’s reference", file.reference), ("Shopper’s e-mail", file.email), ("Order", payment.order.rawValue),
      ("Basket", payment.basket.rawValue), ("Began", "\(payment.createdAt.shown) UTC"),
      ("Route", file.item.route), ("Card", payment.card.shown),
      ("Network", payment.card.network?.appleName), ("Kind of card", payment.card.type?.rawValue),
      ("Apple’s transaction", payment.transactionIdentifier), ("Trace", file.item.trace?.trace),
      ("Asked for", payment.amount.shown),
      ("Authorized", file.amount(payment.authorized).shown), ("Captured", file.amount(payment.captured).shown),
      ("Released", payment.released > 0 ? file.amount(payment.released).shown : nil),
      ("Refunded", file.amount(payment.refunded).shown),
      ("Charged back", payment.chargedBack > 0 ? file.amount(payment.chargedBack).shown : nil),
      ("Authorization code", payment.authorizationCode), ("Declined because", payment.decline?.reason.rawValue),
      ("Held until", file.item.holdUntil?.shown), ("The shopper was told", payment.reportedOutcome?.rawValue),
      (
        "Payment token",
        payment.amountConfirmed
          ? "signature, time, single use and amount verified"
          : "signature, time and single use verified; the provider "
            + "opened it, so it confirmed the amount"
      ),
    ]
    return all.compactMap { name, value in value.map { (name, $0) } }
  }

  private static func values(_ operation: OperationRecord) -> [String: Any] {
    [
      "reference": operation.reference.rawValue, "kind": operation.kind.rawValue, "amount": operation.amount.shown,
      "state": operation.state.rawValue, "sent": operation.sentAt.shown, "isOpen": operation.state.isOpen,
      "code": operation.code ?? "",
    ]
  }

  /// The forms of who may operate.
  func actions(for user: OfficeUser) -> [String: Any] {
    let possible = file.possible
    var values: [String: Any] = ["any": true]
    if possible.contains(.capture) {
      values["capture"] = (["key": file.key(of: .capture)] as [String: Any]).merging(most(file.capturable)) { $1 }
      values["void"] = (["key": file.key(of: .void)] as [String: Any]).merging(most(file.capturable)) { $1 }
    }
    if possible.contains(.refund) { values["refund"] = refund(for: user) }
    if possible.contains(.inquire) { values["inquire"] = ["key": file.key(of: .inquire)] }
    if possible.contains(.acknowledge) { values["acknowledge"] = ["key": file.key(of: .acknowledge)] }
    if possible.contains(.inquire) || possible.contains(.acknowledge) {
      values["resolve"] = ["operations": file.operations.filter { $0.state.isOpen }.map(Self.values)]
    }
    values["approvals"] = file.approvals.filter { $0.state == .waiting }.map { approval(for: user, $0) }
    return values
  }

  /// What a form may ask for at most.
  private func most(_ amount: Amount) -> [String: Any] { ["most": amount.shown] }

  private func refund(for user: OfficeUser) -> [String: Any] {
    let needsSecond = !user.mayRefundAlone(file.refundable, of: payment.merchant)
    return most(file.refundable).merging([
      "key": file.key(of: .refund), "needsSecond": needsSecond,
      "limits": user.limits == .none ? "nothing" : user.limits.text,
    ]) { $1 }
  }

  private func approval(for user: OfficeUser, _ approval: RefundApproval) -> [String: Any] {
    [
      "id": approval.id, "amount": approval.amount.shown, "by": approval.requestedBy, "reason": approval.reason,
      "at": approval.requestedAt.shown, "isOwn": approval.requestedBy.utf8.elementsEqual(user.name.utf8),
    ]
  }
}

enum Evidence {
  /// SHA-256 over the journal's hashes of the payment, which the audit chain holds too.
  static func digest(_ file: PaymentFile) -> String {
    Hex.encode(SHA256.hash(data: Array(file.audit.map(\.hash).joined(separator: "\n").utf8)))
  }
}
