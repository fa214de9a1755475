import AcquirerSandbox
import DirectWire
import Storage
import TenderPayments

// What follows an authorization. Captures and refunds are accepted at once and decided later; a cancel is done at once.
extension WorldlineDirectStore {
  /// A capture of `amount`, or of what is left.
  func capture(
    _ request: CapturePaymentRequest, _ payment: WorldlineDirectPayment, for account: WorldlineDirectAccount,
    in transaction: Transaction
  ) throws -> ProviderReply {
    let amount = request.amount?.amount(in: payment.amount.currency).minorUnits ?? payment.free
    guard amount > 0 else { throw WorldlineDirectRefusal(.invalidValue("amount", "must be positive")) }
    guard amount <= payment.free else { throw WorldlineDirectRefusal(.actionNotAllowed) }
    let isFinal = request.isFinal == true || request.amount == nil || amount == payment.free
    let status: DirectStatus = amount == 1209 ? .captureUnknown : .captureRequested
    let (operation, after) = try add(
      .capture, amount, isFinal: isFinal, request.merchantReference, status, to: payment, in: transaction)
    try write("payment.capture_requested", of: account, in: transaction) { $0.payment = after.about(operation) }
    return try ProviderReply(201, operation.capture(of: after))
  }

  /// A cancel of `amountOfMoney`, or of what is left.
  func cancel(
    _ request: CancelPaymentRequest, _ payment: WorldlineDirectPayment, for account: WorldlineDirectAccount,
    in transaction: Transaction
  ) throws -> ProviderReply {
    let amount = try units(request.amountOfMoney, of: payment) ?? payment.free
    guard payment.free > 0, amount <= payment.free else { throw WorldlineDirectRefusal(.actionNotAllowed) }
    let all = request.isFinal == true ? payment.free : amount
    let (operation, after) = try add(
      .cancel, all, isFinal: false, request.operationReferences?.merchantReference, .cancelled, to: payment,
      in: transaction)
    try write("payment.cancelled", of: account, in: transaction) { $0.payment = after.about(operation) }
    return try ProviderReply(200, CancelPaymentAnswer(after.about(operation)))
  }

  /// A refund of `amountOfMoney`, or of what is left.
  func refund(
    _ request: RefundPaymentRequest, _ payment: WorldlineDirectPayment, for account: WorldlineDirectAccount,
    in transaction: Transaction
  ) throws -> ProviderReply {
    let amount = try units(request.amountOfMoney, of: payment) ?? payment.refundable
    guard payment.refundable > 0, amount <= payment.refundable else { throw WorldlineDirectRefusal(.actionNotAllowed) }
    let status: DirectStatus = amount == 1203 ? .refundUnknown : .refundRequested
    let (operation, after) = try add(
      .refund, amount, isFinal: false, request.merchantReference, status, to: payment, in: transaction)
    try write("refund.refund_requested", of: account, in: transaction) { $0.refund = operation.refund(of: after) }
    return try ProviderReply(201, operation.refund(of: after))
  }

  /// Nil where the request names no amount.
  private func units(_ money: AmountOfMoney?, of payment: WorldlineDirectPayment) throws -> Int64? {
    guard let money else { return nil }
    guard money.currencyCode == payment.amount.currency.code else {
      throw WorldlineDirectRefusal(.invalidValue("amountOfMoney.currencyCode", "is not the payment's"))
    }
    guard money.amount > 0 else {
      throw WorldlineDirectRefusal(.invalidValue("amountOfMoney.amount", "must be positive"))
    }
    return money.amount
  }

  private func add(
    _ kind: WorldlineDirectOperationRow.Kind, _ amount: Int64, isFinal: Bool, _ reference: String?,
    _ status: DirectStatus, to payment: WorldlineDirectPayment, in transaction: Transaction
  ) throws -> (WorldlineDirectOperationRow, WorldlineDirectPayment) {
    if let reference, reference.count > DirectReferences.referenceLimit {
      throw WorldlineDirectRefusal(.invalidValue("operationReferences.merchantReference", "longer than 40 characters"))
    }
    let operation = WorldlineDirectOperationRow(
      payment: payment.id, number: payment.operations.count + 1, kind: kind, amount: amount, isFinal: isFinal,
      reference: reference, createdAt: transaction.now, status: status, changedAt: transaction.now)
    try operation.insert(in: transaction)
    var after = payment
    after.operations.append(operation)
    after.changedAt = transaction.now
    try after.save(in: transaction)
    return (operation, after)
  }
}

// What was accepted is decided.
extension WorldlineDirectStore {
  /// Decides what was accepted longer than `delay` ago, oldest first.
  func resolve(
    olderThan delay: Duration, _ account: @escaping @Sendable (String) -> WorldlineDirectAccount?
  ) async throws {
    try await database.write { transaction in
      let time = transaction.now.microseconds - delay.microseconds
      for var payment in try WorldlineDirectPayment.waiting(before: time, in: transaction) {
        guard let owner = account(payment.merchant) else { continue }
        payment.status = payment.capturesAtOnce ? .captured : .pendingCapture
        payment.changedAt = transaction.now
        try payment.save(in: transaction)
        try announce(payment, of: owner, in: transaction)
      }
      for operation in try WorldlineDirectOperationRow.open(before: time, in: transaction) {
        try decide(operation, account, in: transaction)
      }
    }
  }

  private func decide(
    _ operation: WorldlineDirectOperationRow, _ account: (String) -> WorldlineDirectAccount?,
    in transaction: Transaction
  ) throws {
    let row = try transaction.row("SELECT merchant FROM payments WHERE id = $1", .text(operation.payment))
    guard let owner = try row.flatMap({ account(try $0.text("merchant")) }) else { return }
    var operation = operation
    operation.status = operation.result
    operation.changedAt = transaction.now
    try operation.save(in: transaction)
    guard let payment = try WorldlineDirectPayment.find(operation.payment, of: owner.merchantID, in: transaction) else {
      return
    }
    try payment.save(in: transaction)
    try write("payment.\(operation.eventName)", of: owner, in: transaction) {
      if operation.kind == .refund {
        $0.refund = operation.refund(of: payment)
      } else {
        $0.payment = payment.about(operation)
      }
    }
  }
}

extension WorldlineDirectOperationRow {
  /// Worldline's test platform refuses captures of 13.09 and refunds of 13.03; the sandbox also 20.93.
  fileprivate var result: DirectStatus {
    switch kind {
    case .capture: amount == 1309 || SandboxAmounts.failsLate(amount) ? .captureRefused : .captured
    case .cancel: .cancelled
    case .refund: amount == 1303 || SandboxAmounts.failsLate(amount) ? .refundRefused : .refunded
    }
  }

  fileprivate var eventName: String {
    switch status {
    case .captured: "captured"
    case .captureRefused: "rejected_capture"
    case .refunded: "refunded"
    case .refundRefused: "rejected"
    default: "cancelled"
    }
  }
}
