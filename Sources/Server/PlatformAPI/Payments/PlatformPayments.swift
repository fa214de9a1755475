package import DirectWire
package import Gateway
package import Ledger
package import Orders
package import Storage
package import TenderPayments

/// Payments below `/v2/{merchantId}/payments`: made, shown, captured, cancelled, refunded. Each call is one of the
/// gateway's, under the caller's idempotency key.
package struct PlatformPayments: Sendable {
  let gateway: PaymentGateway
  let merchants: @Sendable (MerchantID) async -> PlatformMerchant?
  /// What application data a merchant's payment tokens carry instead of the order's reference: the domain, where devices
  /// encrypt to a platform's key.
  let applicationData: @Sendable (MerchantID) async -> [UInt8]?
  /// Makes the fingerprints of decrypted data; not in the database.
  let fingerprintKey: [UInt8]
  let clock: WallClock
  let random: RandomBytes
  /// Opens `encryptedCustomerInput`; nil where that is not taken.
  package var openCustomerInput:
    (@Sendable (String, MobilePaymentInput?, IdempotentCall) async throws -> MobilePaymentInput)?
  /// The order of a payment that was made on a page of the platform's own; nil for every other payment.
  package var hostedOrder: (@Sendable (Payment) async throws -> RenderedOrder?)?

  /// Finds what ties a payment token to the merchant's basket of a reference; nil where there are no baskets.
  package var binding: (@Sendable (String, MerchantID) async throws -> BasketBinding?)?

  var journal: Journal { gateway.journal }

  package init(
    gateway: PaymentGateway, merchants: @escaping @Sendable (MerchantID) async -> PlatformMerchant?,
    applicationData: @escaping @Sendable (MerchantID) async -> [UInt8]?, fingerprintKey: [UInt8],
    clock: WallClock = .system, random: RandomBytes = .system
  ) {
    self.gateway = gateway
    self.merchants = merchants
    self.applicationData = applicationData
    self.fingerprintKey = fingerprintKey
    self.clock = clock
    self.random = random
  }
}

// Shown.
extension PlatformPayments {
  /// `GET /payments/{id}`. An open outcome makes us ask the acquirer, as often as recovery would.
  package func show(_ id: String, of merchant: MerchantID) async throws -> PlatformAnswer {
    let name = try Self.name(id)
    let rendering = try await resolve(name, merchant)
    guard name.operation > 0 else { return try PlatformAnswer(rendering.answer) }
    guard let operation = rendering.operations.first(where: { $0.number == name.operation }) else {
      throw PlatformRefusal.unknownPayment
    }
    return try PlatformAnswer(rendering.about(try await journal.outcome(of: operation.reference).whole))
  }

  /// `GET /payments/{id}/details`
  package func details(_ id: String, of merchant: MerchantID) async throws -> PlatformAnswer {
    try PlatformAnswer(try await resolve(try Self.name(id), merchant).details)
  }

  /// `GET /payments/{id}/captures`
  package func captures(_ id: String, of merchant: MerchantID) async throws -> PlatformAnswer {
    try PlatformAnswer(CapturesAnswer(try await rendering(of: require(id, of: merchant)).captures))
  }

  /// `GET /payments/{id}/refunds`
  package func refunds(_ id: String, of merchant: MerchantID) async throws -> PlatformAnswer {
    try PlatformAnswer(RefundsAnswer(try await rendering(of: require(id, of: merchant)).refunds))
  }

  /// A stored payment as the wire has it.
  package func rendering(of payment: Payment) async throws -> PaymentRendering {
    PaymentRendering(payment, try await journal.operations(of: payment.id), try await order(of: payment))
  }

  func order(of payment: Payment) async throws -> RenderedOrder {
    if let order = try await hostedOrder?(payment) { return order }
    return try await journal.database.read { try Self.order(of: payment, in: $0) }
  }

  /// The order of a payment that the platform API made, or that was made of a basket.
  package static func order(of payment: Payment, in store: Transaction) throws -> RenderedOrder {
    if let order = try PlatformOrder.find(payment.order, in: store) { return RenderedOrder(order) }
    let reference = try MerchantReferences.reference(of: payment.order, in: store)
    return RenderedOrder(
      references: reference.map { DirectReferences(merchantReference: $0) }, basket: payment.basket,
      notVerified: payment.amountConfirmed ? [] : ["amount"])
  }

