package import DirectWire
package import Ledger
package import TenderPayments

/// A stored payment in Worldline's words: `PaymentResponse` and what hangs on it. Older and newer members are both set.
package struct PaymentRendering: Sendable, Hashable {
  package let payment: Payment
  /// Oldest first.
  package let operations: [OperationRecord]
  package let order: RenderedOrder

  package init(_ payment: Payment, _ operations: [OperationRecord], _ order: RenderedOrder) {
    self.payment = payment
    self.operations = operations.filter { DirectStatus.isShown($0.kind) }
    self.order = order
  }

  package var id: DirectPaymentID { DirectPaymentID(payment: payment.id.rawValue) }

  /// `GET /payments/{id}`
  package var answer: DirectPayment { rendered(id, status) }

  /// `GET /payments/{id}/details`
  package var details: DirectPayment {
    var answer = answer
    answer.operations = operations.map(operation)
    return answer
  }

  /// The payment as the answer about one operation has it.
  package func about(_ record: OperationRecord) -> DirectPayment {
    var answer = rendered(id(of: record), DirectStatus(of: record))
    answer.operationOutput = operation(record)
    return answer
  }

  /// `GET /payments/{id}/captures`
  package var captures: [DirectCapture] { operations.filter { $0.kind == .capture }.map(capture) }

  /// `GET /payments/{id}/refunds`
  package var refunds: [DirectRefund] { operations.filter { $0.kind == .refund }.map(refund) }

  package func capture(_ record: OperationRecord) -> DirectCapture {
    let status = DirectStatus(of: record)
    return DirectCapture(
      id: id(of: record), status,
      DirectPaymentOutput(
        amountOfMoney: record.amount, acquiredAmount: status == .captured ? record.amount : money(0),
        references: DirectReferences(ofOperation: record.merchantReference, order.references),
        operationReferences: references(of: record), mobile: mobile, at: record.sentAt, ofPaymentAt: payment.createdAt))
  }

  package func refund(_ record: OperationRecord) -> DirectRefund {
    DirectRefund(
      id: id(of: record),
      DirectStatusOutput(
        DirectStatus(of: record), changedAt: record.answeredAt ?? record.sentAt, isCancellable: false,
        errors: faults(record)),
      DirectPaymentOutput(
        amountOfMoney: record.amount,
        references: DirectReferences(ofOperation: record.merchantReference, order.references),
        operationReferences: references(of: record),
        mobileRefund: MobileRefundOutput(
          network: payment.card.network?.appleName, totalAmountPaid: payment.captured,
          totalAmountRefunded: payment.refunded),
        at: record.sentAt, ofPaymentAt: payment.createdAt))
  }
}

// Parts of the answers.
extension PaymentRendering {
  package var status: DirectStatus { DirectStatus(of: payment, operations) }

  private func id(of record: OperationRecord) -> DirectPaymentID {
    DirectPaymentID(payment: payment.id.rawValue, operation: record.number)
  }

  private func rendered(_ id: DirectPaymentID, _ status: DirectStatus) -> DirectPayment {
    var answer = DirectPayment(
      id: id, statusOutput: statusOutput(status, at: payment.updatedAt), paymentOutput: output)
    answer.hostedCheckoutSpecificOutput = order.hostedCheckout
    answer.tender = TenderExtras(
      orderId: payment.order.rawValue, basketId: order.basket?.rawValue,
      notVerified: order.notVerified.isEmpty ? nil : order.notVerified,
      transactionIdentifier: payment.transactionIdentifier, card: payment.card)
    return answer
  }

  private var output: DirectPaymentOutput {
    DirectPaymentOutput(
      amountOfMoney: payment.amount, acquiredAmount: money(payment.kept),
      references: order.references, mobile: mobile, at: payment.createdAt, ofPaymentAt: payment.createdAt)
  }

  private var mobile: MobilePaymentOutput {
    MobilePaymentOutput(
      authorisationCode: payment.authorizationCode, network: payment.card.network?.appleName,
      card: payment.card.deviceAccountSuffix.map { .init(suffix: $0, expiryDate: payment.card.expiry?.mmyy) }, eci: nil)
  }

  /// A state with what the payment allows now.
  private func statusOutput(_ status: DirectStatus, at time: Timestamp) -> DirectStatusOutput {
    DirectStatusOutput(
      status, changedAt: time, isAuthorized: isAuthorized, isCancellable: free > 0, isRefundable: refundable > 0,
      errors: status == .rejected ? [payment.fault] : nil)
  }

  private func operation(_ record: OperationRecord) -> DirectOperation {
    DirectOperation(
      id: id(of: record), record.amount,
      statusOutput(DirectStatus(of: record), at: record.answeredAt ?? record.sentAt),
      references: references(of: record), ofOrder: order.references, at: record.sentAt)
  }

  private func faults(_ record: OperationRecord) -> [PlatformFault]? {
    record.decline.map { [.refused($0)] }
  }

  private func references(of record: OperationRecord) -> DirectReferences? {
    guard record.kind != .authorize else { return order.references }
    return record.merchantReference.map { DirectReferences(merchantReference: $0) }
  }

  private var isAuthorized: Bool { payment.status.isResolved && ![.declined, .failed].contains(payment.status) }

  /// What can be captured or cancelled.
  private var free: Int64 {
    payment.uncaptured.subtractingClamped(underWay(.capture)).subtractingClamped(underWay(.void))
  }

  private var refundable: Int64 { payment.kept.subtractingClamped(underWay(.refund)) }

  private func underWay(_ kind: OperationKind) -> Int64 {
    operations.filter { $0.kind == kind && $0.state.isOpen }.reduce(0) { $0.addingClamped($1.amount.minorUnits) }
  }

  private func money(_ units: Int64) -> Amount { Amount(minorUnits: units, currency: payment.amount.currency) }
}

extension Payment {
  /// Why it was rejected.
  package var fault: PlatformFault { .refused(decline) }
}

/// What of a payment's order its rendering needs.
package struct RenderedOrder: Sendable, Hashable {
  package var references: DirectReferences?
  /// Where the order was made of a basket.
  package var basket: BasketID?
  /// As of ``TenderExtras/notVerified``.
  package var notVerified: [String]
  package var hostedCheckout: HostedCheckoutOutput?
  /// The agreement that its payment begins, where a merchant's server made it.
  package var agreement: AgreementID?

  package init(
    references: DirectReferences?, basket: BasketID? = nil, notVerified: [String] = [],
    hostedCheckout: HostedCheckoutOutput? = nil
  ) {
    self.references = references
    self.basket = basket
    self.notVerified = notVerified
    self.hostedCheckout = hostedCheckout
  }
}
