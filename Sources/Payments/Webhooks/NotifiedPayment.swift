import DirectWire
import Ledger
import TenderPayments

// What an event says, in Worldline Direct's words and members: those of the look-up.
extension OutboxEvent {
  /// The type, and the state that the event's object is in.
  ///
  /// A capture, a refund and a void that moved money are events of their own. The other operations have no events at
  /// Worldline, so theirs have the payment's state; nor has a refused void, which leaves the payment as it was.
  var wire: (type: String, status: DirectStatus) {
    if let agreementEvent { return ("agreement.\(agreementEvent.rawValue)", ofPayment.status) }
    return switch operationKind {
    case .capture:
      movesMoney ? ("payment.captured", .captured) : ("payment.rejected_capture", .captureRefused)
    case .refund: movesMoney ? ("payment.refunded", .refunded) : ("refund.rejected", .refundRefused)
    case .void where movesMoney: ("payment.cancelled", .cancelled)
    case .authorize, .void, .increment, .reverse, .chargeback, .chargebackReversal: ofPayment
    }
  }

  private var ofPayment: (type: String, status: DirectStatus) {
    let type =
      switch status {
      case .authorizing: "created"
      case .pending, .unknown: "authorization_requested"
      case .authorized, .verified: "pending_capture"
      case .partiallyCaptured, .captured, .partiallyRefunded: "captured"
      case .refunded: "refunded"
      case .voided: "cancelled"
      case .declined, .failed: "rejected"
      }
    return ("payment." + type, status == .authorizing ? .created : DirectStatus(status))
  }

  /// The payment after the change.
  func notifiedPayment(_ status: DirectStatus, _ order: NotifiedOrder?) -> DirectPayment {
    let output = DirectPaymentOutput(
      amountOfMoney: amount, acquiredAmount: money(kept), references: order?.references,
      mobile: MobilePaymentOutput(
        authorisationCode: isAuthorized ? authorizationCode : nil, network: card.network?.appleName,
        card: card.deviceAccountSuffix.map { .init(suffix: $0, expiryDate: card.expiry?.mmyy) }, eci: nil),
      at: createdAt, ofPaymentAt: createdAt)
    var payment = DirectPayment(
      id: name, statusOutput: statusOutput(status), paymentOutput: output, operationOutput: notifiedOperation(order))
    payment.hostedCheckoutSpecificOutput = order?.hostedCheckout
    return payment
  }

  /// The refund that the change is about.
  func notifiedRefund(_ status: DirectStatus, _ order: NotifiedOrder?) -> DirectRefund {
    DirectRefund(
      id: name,
      DirectStatusOutput(
        status, changedAt: happenedAt, isCancellable: false,
        errors: status == .refundRefused ? [.refused(decline)] : nil),
      DirectPaymentOutput(
        amountOfMoney: operationAmount,
        references: DirectReferences(ofOperation: operationReference, order?.references),
        operationReferences: operationReferences,
        mobileRefund: MobileRefundOutput(
          network: card.network?.appleName, totalAmountPaid: captured, totalAmountRefunded: refunded),
        at: operationSentAt, ofPaymentAt: createdAt))
  }

  /// The capture or the void; nil for what Worldline has no operation for.
  private func notifiedOperation(_ order: NotifiedOrder?) -> DirectOperation? {
    let status: DirectStatus
    switch operationKind {
    case .capture: status = movesMoney ? .captured : .captureRefused
    case .void: status = movesMoney ? .cancelled : .cancelRefused
    case .authorize, .refund, .increment, .reverse, .chargeback, .chargebackReversal: return nil
    }
    return DirectOperation(
      id: name, operationAmount, statusOutput(status), references: operationReferences, ofOrder: order?.references,
      at: operationSentAt)
  }

  private func statusOutput(_ status: DirectStatus) -> DirectStatusOutput {
    DirectStatusOutput(
      status, changedAt: happenedAt, isAuthorized: isAuthorized, isCancellable: authorized > captured,
      isRefundable: kept > 0, errors: status == .rejected ? [.refused(decline)] : nil)
  }

  private var name: DirectPaymentID {
    DirectPaymentID(payment: payment.rawValue, operation: Int(clamping: operationNumber))
  }

  private var isAuthorized: Bool { status.isResolved && ![.declined, .failed].contains(status) }

  private var operationReferences: DirectReferences? {
    operationReference.map { DirectReferences(merchantReference: $0) }
  }

  private func money(_ units: Int64) -> Amount { Amount(minorUnits: units, currency: amount.currency) }
}