  private func resolve(_ name: DirectPaymentID, _ merchant: MerchantID) async throws -> PaymentRendering {
    let payment = try await require(name, of: merchant)
    guard !payment.status.isResolved else { return try await rendering(of: payment) }
    return try await gateway.reading(payment.id) {
      try await rendering(of: (try? await gateway.resolve(payment.id, .manual)) ?? payment)
    }
  }

  /// A payment of another merchant's is the same to the caller as none.
  func require(_ id: String, of merchant: MerchantID) async throws -> Payment {
    try await require(try Self.name(id), of: merchant)
  }

  private func require(_ name: DirectPaymentID, of merchant: MerchantID) async throws -> Payment {
    guard let payment = try await journal.payment(PaymentID(name.payment)), payment.merchant == merchant else {
      throw PlatformRefusal.unknownPayment
    }
    return payment
  }

  private static func name(_ id: String) throws -> DirectPaymentID {
    guard let name = DirectPaymentID(id) else { throw PlatformRefusal.unknownPayment }
    return name
  }
}

// Followed up.
extension PlatformPayments {
  /// `POST /payments/{id}/capture`
  ///
  /// - Parameter body: as it arrived; empty captures what is left.
  package func capture(_ id: String, _ body: [UInt8], _ call: IdempotentCall) async throws -> PlatformAnswer {
    try await refusing {
      let payment = try await require(id, of: call.merchant)
      let request = try Self.read(CapturePaymentRequest.self, body) ?? CapturePaymentRequest(amount: nil, isFinal: nil)
      let amount = try request.amount.map { try Self.positive($0.amount(in: payment.amount.currency), "amount") }
      let capture = FollowUp.capture(payment.id, amount, isFinal: request.isFinal ?? false)
      let done = try await perform(capture.named(try Self.name(request.merchantReference)), call)
      guard done.record.state != .failed else { throw Self.unreached(done) }
      return try done.answered(done.rendering.capture(done.record), status: 201)
    }
  }

  /// `POST /payments/{id}/cancel`
  ///
  /// - Parameter body: as it arrived; empty cancels what is left.
  package func cancel(_ id: String, _ body: [UInt8], _ call: IdempotentCall) async throws -> PlatformAnswer {
    try await refusing {
      let payment = try await require(id, of: call.merchant)
      let request = try Self.read(CancelPaymentRequest.self, body) ?? CancelPaymentRequest()
      let amount = try request.amountOfMoney.map { try Self.amount($0, of: payment) }
      let void = FollowUp.void(payment.id, amount)
      let done = try await perform(void.named(try Self.name(request.operationReferences?.merchantReference)), call)
      switch done.record.state {
      case .failed: throw Self.unreached(done)
      case .declined: throw done.refused(PlatformRefusal(.actionNotAllowed))
      default: return try done.answered(CancelPaymentAnswer(done.rendering.about(done.record)), status: 200)
      }
    }
  }

  /// `POST /payments/{id}/refund`
  ///
  /// - Parameters:
  ///   - id: of a payment, or of a capture of which alone is refunded.
  ///   - body: as it arrived; empty refunds what is left.
  package func refund(_ id: String, _ body: [UInt8], _ call: IdempotentCall) async throws -> PlatformAnswer {
    try await refusing {
      let name = try Self.name(id)
      let payment = try await require(name, of: call.merchant)
      let request = try Self.read(RefundPaymentRequest.self, body) ?? RefundPaymentRequest(amountOfMoney: nil)
      let capture = try await capture(request.captureId, name, of: payment)
      let amount = try request.amountOfMoney.map { try Self.amount($0, of: payment) }
      if let amount, let capture, amount.minorUnits > capture.amount.minorUnits {
        throw PlatformRefusal.invalid("amountOfMoney.amount", "The capture took \(capture.amount).")
      }
      let refund = FollowUp.refund(payment.id, amount, capture: capture?.number)
      let done = try await perform(refund.named(try Self.name(request.merchantReference)), call)
      switch done.record.state {
      case .failed: throw Self.unreached(done)
      case .declined: throw done.refused(Self.refused(done))
      default: return try done.answered(done.rendering.refund(done.record), status: 201)
      }
    }
  }

