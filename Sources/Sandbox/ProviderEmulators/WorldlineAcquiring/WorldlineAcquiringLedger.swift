import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

// What the operations do to the ledger.
extension WorldlineAcquiringStore {
  /// Authorizes or declines.
  func pay(
    _ wanted: WorldlineAcquiringPaymentRequest, _ outcome: SandboxOutcome, of merchant: String,
    in transaction: Transaction
  ) throws -> WorldlineAcquiringOperation {
    var payment = WorldlineAcquiringPayment(
      id: newName(), merchant: merchant, reference: wanted.merchantReference, amount: wanted.amount,
      isPreAuthorization: wanted.isPreAuthorization, brand: wanted.brand, cardSuffix: wanted.card.dpan.lastFour,
      createdAt: transaction.now, changedAt: transaction.now, status: .notAuthorized)
    let result =
      try accept(wanted.card.cryptogram, of: wanted.card.dpan, in: transaction)
      ? apply(outcome, wanted, to: &payment) : WorldlineAcquiringResult(code: "82")
    if wanted.capturesImmediately, payment.status == .authorized { payment.capture(payment.authorized, isFinal: true) }
    try payment.insert(in: transaction)
    var answer = result.members(of: wanted.operationID)
    for member in payment.members.members { answer[member.key] = member.value }
    return WorldlineAcquiringOperation(
      id: wanted.operationID, payment: payment.id, kind: "AUTHORIZATION", amount: wanted.amount, result: result,
      answer: answer)
  }

  /// Asks the issuer about the card. No payment comes of it.
  func verify(
    _ wanted: WorldlineAcquiringVerificationRequest, _ outcome: SandboxOutcome, in transaction: Transaction
  ) throws -> WorldlineAcquiringOperation {
    var result = WorldlineAcquiringResult.approved
    if case .decline(let code) = outcome { result = WorldlineAcquiringResult(responseCode: code) }
    if try !accept(wanted.card.cryptogram, of: wanted.card.dpan, in: transaction) {
      result = WorldlineAcquiringResult(code: "82")
    }
    var answer = result.members(of: wanted.operationID)
    if result.isApproved {
      answer["authorizationCode"] = .string(random.hex(3).uppercased())
      answer["references"] = ["schemeTransactionId": .string(random.next(15).map { String($0 % 10) }.joined())]
    }
    return WorldlineAcquiringOperation(
      id: wanted.operationID, payment: nil, kind: "ACCOUNT_VERIFICATION", amount: nil, result: result, answer: answer)
  }

  private func apply(
    _ outcome: SandboxOutcome, _ wanted: WorldlineAcquiringPaymentRequest, to payment: inout WorldlineAcquiringPayment
  ) -> WorldlineAcquiringResult {
    let units = wanted.amount.minorUnits
    switch outcome {
    case .decline(let code): return WorldlineAcquiringResult(responseCode: code)
    case .approveForLess where !wanted.allowsPartialApproval: return WorldlineAcquiringResult(code: "51")
    case .approveForLess:
      approve(&payment, units - units / 2)
      return .partlyApproved
    case .pending:
      payment.status = .pending
      return .approved
    case .approve, .noAnswer, .noAnswerAfterApproval:
      approve(&payment, units)
      return .approved
    }
  }

  private func approve(_ payment: inout WorldlineAcquiringPayment, _ units: Int64) {
    payment.approve(units)
    payment.authorizationCode = random.hex(3).uppercased()
    payment.schemeTransactionID = random.next(15).map { String($0 % 10) }.joined()
  }

  /// A capture, reversal, increment or refund.
  func act(
    _ wanted: WorldlineAcquiringAction, on id: String, of merchant: String, in transaction: Transaction
  ) throws -> WorldlineAcquiringOperation {
    var payment = try require(id, of: merchant, in: transaction)
    try Self.check(wanted, payment)
    try refuseUsedNumber(of: wanted, payment.id, in: transaction)
    let left = wanted.kind == .refund ? payment.refundable : payment.left
    let amount = wanted.amount ?? Amount(minorUnits: left, currency: payment.amount.currency)
    let isPossible = wanted.kind == .increment || amount.minorUnits <= left
    if isPossible { Self.move(wanted, amount.minorUnits, &payment) }
    payment.changedAt = transaction.now
    try payment.save(in: transaction)
    let result = isPossible ? WorldlineAcquiringResult.approved : .wrongAmount
    let refund = wanted.kind == .refund && isPossible ? newName() : nil
    return WorldlineAcquiringOperation(
      id: wanted.operationID, payment: payment.id, refund: refund, kind: wanted.kind.rawValue, amount: amount,
      captureNumber: wanted.sequence, result: result,
      answer: answer(wanted, result, payment, refund, at: transaction.now))
  }

  private static func check(
    _ wanted: WorldlineAcquiringAction, _ payment: WorldlineAcquiringPayment
  ) throws(WorldlineAcquiringProblem) {
    if let amount = wanted.amount, amount.currency != payment.amount.currency {
      throw .invalid("the payment has another currency")
    }
    guard wanted.kind == .refund ? payment.captured > 0 : payment.status == .authorized else {
      throw .conflict("The payment is \(payment.status.rawValue).")
    }
    switch wanted.kind {
    case .increment where !payment.isPreAuthorization: throw .conflict("The payment is no pre-authorization.")
    case .capture:
      let isPart = payment.captured > 0 || (wanted.amount?.minorUnits ?? payment.left) < payment.authorized
      guard !isPart || wanted.sequence != nil else { throw .required("captureSequenceNumber") }
    default: break
    }
  }

