import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

extension AdyenStore {
  /// Accepts a modification of a payment. It is decided later, and its event tells the result.
  func accept(
    _ kind: AdyenModification.Kind, _ request: AdyenModificationRequest, of pspReference: String,
    for account: AdyenAccount, in transaction: Transaction
  ) throws -> ProviderReply {
    guard let payment = try AdyenPayment.find(pspReference, of: account.merchantAccount, in: transaction) else {
      return ProviderReply(.payment)
    }
    if let amount = request.amount, amount.currency != payment.amount.currency { return ProviderReply(.currency) }
    let modification = AdyenModification(
      pspReference: newPSPReference(), account: account.merchantAccount, payment: pspReference, kind: kind,
      reference: request.reference, value: request.amount?.value)
    try modification.insert(in: transaction)
    var answer = received(modification, request)
    answer["paymentPspReference"] = .string(pspReference)
    return ProviderReply(201, .object(answer))
  }

  /// Accepts the cancel of a payment by its reference, whether or not there is such a payment.
  func acceptTechnicalCancel(
    _ request: AdyenModificationRequest, for account: AdyenAccount, in transaction: Transaction
  ) throws -> ProviderReply {
    let reference = request.paymentReference ?? ""
    let payment = try AdyenPayment.find(reference: reference, of: account.merchantAccount, in: transaction)
    let modification = AdyenModification(
      pspReference: newPSPReference(), account: account.merchantAccount, payment: payment?.pspReference,
      kind: .technicalCancel, reference: reference, value: nil)
    try modification.insert(in: transaction)
    var answer = received(modification, request)
    answer["paymentReference"] = .string(reference)
    return ProviderReply(201, .object(answer))
  }

  private func received(_ modification: AdyenModification, _ request: AdyenModificationRequest) -> JSONObject {
    var answer: JSONObject = [
      "merchantAccount": .string(modification.account), "pspReference": .string(modification.pspReference),
      "status": "received",
    ]
    answer["reference"] = request.reference.map(JSONValue.string)
    answer["amount"] = request.amount?.json
    return answer
  }

  /// Decides what was accepted longer than `delay` ago, oldest first.
  func resolve(olderThan delay: Duration, _ account: @escaping @Sendable (String) -> AdyenAccount?) async throws {
    try await database.write { transaction in
      let time = transaction.now.microseconds - delay.microseconds
      for var payment in try AdyenPayment.findReceived(before: time, in: transaction) {
        guard let owner = account(payment.account) else { continue }
        (payment.state, payment.authorised) = (.authorised, payment.amount.value)
        try payment.save(in: transaction)
        try announce(payment, of: owner, in: transaction)
      }
      for modification in try AdyenModification.findReceived(before: time, in: transaction) {
        guard let owner = account(modification.account) else { continue }
        try decide(modification, for: owner, in: transaction)
      }
    }
  }

  /// Moves the payment's balances if it can, and writes the event.
  private func decide(
    _ modification: AdyenModification, for account: AdyenAccount, in transaction: Transaction
  ) throws {
    guard let name = modification.payment,
      var payment = try AdyenPayment.find(name, of: account.merchantAccount, in: transaction)
    else { return try end(modification, on: nil, "Transaction not found", for: account, in: transaction) }
    let before = payment
    let failure = apply(modification, to: &payment, for: account)
    if failure == nil {
      try payment.save(in: transaction)
      try book(modification, from: before, to: payment, in: transaction)
    }
    try end(modification, on: before, failure, for: account, in: transaction)
    if failure == nil, payment.lateFailure?.rawValue == modification.kind.rawValue {
      try fail(modification, on: payment, for: account, in: transaction)
    }
  }

  private func apply(
    _ modification: AdyenModification, to payment: inout AdyenPayment, for account: AdyenAccount
  ) -> String? {
    switch modification.kind {
    case .capture:
      payment.capture(modification.value ?? payment.authorised, keepingRest: account.multiplePartialCaptures)
    case .cancel, .technicalCancel: payment.cancel()
    case .refund: payment.refund(modification.value ?? payment.captured)
    case .reversal: payment.captured == 0 ? payment.cancel() : payment.refund(payment.captured - payment.refunded)
    }
  }

  private func end(
    _ modification: AdyenModification, on payment: AdyenPayment?, _ failure: String?, for account: AdyenAccount,
    in transaction: Transaction
  ) throws {
    try modification.end(failure == nil ? "done" : "failed", in: transaction)
    try write(
      .modification(modification, of: payment, failure: failure, at: transaction.now), of: account, in: transaction)
  }

  private func book(
    _ modification: AdyenModification, from before: AdyenPayment, to after: AdyenPayment, in transaction: Transaction
  ) throws {
    let (type, value) =
      if after.captured > before.captured {
        ("SentForSettle", after.captured - before.captured)
      } else if after.refunded > before.refunded {
        ("SentForRefund", after.refunded - before.refunded)
      } else {
        ("Cancelled", before.authorised - after.authorised)
      }
    try book(type, value, on: after, by: modification, in: transaction)
  }

  /// Takes back a capture or a refund that was done, as when a card scheme rejects it days later.
  func fail(
    _ modification: AdyenModification, on payment: AdyenPayment, for account: AdyenAccount, in transaction: Transaction
  ) throws {
    var payment = payment
    let value = modification.value ?? 0
    let code = modification.kind == .capture ? "CAPTURE_FAILED" : "REFUND_FAILED"
    if modification.kind == .capture { payment.captured -= value } else { payment.refunded -= value }
    try payment.save(in: transaction)
    try modification.end("returned", in: transaction)
    let type = modification.kind == .capture ? "CaptureFailed" : "RefundFailed"
    try book(type, value, on: payment, by: modification, in: transaction)
    try write(.late(code, modification, of: payment, at: transaction.now), of: account, in: transaction)
  }
}