  private static func refused(_ done: Done) -> PlatformRefusal {
    var refusal = PlatformRefusal(.refused(done.record.decline))
    refusal.refundResult = done.rendering.refund(done.record)
    return refusal
  }

  /// Nothing of it was sent to the acquirer, so the same may be asked again under another key.
  private static func unreached(_ done: Done) -> PlatformRefusal { done.refused(PlatformRefusal(.unreached)) }

  /// The capture that a refund names: in its body, in its address, or the same one in both. Nil where it names none.
  private func capture(
    _ id: String?, _ address: DirectPaymentID, of payment: Payment
  ) async throws -> OperationRecord? {
    let captures = try await journal.operations(of: payment.id).filter { $0.kind == .capture }
    let addressed = captures.first { $0.number == address.operation }
    guard address.operation == 0 || addressed != nil else { throw PlatformRefusal.unknownPayment }
    guard let id else { return addressed }
    guard let name = DirectPaymentID(id), name.payment.utf8.elementsEqual(payment.id.rawValue.utf8),
      let capture = captures.first(where: { $0.number == name.operation }), addressed == nil || addressed == capture
    else {
      throw PlatformRefusal.invalid("captureId", "The payment has no such capture, or the address names another.")
    }
    return capture
  }
}

/// What was done for a key, by this call or an earlier one.
struct Done: Sendable {
  /// All operations of the request as one.
  let record: OperationRecord
  let rendering: PaymentRendering
  /// Nil for the first call.
  let firstCallAt: Timestamp?

  /// - Parameter operations: of the payment, beside which the answer is rendered; nil for those of the request alone.
  init(
    _ outcome: OperationOutcome, beside operations: [OperationRecord]? = nil, _ order: RenderedOrder,
    firstCallAt: Timestamp? = nil
  ) {
    record = outcome.operation.kind == .authorize ? outcome.operation : outcome.whole
    rendering = PaymentRendering(outcome.payment, operations ?? outcome.operations, order)
    self.firstCallAt = firstCallAt
  }

  func answered(_ value: some Encodable, status: Int) throws -> PlatformAnswer {
    var answer = try PlatformAnswer(value, status: status)
    answer.firstCallAt = firstCallAt
    if status == 201 {
      answer.location = DirectPaymentID(payment: rendering.payment.id.rawValue, operation: record.number)
    }
    return answer
  }

  func refused(_ refusal: PlatformRefusal) -> PlatformRefusal {
    var refusal = refusal
    refusal.firstCallAt = firstCallAt
    return refusal
  }
}

extension PlatformPayments {
  private func perform(_ followUp: FollowUp, _ call: IdempotentCall) async throws -> Done {
    let answer = try await gateway.perform(followUp, under: call)
    return try await gateway.reading(followUp.payment) {
      Done(
        answer.outcome, beside: answer.operations, try await order(of: answer.outcome.payment),
        firstCallAt: answer.firstCallAt)
    }
  }

  /// Nil for an empty body.
  static func read<Request: Decodable>(_ type: Request.Type, _ body: [UInt8]) throws -> Request? {
    guard !body.isEmpty else { return nil }
    return try DirectJSON.read(type, body)
  }

  private static func amount(_ money: AmountOfMoney, of payment: Payment) throws -> Amount {
    guard let value = money.value, value.currency == payment.amount.currency else {
      throw PlatformRefusal.invalid(
        "amountOfMoney.currencyCode", "The payment is in \(payment.amount.currency.code).")
    }
    return try positive(value, "amountOfMoney.amount")
  }

  private static func positive(_ amount: Amount, _ property: String) throws -> Amount {
    guard amount.isPositive else { throw PlatformRefusal.invalid(property, "An amount is more than zero.") }
    return amount
  }

  static func name(_ reference: String?, _ property: String = "references.merchantReference") throws -> String? {
    guard let reference, !reference.isEmpty else { return nil }
    guard DirectReferences.isReference(reference) else {
      throw PlatformRefusal.invalid(
        property,
        "A reference has at most \(DirectReferences.referenceLimit) characters, without line breaks and control characters."
      )
    }
    return reference
  }
}