  /// Captures that are sent at once arrive in any order, so a number may be lower than one that came before.
  private func refuseUsedNumber(
    of wanted: WorldlineAcquiringAction, _ payment: String, in transaction: Transaction
  ) throws {
    guard wanted.kind == .capture, let number = wanted.sequence else { return }
    let used = try transaction.row(
      """
      SELECT sequence FROM operations WHERE payment = $1 AND kind = 'CAPTURE' AND response_code = '0'
        AND capture_number = $2
      """, .text(payment), .integer(number))
    guard used == nil else { throw WorldlineAcquiringProblem.invalid("captureSequenceNumber was used") }
  }

  private static func move(
    _ wanted: WorldlineAcquiringAction, _ units: Int64, _ payment: inout WorldlineAcquiringPayment
  ) {
    switch wanted.kind {
    case .capture: payment.capture(units, isFinal: wanted.isFinal)
    case .reversal: payment.reverse(units)
    case .increment: payment.authorized += units
    case .refund: payment.refunded += units
    }
  }

  private func answer(
    _ wanted: WorldlineAcquiringAction, _ result: WorldlineAcquiringResult, _ payment: WorldlineAcquiringPayment,
    _ refund: String?, at now: Timestamp
  ) -> JSONObject {
    var answer = result.members(of: wanted.operationID, by: "WORLDLINE")
    switch wanted.kind {
    case .refund: answer["refund"] = refund.map { WorldlineAcquiringStore.refund($0, at: now) }
    case .capture: answer["payment"] = payment.summary
    case .reversal, .increment:
      answer["payment"] = payment.summary
      answer["totalAuthorizedAmount"] = payment.totalAuthorized
    }
    if wanted.kind == .increment { answer["authorizationCode"] = .string(random.hex(3).uppercased()) }
    return answer
  }

  private static func refund(_ name: String, at time: Timestamp) -> JSONValue {
    [
      "refundId": .string(name), "status": "CONFIRMED", "statusTimestamp": .string(time.description), "references": [:],
    ]
  }

  /// Undoes the authorization of this name; what is not known is noted.
  func reverse(
    _ operation: String, by reversal: WorldlineAcquiringTechnicalReversal, of merchant: String,
    in transaction: Transaction
  ) throws -> WorldlineAcquiringOperation {
    var payment = try WorldlineAcquiringOperation.payment(authorizedBy: operation, of: merchant, in: transaction)
    guard payment?.captured ?? 0 == 0 else { throw WorldlineAcquiringProblem.conflict("The payment is captured.") }
    if payment?.status == .authorized || payment?.status == .pending {
      payment?.authorized = 0
      payment?.status = .reversed
      try payment?.save(in: transaction)
    }
    let result = payment == nil ? WorldlineAcquiringResult.stored : .approved
    return WorldlineAcquiringOperation(
      id: reversal.operationID, payment: payment?.id, kind: "TECHNICAL_REVERSAL", amount: payment?.amount,
      result: result, answer: result.members(of: reversal.operationID, by: "WORLDLINE"))
  }
}

// Inquiries.
extension WorldlineAcquiringStore {
  func payment(_ id: String, withOperations: Bool, of merchant: String) async throws -> JSONValue {
    try await database.write { transaction in
      let payment = try require(id, of: merchant, in: transaction)
      var object = payment.members
      if withOperations {
        object["operations"] = .array(
          try WorldlineAcquiringOperation.list(of: id, in: transaction).map(\.json))
      }
      return .object(object)
    }
  }

  func refund(_ name: String, withOperations: Bool, of merchant: String) async throws -> JSONValue {
    try await database.read { transaction in
      guard
        let (refund, payment) = try WorldlineAcquiringOperation.refund(name, of: merchant, in: transaction)
      else { throw WorldlineAcquiringProblem.notFound }
      var object: JSONObject = [
        "refundId": .string(name), "referencedPaymentId": .string(payment), "status": "CONFIRMED",
        "statusTimestamp": .string(refund.time.description), "totalAuthorizedAmount": refund.amount.worldlineAcquiring,
        "references": [:],
      ]
      guard withOperations else { return .object(object) }
      let steps = ["AUTHORIZATION", "CAPTURE"].map { kind in
        guard case .object(var step) = refund.json else { return JSONValue.null }
        step["operationType"] = .string(kind)
        return .object(step)
      }
      object["operations"] = .array(steps)
      return .object(object)
    }
  }

  /// Approves what has been pending for a minute: no inquiry may come.
  func approvePending(of merchants: [String], in transaction: Transaction) throws {
    for var payment in try WorldlineAcquiringPayment.all(of: merchants, in: transaction)
    where payment.status == .pending && payment.createdAt < transaction.now.adding(.seconds(-60)) {
      approve(&payment, payment.amount.minorUnits)
      try payment.save(in: transaction)
    }
  }

  /// The payment as the time left it: an inquiry finds a pending one approved.
  private func require(
    _ id: String, of merchant: String, in transaction: Transaction
  ) throws -> WorldlineAcquiringPayment {
    guard var payment = try WorldlineAcquiringPayment.find(id, of: merchant, in: transaction) else {
      throw WorldlineAcquiringProblem.notFound
    }
    let before = payment.status
    payment.age(to: transaction.now)
    if payment.status == .pending { approve(&payment, payment.amount.minorUnits) }
    if payment.status != before { try payment.save(in: transaction) }
    return payment
  }
}
